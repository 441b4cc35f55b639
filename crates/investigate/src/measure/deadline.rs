//! Does this machine keep a deadline, and which approach suits one: an ordinary kernel, PREEMPT_RT, or code beside Linux?

use super::deadline_answer::{Approach, DeadlineAnswer};
use super::report::MeasureReport;
use whylate_base::Ns;
use whylate_ledger::Cause;
use whylate_probes::Lacking;
use whylate_stats::{Histogram, unseen_at_most};

/// Latencies of the approaches in the worst case, by order of magnitude.
const TEN_US: Ns = Ns::from_us(10);
const HUNDRED_US: Ns = Ns::from_us(100);
const ONE_MS: Ns = Ns::from_ms(1);
/// From here on an ordinary kernel with real-time priorities is enough for most tasks.
const TEN_MS: Ns = Ns::from_ms(10);

/// The class of a deadline: the order of magnitude of the worst case that it permits.
fn class(deadline: Ns) -> (Ns, Approach) {
    match deadline {
        deadline if deadline < HUNDRED_US => (TEN_US, Approach::BesideLinux),
        deadline if deadline < ONE_MS => (HUNDRED_US, Approach::PreemptRt),
        _ => (ONE_MS, Approach::OrdinaryKernel),
    }
}

impl DeadlineAnswer {
    /// Judges a complete measurement, with the samples of all its phases.
    pub(super) fn of(report: &MeasureReport, all: &Histogram, deadline: Ns) -> DeadlineAnswer {
        let (class, usual) = class(deadline);
        let (samples, late) = (all.count(), all.beyond(Ns(deadline.0 - 1)));
        let is_real_time = !report.degraded.iter().any(|degraded| degraded.lacking == Lacking::Priority);
        let is_kept = match (samples, late) {
            (0, _) => None,
            (_, 0) if !is_real_time => None,
            (_, late) => Some(late == 0),
        };
        let mut answer =
            DeadlineAnswer { deadline, class, is_kept, late, samples, approach: usual, reasons: Vec::new() };
        answer.reasons.push(answer.measured(all));
        answer.judge(report, is_preempt_rt(report));
        if !is_real_time {
            answer.say("the measuring threads had no real-time policy, so that these numbers are not those of a real-time task");
        }
        if report.loads.is_empty() {
            answer.say("no load of whylate ran: repeat it with --load, or with --phases idle,stress, before you rely on it");
        }
        answer.say("a sample is the latency of a wake-up: the task's own work comes on top, and the deadline is for both");
        answer
    }

    fn say(&mut self, reason: impl Into<String>) {
        self.reasons.push(reason.into());
    }

    fn measured(&self, all: &Histogram) -> String {
        match (self.late, all.max()) {
            (_, None) => "nothing was measured".to_owned(),
            (0, Some(max)) => format!(
                "none of {} samples was {} late or more; the worst was {max}. With 95 % confidence at most 1 of {:.0} is",
                self.samples,
                self.deadline,
                1.0 / unseen_at_most(self.samples).max(f64::MIN_POSITIVE)
            ),
            (late, Some(max)) => format!(
                "{late} of {} samples were {} late or more; the worst was {max}",
                self.samples, self.deadline
            ),
        }
    }

    fn judge(&mut self, report: &MeasureReport, is_rt: Option<bool>) {
        let is_late = self.is_kept == Some(false);
        match (self.approach, is_rt) {
            (Approach::BesideLinux, _) => {
                self.say(format!(
                    "the worst case of PREEMPT_RT is in the order of {HUNDRED_US} and known from measurements only; below that \
                     systems beside Linux give about {TEN_US}"
                ));
                if self.is_kept == Some(true) && is_rt == Some(true) {
                    self.say("this kernel has PREEMPT_RT and kept the deadline here: it is enough where a rare miss does no harm");
                }
            }
            (Approach::PreemptRt, Some(true)) if is_late => self.say(
                "this kernel has PREEMPT_RT, which usually keeps such a deadline: remove the causes that this report names, and \
                 what `whylate check` finds; if it is missed then, use a system beside Linux",
            ),
            (Approach::PreemptRt, Some(true)) => self.say("this kernel has PREEMPT_RT"),
            (Approach::PreemptRt, _) => self.say(format!(
                "a kernel without PREEMPT_RT has no bound in the order of {HUNDRED_US}: a driver or another task's system call \
                 may take longer, also where none did here"
            )),
            (Approach::OrdinaryKernel, Some(true)) if is_late => {
                self.approach = Approach::PreemptRt;
                self.say("this kernel has PREEMPT_RT, which usually keeps such a deadline: remove the causes that this report names");
            }
            (Approach::OrdinaryKernel, _) if is_late => {
                self.approach = Approach::PreemptRt;
                self.say("this kernel did not keep it");
            }
            (Approach::OrdinaryKernel, _) if self.deadline < TEN_MS => self.say(format!(
                "below {TEN_MS} an ordinary kernel keeps it only on a tuned machine (`whylate plan`); take PREEMPT_RT where a miss \
                 does harm"
            )),
            (Approach::OrdinaryKernel, _) => {
                self.say(format!("from {TEN_MS} on a real-time policy and locked memory are enough for most tasks"));
            }
        }
        if is_late && self.is_stolen(report) {
            self.say(
                "the worst sample was taken from the CPU by the hypervisor or the firmware: no kernel here prevents that; change \
                 the host, the firmware's settings or the hardware",
            );
        }
    }

    fn is_stolen(&self, report: &MeasureReport) -> bool {
        let late = report.spikes.iter().find(|spike| spike.latency() >= self.deadline);
        let verdict = late.and_then(|spike| spike.answer.as_ref().ok()).map(|activation| &activation.verdict);
        verdict.is_some_and(|verdict| verdict.cause == Cause::Stolen)
    }
}

/// Whether the measured kernel has PREEMPT_RT, by the token in its version.
fn is_preempt_rt(report: &MeasureReport) -> Option<bool> {
    let version = report.machine.iter().find(|(name, _)| name.ends_with("/version"))?;
    Some(version.1.split_whitespace().any(|word| word == "PREEMPT_RT"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::report::TraceState;
    use whylate_probes::{Degraded, Probe};

    fn report(version: &str) -> MeasureReport {
        MeasureReport {
            probe: Probe::default(),
            elapsed: Ns::from_secs(1),
            cpus: Vec::new(),
            over_threshold: None,
            spikes: Vec::new(),
            not_listed: 0,
            findings: Vec::new(),
            trace: TraceState::Off,
            stacks: None,
            degraded: Vec::new(),
            machine: vec![("/proc/sys/kernel/version".to_owned(), version.to_owned())],
            observer: Vec::new(),
            groups: Vec::new(),
            loads: Vec::new(),
            tail: None,
            observed: None,
            phases: Vec::new(),
            phase_shift: None,
            deadline: None,
            is_complete: true,
        }
    }

    fn answer(version: &str, worst_us: i64, deadline: Ns) -> DeadlineAnswer {
        let all = [5_000, worst_us * 1_000].map(Ns).into_iter().collect();
        DeadlineAnswer::of(&report(version), &all, deadline)
    }

    #[test]
    fn the_approach_follows_the_class_and_the_samples() {
        use Approach::{BesideLinux, OrdinaryKernel, PreemptRt};
        const RT: &str = "#1 SMP PREEMPT_RT Debian";
        const ORDINARY: &str = "#1 SMP PREEMPT_DYNAMIC Debian";
        for (version, worst_us, deadline, expected) in [
            (ORDINARY, 50, Ns::from_ms(20), (OrdinaryKernel, true)),
            (ORDINARY, 50, Ns::from_ms(1), (OrdinaryKernel, true)),
            (ORDINARY, 1_500, Ns::from_ms(1), (PreemptRt, false)),
            (RT, 1_500, Ns::from_ms(1), (PreemptRt, false)),
            (ORDINARY, 50, Ns::from_us(200), (PreemptRt, true)),
            (RT, 50, Ns::from_us(200), (PreemptRt, true)),
            (RT, 15, Ns::from_us(20), (BesideLinux, true)),
            (RT, 50, Ns::from_us(20), (BesideLinux, false)),
        ] {
            let answer = answer(version, worst_us, deadline);
            let found = (answer.approach, answer.is_kept == Some(true));
            assert_eq!(found, expected, "{version}, {worst_us} us, {deadline}: {:?}", answer.reasons);
        }
        assert_eq!(answer(RT, 100, Ns::from_us(100)).late, 1, "at the deadline is too late");
    }

    #[test]
    fn what_was_not_measured_is_not_kept() {
        let none = DeadlineAnswer::of(&report(""), &Histogram::default(), Ns::from_ms(1));
        assert_eq!(none.is_kept, None);
        let text = String::new;
        let lacking = Degraded { lacking: Lacking::Priority, effect: text(), reason: text(), remedy: text() };
        let poor = MeasureReport { degraded: vec![lacking], ..report("") };
        let all = |us: i64| [us * 1_000].map(Ns).into_iter().collect();
        assert_eq!(DeadlineAnswer::of(&poor, &all(5), Ns::from_ms(1)).is_kept, None);
        assert_eq!(DeadlineAnswer::of(&poor, &all(5_000), Ns::from_ms(1)).is_kept, Some(false));
    }
}
