//! Functions by which an idle CPU sleeps.

/// Functions in which an idle CPU sleeps, or that are on the way there and back (kernel/sched/idle.c, drivers/cpuidle,
/// arch/*/kernel/process.c).
pub const IDLE_FUNCTIONS: [&str; 23] = [
    "acpi_idle_",
    "acpi_processor_ffh_cstate_enter",
    "acpi_safe_halt",
    "arch_cpu_idle",
    "arm_cpuidle",
    "cpu_do_idle",
    "cpu_idle",
    "cpu_startup_entry",
    "cpuidle_",
    "ct_cpuidle_",
    "ct_idle_",
    "default_idle",
    "do_idle",
    "intel_idle",
    "mwait_idle",
    "native_safe_halt",
    "poll_idle",
    "psci_cpu_suspend",
    "psci_enter_",
    "pv_native_safe_halt",
    "rcu_eqs_",
    "rcu_idle_",
    "tick_nohz_idle_",
];

/// The way in and out of an idle state by registers of the ACPI (drivers/acpi/acpica/hwregs.c).
const OF_STATES: &str = "acpi_";

/// Drivers have their own before it: `lpm_cpuidle_enter`, `sh_cpuidle_sleep`.
const OF_DRIVERS: &str = "_cpuidle_";

/// True of a function of the idle task.
pub fn is_idle_function(name: &str) -> bool {
    IDLE_FUNCTIONS.iter().any(|begin| name.starts_with(begin)) || name.contains(OF_DRIVERS)
}

/// True of a function behind which the idle task of a CPU may sleep.
pub fn leads_to_idle(name: &str) -> bool {
    is_idle_function(name) || name.starts_with(OF_STATES)
}
