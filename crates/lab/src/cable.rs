//! A cable between two guests.
//!
//! QEMU hands each Ethernet frame on as one datagram of a Unix socket (`-netdev dgram`, QEMU 7.2), so neither guest must be
//! there first, and no port of this machine is used.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Where one end of a cable is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableEnd {
    pub(crate) local: PathBuf,
    pub(crate) remote: PathBuf,
    /// 1 or 2: the last part of the guest's addresses.
    number: u8,
}

impl CableEnd {
    /// The address of the guest at this end.
    pub fn address(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 2, self.number)
    }

    /// The address of the guest at the other end.
    pub fn peer(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 2, 3 - self.number)
    }

    /// The Ethernet address, of those that are administered locally.
    pub(crate) fn hardware_address(&self) -> String {
        format!("52:54:00:00:02:{:02x}", self.number)
    }

    pub(crate) fn netdev(&self) -> String {
        let path = |path: &Path| path.display().to_string().replace(',', ",,");
        format!(
            "dgram,id=cable,local.type=unix,local.path={},remote.type=unix,remote.path={}",
            path(&self.local),
            path(&self.remote)
        )
    }
}

impl CableEnd {
    /// Both ends of a cable, whose sockets are in `directory`.
    pub(crate) fn both(directory: &Path) -> [CableEnd; 2] {
        let path = |number: u8| directory.join(number.to_string());
        [1, 2].map(|number| CableEnd { local: path(number), remote: path(3 - number), number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_cable_fit_each_other() {
        let [one, two] = CableEnd::both(Path::new("/t,mp"));
        assert_eq!((one.address(), one.peer()), (two.peer(), two.address()));
        assert_ne!(one.hardware_address(), two.hardware_address());
        assert_eq!((&one.local, &one.remote), (&two.remote, &two.local));
        let netdev = one.netdev();
        assert!(netdev.contains("local.path=/t,,mp/1,") && netdev.ends_with("/t,,mp/2"), "{netdev}");
    }
}
