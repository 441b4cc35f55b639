//! Words and measures that several findings share.

use whylate_base::{Ns, Severity};

/// Time lost at once that makes threads late.
const NOTABLE: Ns = Ns::from_us(50);

/// How grave it is that a CPU was lost for so long at once.
pub(super) fn severity(longest: Ns, deadline: Option<Ns>) -> Severity {
    match deadline {
        Some(deadline) if longest > deadline => Severity::Error,
        _ if longest >= NOTABLE => Severity::Warning,
        _ => Severity::Info,
    }
}

/// What takes the CPU of a machine away from its kernel.
pub(super) fn suspect(is_guest: Option<bool>) -> &'static str {
    match is_guest {
        Some(true) => "this machine is a guest: check its hypervisor first",
        Some(false) => {
            "this machine is not a guest: check its firmware first (SMIs of x86, the secure world of ARM)"
        }
        None => {
            "the hypervisor of a guest or the firmware of a machine (SMI, secure world) takes CPUs away like this; the recording \
             does not show whether this machine is a guest"
        }
    }
}

/// `once`, `3 times`
pub(super) fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

/// `1 period`, `3 periods`
pub(super) fn periods(n: u64) -> String {
    if n == 1 { "1 period".to_owned() } else { format!("{n} periods") }
}
