//! Messages with the time that something took.
//!
//! ```text
//! workqueue: blk_mq_run_work_fn hogged CPU for >10000us 35 times, consider switching to WQ_UNBOUND    kernel/workqueue.c
//! hrtimer: interrupt took 501441082 ns                                                          kernel/time/hrtimer.c
//! INFO: NMI handler (perf_event_nmi_handler) took too long to run: 250.936 msecs                arch/x86/kernel/nmi.c
//! perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79000  kernel/events/core.c
//! csd: Detected non-responsive CSD lock (#1) on CPU#5, waiting 5000000037 ns for CPU#03 f+0x0/0x30(0x0).  kernel/smp.c
//! ```

use super::stamps::{cpu_behind, leading_number, number_behind};
use whylate_base::Ns;

/// More functions are not kept.
const MOST: usize = 1024;
/// So many of them are named.
const MOST_NAMED: usize = 8;

/// Work functions that used a CPU for long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuHogs {
    hogs: Vec<CpuHog>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CpuHog {
    /// With its module.
    function: String,
    threshold: Ns,
    /// The kernel counts on, and prints some of the counts.
    times: u64,
}

impl CpuHogs {
    /// Takes in a line; false where it is no such message.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(hog) = hog(message) else { return false };
        let has_room = self.hogs.len() < MOST;
        match self.hogs.iter_mut().find(|other| other.function == hog.function) {
            Some(other) => other.times = other.times.max(hog.times),
            None if has_room => self.hogs.push(hog),
            None => {}
        }
        true
    }

    /// Takes over the counts that are quoted elsewhere: the kernel counts on.
    pub(super) fn counted_elsewhere(&mut self, quoted: &CpuHogs) {
        for hog in &mut self.hogs {
            let same = quoted.hogs.iter().find(|other| other.function == hog.function);
            hog.times = hog.times.max(same.map_or(0, |other| other.times));
        }
    }

    /// What it means; `None` where no function is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let threshold = self.hogs.first()?.threshold;
        let named = |hog: &CpuHog| format!("{} (at least {} times)", hog.function, hog.times);
        let mut hogs: Vec<String> = self.hogs.iter().take(MOST_NAMED).map(named).collect();
        if let Some(more @ 1..) = self.hogs.len().checked_sub(MOST_NAMED) {
            hogs.push(format!("and {more} more"));
        }
        let functions = if hogs.len() == 1 { "the work function" } else { "the work functions" };
        Some(format!(
            "{functions} {} used a CPU for more than {threshold} at a time, without a sleep; the CPU is not named",
            hogs.join(", ")
        ))
    }
}

/// `workqueue: i915_hpd_poll_init_work [i915] hogged CPU for >10000us 2051 times`
fn hog(message: &str) -> Option<CpuHog> {
    let (function, rest) = message.split_once(" hogged CPU for >")?;
    let function = function.rsplit_once("workqueue: ").map_or(function, |(_, function)| function).trim();
    let (us, rest) = rest.split_once("us")?;
    let times = leading_number(rest)?;
    let known = !function.is_empty() && rest.contains("times");
    known.then_some(CpuHog { function: function.to_owned(), threshold: Ns::from_us(us.parse().ok()?), times })
}

/// What messages with a time are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimedWork {
    TimerInterrupt,
    Nmi,
    PerfInterrupts,
    Call,
}

/// The longest of what messages of one kind report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LongestRun {
    of: TimedWork,
    longest: Option<(Ns, TimedRun)>,
}

/// What took long.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TimedRun {
    TimerInterrupt,
    /// By this handler.
    Nmi(String),
    /// The mean of the last interrupts, and the most that is allowed.
    PerfInterrupts {
        allowed: Ns,
    },
    /// A CPU waits until another one has called a function.
    Call {
        from: u32,
        to: u32,
        function: Option<String>,
    },
}

impl LongestRun {
    pub(super) fn new(of: TimedWork) -> LongestRun {
        LongestRun { of, longest: None }
    }

    /// Takes in a line; false where it is no such message.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let run = match self.of {
            TimedWork::TimerInterrupt => timer_interrupt(message),
            TimedWork::Nmi => nmi(message),
            TimedWork::PerfInterrupts => perf(message),
            TimedWork::Call => call(message),
        };
        let Some(run) = run else { return false };
        if self.longest.as_ref().is_none_or(|(longest, _)| *longest < run.0) {
            self.longest = Some(run);
        }
        true
    }

    /// What it means; `None` where no time is given.
    pub(super) fn meaning(&self) -> Option<String> {
        let (longest, what) = self.longest.as_ref()?;
        Some(match what {
            TimedRun::TimerInterrupt => {
                format!("the timer interrupt took {longest}, or the machine stood still in it")
            }
            TimedRun::Nmi(handler) => format!("the handler {handler} of an NMI took {longest}"),
            TimedRun::PerfInterrupts { allowed } => {
                // The kernel warns as soon as the mean is a nanosecond too long.
                let [mean, allowed] = match longest.to_string() == allowed.to_string() {
                    true => [longest, allowed].map(|time| format!("{} ns", time.0)),
                    false => [longest, allowed].map(|time| time.to_string()),
                };
                format!(
                    "the interrupts of perf took {mean} on average, where {allowed} is allowed, so the kernel lowered their rate"
                )
            }
            TimedRun::Call { from, to, function } => {
                let function = function.as_ref().map(|function| format!(" ({function})")).unwrap_or_default();
                format!("CPU {to} did not take a call of CPU {from}{function} for {longest}")
            }
        })
    }
}

fn timer_interrupt(message: &str) -> Option<(Ns, TimedRun)> {
    let ns = number_behind(message, "hrtimer: interrupt took ").filter(|_| message.contains(" ns"))?;
    Some((Ns(i64::try_from(ns).ok()?), TimedRun::TimerInterrupt))
}

fn nmi(message: &str) -> Option<(Ns, TimedRun)> {
    let (_, rest) = message.split_once("NMI handler (")?;
    let (handler, rest) = rest.split_once(')')?;
    let (ms, fraction) = rest.split_once("to run: ")?.1.split_once(" msecs")?.0.split_once('.')?;
    let us = (fraction.len() == 3).then(|| fraction.parse::<i64>().ok()).flatten()?;
    let ms: i64 = ms.trim().parse().ok()?;
    Some((Ns::from_us(ms.checked_mul(1_000)?.checked_add(us)?), TimedRun::Nmi(handler.to_owned())))
}

/// `perf: interrupt took too long (2501 > 2500), lowering ...`; before 4.7 `perf samples too long`. The numbers are the decaying
/// mean and its limit (`perf_duration_warn()`).
fn perf(message: &str) -> Option<(Ns, TimedRun)> {
    let figures = message.split_once("perf").and_then(|(_, rest)| rest.split_once("too long ("));
    // A mail program may have broken the line before the sign, which begins a line as a mark of quoting does.
    let figures = figures?.1.split_once(')')?.0.trim();
    let (mean, allowed) = figures.split_once(" > ").or_else(|| figures.split_once(' '))?;
    let ns = |figure: &str| figure.trim().parse().ok().map(Ns);
    Some((ns(mean)?, TimedRun::PerfInterrupts { allowed: ns(allowed)? }))
}

/// `csd: Detected non-responsive CSD lock (#1) on CPU#5, waiting 5000000037 ns for CPU#03 do_flush_tlb_all+0x0/0x30(0x0).`
fn call(message: &str) -> Option<(Ns, TimedRun)> {
    let (_, rest) = message.split_once("non-responsive CSD lock")?;
    let (from, rest) = rest.split_once("waiting ")?;
    let (ns, to) = rest.split_once(" ns for ")?;
    let function = to
        .split_whitespace()
        .nth(1)
        .and_then(|place| place.split_once("+0x"))
        .map(|(name, _)| name.to_owned());
    let call = TimedRun::Call { from: cpu_behind(from, "CPU#")?, to: cpu_behind(to, "CPU#")?, function };
    Some((Ns(ns.trim().parse().ok()?), call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_work_function_has_its_largest_count() {
        let mut hogs = CpuHogs::default();
        assert_eq!(hogs.meaning(), None);
        assert!(hogs.line(
            "workqueue: poll_work [i915] hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND"
        ));
        assert!(hogs.line("workqueue: poll_work [i915] hogged CPU for >10000us 35 times,"));
        let one = "the work function poll_work [i915] (at least 35 times) used a CPU for more than 10.00 ms at a time, without a sleep; the CPU is not named";
        assert_eq!(hogs.meaning().as_deref(), Some(one));
        assert!(hogs.line("workqueue: other hogged CPU for >10000us 8 times"));
        assert!(hogs.meaning().is_some_and(|text| {
            text.starts_with("the work functions poll_work [i915] (at least 35 times), other")
        }));
        assert!(!hogs.line("workqueue: other hogged CPU for >"));
    }

    #[test]
    fn the_longest_run_counts() {
        let mut run = LongestRun::new(TimedWork::Nmi);
        assert!(run.line("INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.723 msecs"));
        assert!(run.line("INFO: NMI handler (perf_event_nmi_handler) took too long to run: 250.936 msecs"));
        assert!(!run.line("INFO: NMI handler (perf_event_nmi_handler) took too long"));
        assert_eq!(
            run.meaning().as_deref(),
            Some("the handler perf_event_nmi_handler of an NMI took 250.9 ms")
        );
        assert!(!run.line("hrtimer: interrupt took 30211000000 ns"));
        let mut run = LongestRun::new(TimedWork::TimerInterrupt);
        assert!(run.line("hrtimer: interrupt took 30211 ns"));
        assert_eq!(
            run.meaning().as_deref(),
            Some("the timer interrupt took 30.21 us, or the machine stood still in it")
        );
    }

    #[test]
    fn perf_interrupts_and_calls_have_their_times() {
        let meaning = |of, lines: &[&str]| {
            let mut run = LongestRun::new(of);
            lines.iter().for_each(|line| assert!(run.line(line), "{line}"));
            run.meaning().unwrap_or_default()
        };
        assert_eq!(
            meaning(
                TimedWork::PerfInterrupts,
                &[
                    "perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
                    "perf: interrupt took too long (3162 > 3126), lowering kernel.perf_event_max_sample_rate to 63000",
                ]
            ),
            "the interrupts of perf took 3.16 us on average, where 3.13 us is allowed, so the kernel lowered their rate"
        );
        assert!(
            meaning(TimedWork::PerfInterrupts, &["perf samples too long (2505 > 2500), lowering"])
                .contains("took 2505 ns on average, where 2500 ns is allowed")
        );
        assert_eq!(
            meaning(
                TimedWork::Call,
                &[
                    "csd: Detected non-responsive CSD lock (#1) on CPU#5, waiting 5000000037 ns for CPU#03 flush+0x0/0x30(0x0).",
                    "csd: Continued non-responsive CSD lock (#1) on CPU#5, waiting 10000000041 ns for CPU#03 flush+0x0/0x30(0x0).",
                ]
            ),
            "CPU 3 did not take a call of CPU 5 (flush) for 10.000 s"
        );
        let mut broken = LongestRun::new(TimedWork::PerfInterrupts);
        assert!(broken.line("perf: interrupt took too long (2501 2500), lowering"));
        assert!(broken.meaning().is_some_and(|text| text.contains("took 2501 ns on average, where 2500 ns")));
        assert!(!LongestRun::new(TimedWork::PerfInterrupts).line("perf: interrupt took too long (2501 >"));
        assert!(
            !LongestRun::new(TimedWork::Call)
                .line("csd: Detected non-responsive CSD lock (#1) on CPU#5, waiting")
        );
    }
}
