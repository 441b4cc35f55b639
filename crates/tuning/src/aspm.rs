//! Whether the kernel leaves PCIe power saving (ASPM) to the firmware: then its policy cannot be changed, and a write fails
//! with EPERM (`pcie_no_aspm()`, `pcie_aspm_set_policy()`, drivers/pci/pcie/aspm.c).

use whylate_host::{Cmdline, Dmesg, FsRoot};

/// The policy's file.
pub(crate) const POLICY: &str = "/sys/module/pcie_aspm/parameters/policy";
const FADT: &str = "/sys/firmware/acpi/tables/FACP";

/// What the kernel prints where it leaves ASPM to the firmware (drivers/acpi/pci_root.c, drivers/pci/pci-acpi.c).
const MESSAGES: [&str; 5] = [
    "_OSC: platform retains control of PCIe features",
    "; disabling ASPM",
    "doesn't support PCIe ASPM",
    "FADT indicates ASPM is unsupported",
    "PCIe ASPM is disabled",
];

/// What shows that the policy cannot be changed; `None`: nothing shows it.
pub(crate) fn not_changeable(tree: &FsRoot, messages: &Dmesg) -> Option<String> {
    let cmdline = tree.value::<Cmdline>("/proc/cmdline");
    match cmdline.known().and_then(|cmdline| cmdline.get("pcie_aspm")) {
        // The kernel then ignores the firmware's answer.
        Some("force") => return None,
        Some("off") => return Some("the kernel was booted with pcie_aspm=off".to_owned()),
        _ => {}
    }
    if let Some(line) = MESSAGES.iter().find_map(|text| messages.find(text)) {
        return Some(format!("the firmware controls ASPM (kernel message: {})", line.trim()));
    }
    let table = tree.bytes(FADT);
    let is_set = table.known().is_some_and(|table| forbids_aspm(table));
    is_set.then(|| format!("the firmware controls ASPM ({FADT}: IAPC_BOOT_ARCH, bit 4)"))
}

/// Bit 4 of IAPC_BOOT_ARCH, 2 bytes at offset 109 (ACPI 6.5, 5.2.9 and table 5.11).
fn forbids_aspm(fadt: &[u8]) -> bool {
    fadt.starts_with(b"FACP") && fadt.get(109).is_some_and(|byte| byte & 0x10 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::Snapshot;

    #[test]
    fn the_firmware_s_answer_counts_unless_the_user_overrides_it() {
        let osc = "6,1,5,-;acpi PNP0A08:00: _OSC: platform retains control of PCIe features (AE_NOT_FOUND)\n";
        let old = "6,1,5,-;acpi PNP0A08:00: _OSC failed (AE_ERROR); disabling ASPM\n";
        let granted = "6,1,5,-;acpi PNP0A08:00: _OSC: OS now controls [PME PCIeCapability LTR]\n";
        for (cmdline, messages, expected) in [
            ("quiet\n", osc, Some("AE_NOT_FOUND")),
            ("quiet\n", old, Some("disabling ASPM")),
            ("pcie_aspm=off\n", granted, Some("pcie_aspm=off")),
            ("pcie_aspm=force\n", osc, None),
            ("quiet\n", granted, None),
            ("pcie_aspm.policy=performance\n", granted, None),
        ] {
            let tree = FsRoot::memory(&[("/proc/cmdline", cmdline), ("/dev/kmsg", messages)]);
            let shown = not_changeable(&tree, &Snapshot::read(&tree).dmesg);
            match expected {
                Some(text) => {
                    assert!(shown.as_deref().is_some_and(|shown| shown.contains(text)), "{shown:?}")
                }
                None => assert_eq!(shown, None, "{cmdline}{messages}"),
            }
        }
    }

    #[test]
    fn the_table_shows_it_where_the_messages_are_gone() {
        let table = |bits: u8| {
            let mut table = vec![0; 276];
            table[..4].copy_from_slice(b"FACP");
            table[109] = bits;
            table
        };
        assert!(forbids_aspm(&table(0x11)));
        assert!(!forbids_aspm(&table(0x04)), "VGA alone");
        assert!(!forbids_aspm(&table(0x10)[..109]), "a table of ACPI 1.0 ends before");
    }
}
