//! Severities of rules that differ by profile.

use crate::{Profile, Rule};
use whylate_base::Severity;

/// Code, profiles and the severity for them; for other profiles the rule's severity applies.
const GRADES: &[(&str, &[Profile], Severity)] = &[
    // preempt=full and threadirqs are the second best: late sometimes, not always.
    ("preempt-rt", &[Profile::Audio], Severity::Warning),
    // It is also the safeguard against a looping thread: only a thread that keeps its CPU on purpose is better without.
    ("fair-server", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    // Threads that sleep each period usually share their CPUs.
    ("cpu-isolation", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    ("workqueue-cpus", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    // Threads that poll or run guests do not.
    ("unbound-threads", &[Profile::CpuPartitioning, Profile::RealtimeVirtualHost], Severity::Warning),
    (
        "rcu-offload",
        &[Profile::CpuPartitioning, Profile::RealtimeVirtualHost, Profile::RealtimeVirtualGuest],
        Severity::Warning,
    ),
    // A virtual CPU that never sleeps starves these threads.
    ("softirq-threads", &[Profile::RealtimeVirtualHost, Profile::RealtimeVirtualGuest], Severity::Warning),
    // Kernels without PREEMPT_RT allow it by default, which these two may have.
    ("compact-unevictable", &[Profile::CpuPartitioning, Profile::Audio], Severity::Info),
];

impl Rule {
    /// The severity of a failure for a profile, unless the outcome overrides it.
    pub fn severity_for(&self, profile: Profile) -> Severity {
        let own = GRADES.iter().find(|(code, profiles, _)| *code == self.code && profiles.contains(&profile));
        own.map_or(self.severity, |(.., severity)| *severity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain;

    #[test]
    fn every_grade_is_of_a_rule_that_asks_it_and_says_something_else() {
        for (code, profiles, severity) in GRADES {
            let rule = explain(code).unwrap_or_else(|| panic!("there is no rule {code}"));
            assert!(profiles.iter().all(|profile| rule.profiles.contains(profile)), "{code}");
            assert_ne!(*severity, rule.severity, "{code}");
        }
    }
}
