//! CPUs for everything that is not isolated.

use whylate_base::CpuSet;

/// That no CPU would be left beside the isolated ones, and what to do; `None`: some would be.
pub fn none_left(isolated: &CpuSet, online: &CpuSet) -> Option<(String, &'static str)> {
    let why = format!(
        "CPUs {isolated} would be isolated, and the online CPUs are {online}: none is left for everything else"
    );
    let none = !online.is_empty() && online.without(isolated).is_empty();
    none.then_some((why, "leave at least one CPU, preferably CPU 0"))
}
