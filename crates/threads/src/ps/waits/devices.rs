//! The interrupts of the device behind a file descriptor.

use whylate_host::FsRoot;

/// The interrupts of the device that `target`, the name of an open file, belongs to. Known for user-space drivers
/// (`/dev/uioN`) and for packet sockets, which read one network interface; empty for others.
pub(super) fn irqs(tree: &FsRoot, target: &str) -> Vec<u32> {
    if let Some(name) = target.strip_prefix("/dev/uio") {
        return of_device(tree, &format!("/sys/class/uio/uio{name}/device"));
    }
    let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
    let interface = inode.and_then(|inode| packet_interface(tree, inode));
    interface.map(|name| of_device(tree, &format!("/sys/class/net/{name}/device"))).unwrap_or_default()
}

/// The interface of a packet socket: `sk RefCnt Type Proto Iface R Rmem User Inode` (net/packet/af_packet.c).
fn packet_interface(tree: &FsRoot, inode: &str) -> Option<String> {
    let sockets = tree.text("/proc/net/packet").value.ok()?;
    let fields = sockets.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let index = fields.filter(|fields| fields.get(8) == Some(&inode)).find_map(|fields| {
        // 0: it is bound to no interface.
        fields.get(4)?.parse::<u64>().ok().filter(|&index| index > 0)
    })?;
    let names = tree.list("/sys/class/net").value.ok()?;
    let is_it =
        |name: &String| tree.value::<u64>(&format!("/sys/class/net/{name}/ifindex")).value == Ok(index);
    names.into_iter().find(is_it)
}

/// The interrupts of a device: message-signalled ones, of its own or, for virtio, of the PCI device above it; or the one
/// line (Documentation/ABI/testing/sysfs-bus-pci).
fn of_device(tree: &FsRoot, device: &str) -> Vec<u32> {
    for directory in [device.to_owned(), format!("{device}/..")] {
        let messages = tree.list(&format!("{directory}/msi_irqs")).value.unwrap_or_default();
        let mut messages: Vec<u32> = messages.iter().filter_map(|name| name.parse().ok()).collect();
        if !messages.is_empty() {
            messages.sort_unstable();
            return messages;
        }
        let line = tree.value::<u64>(&format!("{directory}/irq")).value.ok();
        if let Some(line) = line.and_then(|line| u32::try_from(line).ok()).filter(|&line| line > 0) {
            return vec![line];
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_socket_waits_for_its_interface() {
        let tree = FsRoot::memory(&[
            (
                "/proc/net/packet",
                "sk RefCnt Type Proto Iface R Rmem User Inode\nffff 3 3 88a4 2 1 0 0 4711\n",
            ),
            ("/sys/class/net/lo/ifindex", "1\n"),
            ("/sys/class/net/eth0/ifindex", "2\n"),
            ("/sys/class/net/eth0/device/msi_irqs/25", "msix\n"),
            ("/sys/class/net/eth0/device/msi_irqs/24", "msix\n"),
        ]);
        assert_eq!(irqs(&tree, "socket:[4711]"), [24, 25]);
        assert_eq!(irqs(&tree, "socket:[4712]"), [0u32; 0]);
        assert_eq!(irqs(&tree, "/dev/null"), [0u32; 0]);
    }

    #[test]
    fn a_user_space_driver_waits_for_its_line() {
        let tree = FsRoot::memory(&[("/sys/class/uio/uio0/device/irq", "17\n")]);
        assert_eq!(irqs(&tree, "/dev/uio0"), [17]);
        assert_eq!(irqs(&tree, "/dev/uio1"), [0u32; 0]);
    }
}
