//! Which rules matter more, or less, to one sort of work than to others.

use crate::{Profile, Rule};
use whylate_base::Severity;

/// Code, profiles, and how much a failure matters to these; to others as much as the rule says.
const GRADES: &[(&str, &[Profile], Severity)] = &[
    // preempt=full and threadirqs are its next best: late now and then, not for certain.
    ("preempt-rt", &[Profile::Audio], Severity::Warning),
    // It is also what catches a thread that loops: only one that means to keep its CPU is better without.
    ("fair-server", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    // Threads that sleep each period share their CPUs with others as a rule.
    ("cpu-isolation", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    ("workqueue-cpus", &[Profile::Realtime, Profile::Robotics], Severity::Info),
    // Those that poll or run guests do not.
    ("unbound-threads", &[Profile::CpuPartitioning, Profile::RealtimeVirtualHost], Severity::Warning),
    (
        "rcu-offload",
        &[Profile::CpuPartitioning, Profile::RealtimeVirtualHost, Profile::RealtimeVirtualGuest],
        Severity::Warning,
    ),
    // A virtual CPU that never sleeps starves them.
    ("softirq-threads", &[Profile::RealtimeVirtualHost, Profile::RealtimeVirtualGuest], Severity::Warning),
    // Kernels without PREEMPT_RT allow it by default, which these two may have.
    ("compact-unevictable", &[Profile::CpuPartitioning, Profile::Audio], Severity::Info),
];

impl Rule {
    /// How much a failure matters to a sort of work, unless the answer says otherwise.
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
