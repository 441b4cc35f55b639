//! The registry: every rule, in the order of the report. A rule is one file, one line here, and one page in
//! `docs/doctor/`.

/// Declares the modules and collects their `RULE`s.
macro_rules! rules {
    ($($module:ident,)+) => {
        $(mod $module;)+

        /// Every rule.
        const RULES: &[&rule::DoctorRule] = &[$(&$module::RULE,)+];
    };
}

rules! {
    // Memory
    memory_not_locked,
    memory_all_locked,
    fault_first_touch,
    fault_copy_on_write,
    fault_file,
    fault_stack,
    fault_heap,
    heap_in_loop,
    memory_will_fault,
    stack_not_prefaulted,
    unbalanced_lock,
    memory_other_node,
    // Scheduling
    priority_refused,
    pinned_before_priority,
    fifo_99,
    rttime_near_limit,
    rr_slice,
    fork_priority,
    start_in_loop,
    // Synchronization
    mutex_without_inheritance,
    priority_inversion,
    barrier_unequal_priorities,
    condvar_herd,
    sched_yield,
    spin_lock,
    busy_wait,
    file_lock,
    lock_by_semaphore,
    rwlock_without_inheritance,
    helper_not_realtime,
    priority_inverted_by_role,
    signal_to_other_thread,
    // Time
    relative_sleep,
    timeout_slack,
    tick_timeout,
    realtime_clock,
    clock_syscall,
    coarse_clock,
    // Input and output
    name_resolution,
    terminal_output,
    file_write,
    file_sync,
    file_open,
    blocking_write,
    tcp_small_writes,
    socket_without_timestamp,
}

mod effects;
mod lines;
mod page_faults;
mod purpose;
mod rule;
#[cfg(test)]
mod tests;
mod wakers;

use super::facts::Observation;
use super::finding::DoctorFinding;
use rule::Needs;
use std::cmp::Reverse;

/// All findings, gravest first.
pub(super) fn findings(observation: &Observation) -> Vec<DoctorFinding> {
    let can_tell = |rule: &&&rule::DoctorRule| rule.needs != Needs::AllCalls || observation.sees_all_calls;
    let mut findings: Vec<DoctorFinding> =
        RULES.iter().filter(can_tell).flat_map(|rule| (rule.find)(observation)).collect();
    effects::remove(&mut findings);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}

/// Which rules could find nothing because what they need was not observed, in sentences.
pub(super) fn blind(observation: &Observation) -> Vec<String> {
    let of = |needs: Needs| {
        let codes: Vec<&str> =
            RULES.iter().filter(|rule| rule.needs == needs).map(|rule| rule.code).collect();
        codes.join(", ")
    };
    let mut blind = Vec::new();
    if !observation.sees_calls {
        blind.push(format!(
            "cannot tell without system calls, which need root and tracefs: {}",
            [of(Needs::Calls), of(Needs::AllCalls)].join(", ")
        ));
    } else if !observation.sees_all_calls {
        blind.push(format!("cannot tell where events were lost: {}", of(Needs::AllCalls)));
    }
    if observation.stacks.samples.is_empty() && !observation.threads.is_empty() {
        blind.push(format!("cannot tell without call stacks: {}", of(Needs::Faults)));
    }
    blind
}

/// The codes of all rules, in the order of the report.
pub fn codes() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.code)
}

/// The page of a code.
pub fn page(code: &str) -> Option<&'static str> {
    RULES.iter().find(|rule| rule.code == code).map(|rule| rule.page)
}
