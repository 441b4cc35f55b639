//! The facts a recording starts with.

use super::affinity;
use super::kernel;
use super::threads::RtThread;
use whylate_events::Fact;

/// Of the real-time threads given, and of the kernel.
pub(super) fn gather(threads: &[RtThread]) -> Vec<Fact> {
    let settings = [
        kernel::sysctl("sched_rt_runtime_us").map(Fact::RtRuntimeUs),
        kernel::sysctl("sched_rt_period_us").map(Fact::RtPeriodUs),
        kernel::rt_group_sched().map(Fact::RtGroupSched),
        kernel::preempt_rt().map(Fact::PreemptRt),
        kernel::fair_server_ns().map(Fact::FairServerNs),
        kernel::hypervisor().map(Fact::Hypervisor),
        kernel::isolated().map(Fact::Isolated),
    ];
    let policies = threads.iter().map(|&RtThread { tid, policy, priority, comm, .. }| Fact::Policy {
        tid,
        policy,
        priority,
        comm,
    });
    let programs = threads.iter().filter(|thread| !thread.is_kernel);
    let affinities = programs.filter_map(|thread| affinity::fact(thread.tid));
    let modules =
        kernel::tainted_modules().into_iter().map(|(name, taints)| Fact::TaintedModule { name, taints });
    let settings = settings.into_iter().flatten().chain(modules).filter(Fact::fits);
    settings.chain(policies).chain(affinities).collect()
}
