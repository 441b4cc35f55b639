//! Tables of cases for rules: a machine made of files, and the expected result.
//!
//! ```text
//! #[test]
//! fn cases() {
//!     table(&RULE, &[
//!         case("a realtime kernel", &[&KERNEL_6_12_RT]).passes(),
//!         case("throttling", &[&KERNEL_6_1, &[("/proc/sys/kernel/sched_rt_runtime_us", "950000")]]).fails("950"),
//!         case("no version", &[&[]]).cannot_tell("/proc"),
//!     ]);
//! }
//! ```

use crate::{CheckOptions, Profile, Rule, RuleResult, RuleStatus};
use whylate_base::Severity;
use whylate_host::{FsRoot, Snapshot, Why};

/// Files with their contents.
pub(crate) type Files = [(&'static str, &'static str)];

const RELEASE: &str = "/proc/sys/kernel/osrelease";
const VERSION: &str = "/proc/sys/kernel/version";

/// Debian 12, without its configuration.
pub(crate) const KERNEL_6_1: &Files =
    &[(RELEASE, "6.1.0-28-amd64\n"), (VERSION, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)\n")];
/// Debian 12's realtime kernel.
pub(crate) const KERNEL_6_1_RT: &Files = &[
    (RELEASE, "6.1.0-28-rt-amd64\n"),
    (VERSION, "#1 SMP PREEMPT_RT Debian 6.1.119-1 (2024-11-22)\n"),
    ("/sys/kernel/realtime", "1\n"),
];
/// Debian 13.
pub(crate) const KERNEL_6_12: &Files = &[
    (RELEASE, "6.12.38+deb13-amd64\n"),
    (VERSION, "#1 SMP PREEMPT_DYNAMIC Debian 6.12.38-1 (2025-07-16)\n"),
];
/// A realtime kernel of the mainline: it has no /sys/kernel/realtime.
pub(crate) const KERNEL_7_2_RT: &Files = &[
    (RELEASE, "7.2.0-1-rt-amd64\n"),
    (VERSION, "#1 SMP PREEMPT_RT Debian 7.2.1-1\n"),
    ("/sys/kernel/uevent_seqnum", "1\n"),
];
/// debugfs is mounted, without any file that rules read.
pub(crate) const DEBUGFS: &Files = &[("/sys/kernel/debug/sched/verbose", "N\n")];
/// Two CPUs.
pub(crate) const TWO_CPUS: &Files =
    &[("/sys/devices/system/cpu/online", "0-1\n"), ("/sys/devices/system/cpu/present", "0-1\n")];

/// /proc/self/limits without a limit that kills, with these priority limits, soft and hard.
macro_rules! limits {
    (rtprio $soft:literal $hard:literal) => { limits!(rtprio $soft $hard, rttime "unlimited") };
    (rtprio $soft:literal $hard:literal, rttime $us:literal) => {
        limits!(rtprio $soft $hard, rttime $us, memlock "65536")
    };
    (rtprio $soft:literal $hard:literal, rttime $us:literal, memlock $bytes:literal) => {
        &[(
            "/proc/self/limits",
            concat!(
                "Max locked memory ", $bytes, " ", $bytes, " bytes\nMax nice priority 0 0\n",
                "Max realtime priority ", $soft, " ", $hard, "\nMax realtime timeout ", $us, " ", $us, " us\n"
            ),
        )]
    };
}
pub(crate) use limits;

/// The files of a thread: `thread!(kernel 15 "migration/0", fifo 99, "0")`; of one that is not its process' first,
/// `thread!(program 72 of 71 "worker", rr 5, "0-1")`.
macro_rules! thread {
    (kernel $tid:literal $comm:literal, $($rest:tt)+) => { thread!(@ "2129984" $tid $tid $comm, $($rest)+) };
    (program $tid:literal of $pid:literal $comm:literal, $($rest:tt)+) => {
        thread!(@ "4194560" $pid $tid $comm, $($rest)+)
    };
    (program $tid:literal $comm:literal, $($rest:tt)+) => { thread!(@ "4194560" $tid $tid $comm, $($rest)+) };
    (@ $flags:literal $pid:literal $tid:literal $comm:literal, other $priority:literal, $cpus:literal) => {
        thread!(= $flags $pid $tid $comm, 0 $priority, $cpus)
    };
    (@ $flags:literal $pid:literal $tid:literal $comm:literal, fifo $priority:literal, $cpus:literal) => {
        thread!(= $flags $pid $tid $comm, 1 $priority, $cpus)
    };
    (@ $flags:literal $pid:literal $tid:literal $comm:literal, rr $priority:literal, $cpus:literal) => {
        thread!(= $flags $pid $tid $comm, 2 $priority, $cpus)
    };
    (= $flags:literal $pid:literal $tid:literal $comm:literal, $policy:literal $priority:literal, $cpus:literal) => {
        &[
            (
                concat!("/proc/", $pid, "/task/", $tid, "/stat"),
                concat!(
                    $tid, " (", $comm, ") S 1 1 1 0 -1 ", $flags, " 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0 0 0 0 0 0 0 0 0 0 0 ",
                    "0 0 0 17 0 ", $priority, " ", $policy
                ),
            ),
            (concat!("/proc/", $pid, "/task/", $tid, "/status"), concat!("Cpus_allowed_list:\t", $cpus, "\n")),
        ]
    };
}
pub(crate) use thread;

/// A machine, the options and the expected result.
pub(crate) struct Case {
    name: &'static str,
    files: Vec<(&'static str, &'static str)>,
    options: CheckOptions,
    expected: Expected,
}

enum Expected {
    Nothing,
    Status(RuleStatus, &'static str),
    CannotTell(&'static str),
    Graded(Severity, &'static str),
}

/// A machine made of these files; later ones replace earlier ones.
pub(crate) fn case(name: &'static str, files: &[&Files]) -> Case {
    let options = CheckOptions::of(Profile::Realtime);
    Case { name, files: files.concat(), options, expected: Expected::Nothing }
}

impl Case {
    /// With CPUs chosen.
    pub(crate) fn cpus(mut self, list: &str) -> Case {
        self.options.cpus = Some(list.parse().expect("a CPU list"));
        self
    }

    /// With a priority.
    pub(crate) fn priority(mut self, priority: u32) -> Case {
        self.options.priority = Some(priority);
        self
    }

    /// For a user.
    pub(crate) fn user(mut self, name: &str) -> Case {
        self.options.user = Some(name.to_owned());
        self
    }

    /// For a profile.
    pub(crate) fn profile(mut self, profile: Profile) -> Case {
        self.options.profile = profile;
        self
    }

    /// The rule passes, with `part` in the text.
    pub(crate) fn passes(self, part: &'static str) -> Case {
        self.expecting(Expected::Status(RuleStatus::Pass, part))
    }

    /// The rule fails with its own severity, with `part` in what or why.
    pub(crate) fn fails(self, part: &'static str) -> Case {
        self.expecting(Expected::Status(RuleStatus::Fail, part))
    }

    /// The rule fails with this severity, with `part` in what or why.
    pub(crate) fn fails_as(self, severity: Severity, part: &'static str) -> Case {
        self.expecting(Expected::Graded(severity, part))
    }

    /// The rule does not apply, with `part` in the text.
    pub(crate) fn does_not_apply(self, part: &'static str) -> Case {
        self.expecting(Expected::Status(RuleStatus::NotApplicable, part))
    }

    /// The rule cannot tell, with `part` in the path or the reason.
    pub(crate) fn cannot_tell(self, part: &'static str) -> Case {
        self.expecting(Expected::CannotTell(part))
    }

    fn expecting(mut self, expected: Expected) -> Case {
        self.expected = expected;
        self
    }
}

/// Runs a rule on every case.
#[track_caller]
pub(crate) fn table(rule: &Rule, cases: &[Case]) {
    assert!(!cases.is_empty());
    for Case { name, files, options, expected } in cases {
        let verdict = (rule.check)(&Snapshot::read(&FsRoot::memory(files)), options);
        let context = format!("{}, {name}: {verdict:#?}", rule.code);
        let severity = |answer: &crate::RuleOutcome| {
            answer.severity.unwrap_or_else(|| rule.severity_for(options.profile))
        };
        never_better_for_seeing_less(rule, files, options, &verdict, &context);
        match (&verdict, expected) {
            (Err(unknown), Expected::CannotTell(part)) => {
                assert!(format!("{} {}", unknown.path, unknown.why).contains(part), "{part} in {context}");
            }
            (Ok(answer), Expected::Status(status, part)) => {
                assert_eq!(answer.status, *status, "{context}");
                assert!(*status != RuleStatus::Fail || severity(answer) == rule.severity, "{context}");
                assert!(format!("{} {}", answer.what, answer.why).contains(part), "{part} in {context}");
                sound(answer, &context);
            }
            (Ok(answer), Expected::Graded(graded, part)) => {
                assert_eq!((answer.status, severity(answer)), (RuleStatus::Fail, *graded), "{context}");
                assert!(format!("{} {}", answer.what, answer.why).contains(part), "{part} in {context}");
                sound(answer, &context);
            }
            _ => panic!("unexpected result: {context}"),
        }
    }
}

/// A file that is refused, or has not a byte, never makes a pass of what was none.
#[track_caller]
fn never_better_for_seeing_less(
    rule: &Rule,
    files: &Files,
    options: &CheckOptions,
    verdict: &RuleResult,
    context: &str,
) {
    let passes = |verdict: &RuleResult| matches!(verdict, Ok(answer) if answer.status == RuleStatus::Pass);
    if passes(verdict) {
        return;
    }
    for (path, _) in files {
        let blind = (rule.check)(&Snapshot::read(&FsRoot::memory(files).refused(path, Why::Denied)), options);
        assert!(!passes(&blind), "without {path} {blind:#?} of {context}");
        // What people write may well be empty, what the kernel shows may not.
        if !["/proc/", "/sys/", "/dev/"].iter().any(|kernel| path.starts_with(kernel)) {
            continue;
        }
        let emptied: Vec<_> = files.iter().copied().chain([(*path, "")]).collect();
        let empty = (rule.check)(&Snapshot::read(&FsRoot::memory(&emptied)), options);
        assert!(!passes(&empty), "{path} empty: {empty:#?} of {context}");
    }
}

/// What holds for every answer.
fn sound(answer: &crate::RuleOutcome, context: &str) {
    assert!(!answer.what.is_empty() && !answer.what.contains('\n'), "the observation is one line: {context}");
    if answer.status != RuleStatus::NotApplicable {
        assert!(!answer.evidence.is_empty(), "evidence: {context}");
    }
    if answer.status == RuleStatus::Fail {
        assert!(!answer.why.is_empty() && !answer.fixes.is_empty(), "a reason and a fix: {context}");
    }
    for fix in &answer.fixes {
        assert!(fix.runtime.is_some() || fix.boot.is_some(), "a fix has a command or a setting: {context}");
        assert_eq!(
            fix.action.flaw(),
            None,
            "a fix names settings, or why there are none: {fix:?} of {context}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleOutcome;

    const LIMIT: &Files = &[("/proc/sys/kernel/sched_rt_runtime_us", "950000\n")];

    fn blind(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
        Ok(match host.sched.rt_runtime_us.known() {
            Some(_) => RuleOutcome::not_applicable("it was read"),
            None => RuleOutcome::pass("it was not read").shows_as("/", "nothing"),
        })
    }

    #[test]
    #[should_panic(expected = "without /proc/sys/kernel/sched_rt_runtime_us")]
    fn a_rule_that_passes_what_it_did_not_read_is_found() {
        let profiles = Profile::ALL;
        let (code, title, sources, page) = ("blind", "It is blind", &["sched(7)"], "");
        let rule = Rule { code, title, severity: Severity::Info, profiles, sources, page, check: blind };
        table(&rule, &[case("read", &[LIMIT]).does_not_apply("read")]);
    }
}
