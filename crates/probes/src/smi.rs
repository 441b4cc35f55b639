//! How many system management interrupts a CPU has had, where its processor counts them and lets that be read.

use std::fs::File;
use std::os::unix::fs::FileExt;
use whylate_base::Cpu;

/// MSR_SMI_COUNT, of Intel's processors since Nehalem (Intel SDM volume 4, table 2-20).
const SMI_COUNT: u64 = 0x34;

/// The counter of one CPU; `None`: cannot tell. Needs root, and the kernel's `msr` module.
pub(crate) fn count(cpu: Cpu) -> Option<u32> {
    if !is_intel(&std::fs::read_to_string("/proc/cpuinfo").ok()?) {
        return None;
    }
    let mut register = [0; 8];
    File::open(format!("/dev/cpu/{cpu}/msr")).ok()?.read_exact_at(&mut register, SMI_COUNT).ok()?;
    // The upper half is reserved.
    Some(u64::from_ne_bytes(register) as u32)
}

/// Of other makers' processors the register is something else, or nothing.
fn is_intel(cpuinfo: &str) -> bool {
    let vendor = cpuinfo.lines().find_map(|line| line.strip_prefix("vendor_id")?.split_once(':'));
    vendor.is_some_and(|(_, vendor)| vendor.trim() == "GenuineIntel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_intels_register_is_read() {
        assert!(is_intel("processor\t: 0\nvendor_id\t: GenuineIntel\n"));
        assert!(!is_intel("processor\t: 0\nvendor_id\t: AuthenticAMD\n"));
        assert!(!is_intel("processor\t: 0\nBogoMIPS\t: 50.00\n"));
        assert_eq!(count(Cpu(8191)), None);
    }
}
