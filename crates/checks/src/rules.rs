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
    threadirqs,
    high_res_timers,
    kernel_debug,
    latency_tracers,
    kernel_options,
    out_of_tree_modules,
    mitigations,
    // The scheduler
    rt_throttling,
    scheduler_clock,
    fair_server,
    rt_group_sched,
    throttling_off_no_net,
    rogue_rt_threads,
    kernel_threads,
    irq_threads,
    softirq_threads,
    ext_server,
    rt_runtime_share,
    rr_timeslice,
    rt_uclamp,
    autogroup,
    schedstats,
    // Permissions for real-time
    rtprio_limit,
    memlock_limit,
    nice_limit,
    rttime_limit,
    container_limits,
    // CPUs kept apart
    cpu_isolation,
    isolation_settings,
    cpuset_partition,
    housekeeping,
    housekeeping_per_socket,
    unbound_threads,
    systemd_affinity,
    nohz_full,
    rcu_offload,
    rcu_expedited,
    workqueue_cpus,
    timer_migration,
    skew_tick,
    // What watches, and what tunes
    nmi_watchdog,
    soft_watchdog,
    watchdog_panic,
    tracing_left_on,
    audit,
    stalld,
    tuned_profile,
    rtkit,
    // CPUs
    smt,
    governor,
    frequency_limits,
    frequency_driver,
    energy_preference,
    turbo,
    c_states,
    idle_poll,
    thermal_throttling,
    raspberry_pi_throttled,
    jetson_power_mode,
    imx_bus_frequency,
    memory_frequency,
    frequency_domain,
    cpu_capacity,
    machine_check_polling,
    numa_placement,
    numa_balancing,
    // Clocks
    clocksource,
    clocksource_watchdog,
    timer_device,
    // Interrupts
    irq_affinity,
    irqbalance,
    managed_irqs,
    shared_irqs,
    // Memory
    swap,
    swappiness,
    overcommit,
    transparent_huge_pages,
    ksm,
    compaction,
    compact_unevictable,
    zone_reclaim,
    dirty_writeback,
    vm_stat_interval,
    // The platform
    smi,
    efi_runtime,
    fwupd,
    pcie_aspm,
    graphics,
    // Virtual machines
    hypervisor,
    steal_time,
    guest_clock,
    guest_idle,
    kvm_exits,
    kvm_nx_huge_pages,
    kvm_timer_advance,
    guest_huge_pages,
    emulator_threads,
    vcpu_threads,
}

/// Helpers of several rules.
mod shared;
