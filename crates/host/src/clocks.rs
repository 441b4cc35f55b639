//! Clock sources and what drives timers.

use crate::table::readings;
use crate::{FsRoot, Reading, Words};

/// Clocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocks {
    /// What time is read from.
    pub source: Clocksource,
    /// What raises timer interrupts on CPU 0: `lapic-deadline`, `lapic`, `arch_sys_timer`.
    pub event_device: Reading<String>,
    /// What broadcasts timer interrupts to CPUs in deep idle states.
    pub broadcast_device: Reading<String>,
}

readings! {
    /// `/sys/devices/system/clocksource/clocksource0`.
    pub struct Clocksource {
        /// The one in use: `tsc`, `hpet`, `acpi_pm`, `kvm-clock`, `arch_sys_counter`.
        pub current: String = "current_clocksource",
        /// Those that could be.
        pub available: Words = "available_clocksource",
    }
}

impl Clocks {
    pub(crate) fn read(tree: &FsRoot) -> Clocks {
        let device = "/sys/devices/system/clockevents";
        Clocks {
            source: Clocksource::read(tree, "/sys/devices/system/clocksource/clocksource0"),
            event_device: tree.value(&format!("{device}/clockevent0/current_device")),
            broadcast_device: tree.value(&format!("{device}/broadcast/current_device")),
        }
    }
}
