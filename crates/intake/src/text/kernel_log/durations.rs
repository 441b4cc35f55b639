//! Messages with the time that something took.
//!
//! ```text
//! workqueue: blk_mq_run_work_fn hogged CPU for >10000us 35 times, consider switching to WQ_UNBOUND    kernel/workqueue.c
//! hrtimer: interrupt took 501441082 ns                                                          kernel/time/hrtimer.c
//! INFO: NMI handler (perf_event_nmi_handler) took too long to run: 250.936 msecs                arch/x86/kernel/nmi.c
//! ```

use super::stamps::{leading_number, number_behind};
use whylate_base::Ns;

/// More functions are not kept.
const MOST: usize = 8;

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

    /// What it means; `None` where no function is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let threshold = self.hogs.first()?.threshold;
        let hogs: Vec<String> =
            self.hogs.iter().map(|hog| format!("{} (at least {} times)", hog.function, hog.times)).collect();
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

/// The longest of what a message reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LongestRun {
    longest: Option<(Ns, String)>,
}

impl LongestRun {
    /// Takes in a line; false where it is no such message.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(run) = timer_interrupt(message).or_else(|| nmi(message)) else { return false };
        if self.longest.as_ref().is_none_or(|(longest, _)| *longest < run.0) {
            self.longest = Some(run);
        }
        true
    }

    /// What it means; `None` where no time is given.
    pub(super) fn meaning(&self) -> Option<String> {
        let (longest, what) = self.longest.as_ref()?;
        Some(match what.as_str() {
            "" => format!("the timer interrupt took {longest}, or the machine stood still in it"),
            handler => format!("the handler {handler} of an NMI took {longest}"),
        })
    }
}

fn timer_interrupt(message: &str) -> Option<(Ns, String)> {
    let ns = number_behind(message, "hrtimer: interrupt took ").filter(|_| message.contains(" ns"))?;
    Some((Ns(i64::try_from(ns).ok()?), String::new()))
}

fn nmi(message: &str) -> Option<(Ns, String)> {
    let (_, rest) = message.split_once("NMI handler (")?;
    let (handler, rest) = rest.split_once(')')?;
    let (ms, fraction) = rest.split_once("to run: ")?.1.split_once(" msecs")?.0.split_once('.')?;
    let us = (fraction.len() == 3).then(|| fraction.parse::<i64>().ok()).flatten()?;
    let ms: i64 = ms.trim().parse().ok()?;
    Some((Ns::from_us(ms.checked_mul(1_000)?.checked_add(us)?), handler.to_owned()))
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
        let mut run = LongestRun::default();
        assert!(run.line("INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.723 msecs"));
        assert!(run.line("INFO: NMI handler (perf_event_nmi_handler) took too long to run: 250.936 msecs"));
        assert!(!run.line("INFO: NMI handler (perf_event_nmi_handler) took too long"));
        assert_eq!(
            run.meaning().as_deref(),
            Some("the handler perf_event_nmi_handler of an NMI took 250.9 ms")
        );
        let mut run = LongestRun::default();
        assert!(run.line("hrtimer: interrupt took 30211 ns"));
        assert_eq!(
            run.meaning().as_deref(),
            Some("the timer interrupt took 30.21 us, or the machine stood still in it")
        );
    }
}
