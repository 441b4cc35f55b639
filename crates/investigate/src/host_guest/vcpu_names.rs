//! Which threads of a host are the CPUs of its guests, by their names.

use whylate_base::Comm;

/// What the name of a thread shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VcpuName {
    /// The thread of this CPU of a guest.
    Of(u32),
    /// One thread for all CPUs of a guest: QEMU's emulation in one thread (`thread=single`).
    OfAll,
}

/// `CPU 0/KVM` and `CPU 0/TCG` of QEMU, `vcpu0` of Cloud Hypervisor, `fc_vcpu 0` of Firecracker, `crosvm_vcpu0`,
/// `kvm-vcpu-0` of kvmtool.
pub(super) fn vcpu_name(comm: &Comm) -> Option<VcpuName> {
    let name = comm.as_str();
    if name.starts_with("ALL CPUs/") {
        return Some(VcpuName::OfAll);
    }
    if let Some(rest) = name.strip_prefix("CPU ") {
        let (number, accelerator) = rest.split_once('/')?;
        return (!accelerator.is_empty()).then_some(VcpuName::Of(digits(number)?));
    }
    let prefixes = ["vcpu", "fc_vcpu", "crosvm_vcpu", "kvm-vcpu"];
    let rest = prefixes.into_iter().find_map(|prefix| name.strip_prefix(prefix))?;
    digits(rest.trim_start_matches([' ', '-', '_'])).map(VcpuName::Of)
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hypervisors_are_known() {
        for (name, expected) in [
            ("CPU 0/KVM", Some(VcpuName::Of(0))),
            ("CPU 13/TCG", Some(VcpuName::Of(13))),
            ("ALL CPUs/TCG", Some(VcpuName::OfAll)),
            ("vcpu3", Some(VcpuName::Of(3))),
            ("fc_vcpu 2", Some(VcpuName::Of(2))),
            ("crosvm_vcpu1", Some(VcpuName::Of(1))),
            ("kvm-vcpu-4", Some(VcpuName::Of(4))),
            ("vcpu", None),
            ("CPU 1", None),
            ("CPU x/KVM", None),
            ("cpuhp/0", None),
            ("worker", None),
        ] {
            assert_eq!(vcpu_name(&Comm::from(name)), expected, "{name}");
        }
    }
}
