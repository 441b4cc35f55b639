//! The hardware: physical machine or guest, and the CPUs.

use crate::{CannotTell, Proof, RuleOutcome};
use whylate_base::CpuSet;
use whylate_host::{CpuState, Snapshot, Why};

/// The platform of the kernel, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Ground {
    /// The hardware itself.
    Metal(Proof),
    /// A hypervisor.
    Guest(Proof),
}

impl Ground {
    /// The outcome with the evidence of the platform.
    pub(in crate::rules) fn shown(self, answer: RuleOutcome) -> RuleOutcome {
        let (Ground::Metal(proof) | Ground::Guest(proof)) = self;
        answer.shows_as(proof.path, proof.value)
    }
}

/// Makers of virtual machines, as DMI has them (`src/basic/virt.c` of systemd knows the same).
const VIRTUAL: [&str; 12] = [
    "QEMU",
    "KVM",
    "Amazon EC2",
    "Google",
    "VMware",
    "Xen",
    "innotek",
    "Parallels",
    "OpenStack",
    "Alibaba Cloud",
    "DigitalOcean",
    "Hetzner",
];

/// Whether this is a virtual machine: x86 shows it in the CPU flags, other architectures by vendor or model.
pub(in crate::rules) fn ground(host: &Snapshot) -> Result<Ground, CannotTell> {
    let platform = &host.platform;
    let flag = &platform.hypervisor.flag;
    let proof = |path: &str, value: &str| Proof { path: path.to_owned(), value: value.to_owned() };
    match &flag.value {
        Ok(true) => return Ok(Ground::Guest(proof(&flag.path, "`hypervisor` is among the flags"))),
        Ok(false) => return Ok(Ground::Metal(proof(&flag.path, "`hypervisor` is not among the flags"))),
        // No x86.
        Err(Why::Malformed { .. }) => {}
        Err(_) => drop(flag.need()?),
    }
    if let Some(kind) = platform.hypervisor.kind.if_present()? {
        return Ok(Ground::Guest(proof(&platform.hypervisor.kind.path, kind)));
    }
    if let Some(model) = platform.model.if_present()? {
        let made_up = model.contains("dummy-virt") || model.to_ascii_lowercase().contains("qemu");
        let proof = proof(&platform.model.path, model);
        return Ok(if made_up { Ground::Guest(proof) } else { Ground::Metal(proof) });
    }
    let vendor = platform.dmi.vendor.need()?;
    let product = platform.dmi.product.need()?;
    let virtual_product = product.contains("Virtual Machine") || product.contains("KVM");
    let rented = VIRTUAL.iter().any(|name| vendor.starts_with(name)) && !product.contains("metal");
    let proof = proof(&platform.dmi.vendor.path, &format!("{vendor} {product}"));
    Ok(if rented || virtual_product { Ground::Guest(proof) } else { Ground::Metal(proof) })
}

/// The readings of each of these CPUs.
pub(in crate::rules) fn states<'a>(
    host: &'a Snapshot,
    cpus: &CpuSet,
) -> Result<Vec<&'a CpuState>, CannotTell> {
    host.cpus.each.need()?;
    let of = |cpu| {
        host.cpus
            .get(cpu)
            .ok_or_else(|| CannotTell::because(&host.cpus.present.path, format!("CPU {cpu} was not read")))
    };
    cpus.iter().map(of).collect()
}

/// The number of NUMA nodes; a kernel without NUMA has one.
pub(in crate::rules) fn node_count(host: &Snapshot) -> Result<usize, CannotTell> {
    Ok(host.cpus.nodes.if_present()?.map_or(1, |nodes| nodes.len().max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;

    const SYSFS: (&str, &str) = ("/sys/kernel/uevent_seqnum", "1\n");

    #[test]
    fn guests_are_told_from_machines() {
        let ground = |files: &[(&str, &str)]| ground(&Snapshot::read(&FsRoot::memory(files)));
        let guest = |files: &[(&str, &str)]| matches!(ground(files), Ok(Ground::Guest(_)));
        let metal = |files: &[(&str, &str)]| matches!(ground(files), Ok(Ground::Metal(_)));
        let arm = ("/proc/cpuinfo", "Features : fp\n");
        let dmi = |vendor, product| {
            [arm, ("/sys/class/dmi/id/sys_vendor", vendor), ("/sys/class/dmi/id/product_name", product)]
        };
        assert!(guest(&[("/proc/cpuinfo", "flags : fpu hypervisor\n")]));
        assert!(metal(&[("/proc/cpuinfo", "flags : fpu\n"), ("/sys/class/dmi/id/sys_vendor", "QEMU")]));
        assert!(metal(&[arm, ("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0"), SYSFS]));
        assert!(guest(&[arm, ("/proc/device-tree/model", "linux,dummy-virt\0"), SYSFS]));
        assert!(guest(&[arm, ("/sys/hypervisor/type", "xen\n")]));
        assert!(guest(&dmi("Amazon EC2", "m7g.large")));
        assert!(metal(&dmi("Amazon EC2", "m7g.metal")));
        assert!(guest(&dmi("Microsoft Corporation", "Virtual Machine")));
        assert!(metal(&dmi("Ampere", "Altra")));
        assert!(ground(&[arm]).is_err());
        let board = [arm, ("/proc/device-tree/model", "Board\0"), ("/sys/hypervisor/type", "xen\n")];
        let hidden = FsRoot::memory(&board).refused("/sys/hypervisor/type", whylate_host::Why::Denied);
        assert!(super::ground(&Snapshot::read(&hidden)).is_err());
        assert!(ground(&[]).is_err());
    }
}
