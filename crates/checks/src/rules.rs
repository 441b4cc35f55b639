//! The registry: every rule, in the order of the report. A rule is one file, one line here, and one page in
//! `docs/rules/`.

/// Declares the modules and collects their `RULE`s.
macro_rules! rules {
    ($($module:ident,)+) => {
        $(mod $module;)+

        /// Every rule.
        pub const RULES: &[&crate::Rule] = &[$(&$module::RULE,)+];
    };
}

rules! {
    // The kernel
    preempt_rt,
    rt_kernel_not_booted,
    // The scheduler
    rt_throttling,
    fair_server,
    rt_group_sched,
    throttling_off_no_net,
    rogue_rt_threads,
    // CPUs
    smt,
    governor,
    // Clocks
    clocksource,
    // Interrupts
    irq_affinity,
}

/// What several rules ask.
mod shared;
