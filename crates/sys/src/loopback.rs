//! The loopback device, which is down after boot.

use crate::SysError;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// Brings up the loopback device, as `ip link set lo up` does.
///
/// # Errors
/// `EPERM` without CAP_NET_ADMIN, `EAFNOSUPPORT` or `ENODEV` on a kernel without networking.
///
/// [`netdevice(7)`](https://man7.org/linux/man-pages/man7/netdevice.7.html)
pub fn loopback_up() -> Result<(), SysError> {
    interface_up("lo")
}

/// Brings up a device of the calling thread's network namespace.
pub(crate) fn interface_up(device: &str) -> Result<(), SysError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .map_err(|error| SysError::new("socket", "AF_INET", error.raw_os_error().unwrap_or(0)))?;
    // SAFETY: all-zero bytes are a valid `ifreq` (integers, and a union of them).
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(device.as_bytes()).take(libc::IFNAMSIZ - 1) {
        *to = *from as libc::c_char;
    }
    // SAFETY: SIOCGIFFLAGS writes `ifru_flags` of a request that lives through the call.
    let read = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) };
    if read < 0 {
        return Err(SysError::last("ioctl", format!("SIOCGIFFLAGS {device}")));
    }
    // SAFETY: the call before has filled in `ifru_flags`.
    unsafe { request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
    // SAFETY: SIOCSIFFLAGS reads name and flags of a request that lives through the call.
    let written = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if written < 0 {
        return Err(SysError::last("ioctl", format!("SIOCSIFFLAGS {device} up")));
    }
    Ok(())
}
