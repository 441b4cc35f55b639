//! The events of a guard as lines of text.

use crate::words;
use std::fmt;
use whylate_base::Ns;
use whylate_threads::guard::{BoostEnd, CpuHog, GuardCounts, GuardEvent, ThreadEvent, ThreadEventKind};

/// How urgent a line is, as syslog(3) and journald number it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// 4: something is wrong.
    Warning,
    /// 6: something was done.
    Info,
}

impl LogLevel {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            LogLevel::Warning => 4,
            LogLevel::Info => 6,
        }
    }
}

/// The lines of an event, without line breaks; none where there is nothing to report.
pub fn lines(event: &GuardEvent) -> Vec<(LogLevel, String)> {
    match event {
        GuardEvent::Started(sentences) => {
            sentences.iter().map(|sentence| (LogLevel::Info, words::clean(sentence))).collect()
        }
        GuardEvent::Thread(event) => vec![of_thread(event)],
        GuardEvent::Looked(_) => Vec::new(),
        GuardEvent::Stopped(counts) => vec![(LogLevel::Info, summary(counts))],
    }
}

fn of_thread(event: &ThreadEvent) -> (LogLevel, String) {
    let starving = &event.starving;
    let thread = format!("{}:{}", starving.thread.name.comm, starving.thread.name.tid);
    let (level, text) = match &event.kind {
        ThreadEventKind::Starving => (
            LogLevel::Warning,
            format!(
                "starving: {} has waited for CPU {} for {} without running; {}",
                starving.thread,
                starving.cpu,
                starving.waited,
                by(starving.by.as_ref())
            ),
        ),
        ThreadEventKind::Boosted { lent, slices, longest, instead } => {
            let slices = slices.map(|slice| format!(" in slices of {slice}")).unwrap_or_default();
            let instead =
                instead.as_ref().map(|why| format!("; SCHED_DEADLINE is refused: {why}")).unwrap_or_default();
            (LogLevel::Info, format!("boosted: {thread} to {lent}{slices}, for at most {longest}{instead}"))
        }
        ThreadEventKind::Refused { reason } => {
            (LogLevel::Warning, format!("refused: {thread} is not helped: {reason}"))
        }
        ThreadEventKind::Restored { to, after, ran, end } => restored(&thread, to, *after, *ran, end),
    };
    (level, words::clean(&text))
}

fn by(culprit: Option<&CpuHog>) -> String {
    match culprit {
        Some(culprit) => format!("{} had {} of that CPU", culprit.thread, words::percent(culprit.share)),
        None => "cannot tell what had that CPU: no thread that may run before it had a fifth of the time"
            .to_owned(),
    }
}

fn restored(
    thread: &str,
    to: &impl fmt::Display,
    after: Ns,
    ran: Option<Ns>,
    end: &BoostEnd,
) -> (LogLevel, String) {
    let ran = ran.map(|ran| format!(", of which it ran {ran}")).unwrap_or_default();
    let now = format!("restored: {thread} has {to} again after {after}{ran}");
    match end {
        BoostEnd::Asleep => (LogLevel::Info, format!("{now}: it sleeps")),
        BoostEnd::TimeOver => (LogLevel::Info, format!("{now}: its time is over, and it is still runnable")),
        BoostEnd::GuardEnds => (LogLevel::Info, format!("{now}: the guard ends")),
        BoostEnd::ThreadEnded => {
            (LogLevel::Info, format!("restored: {thread} has ended, {after} after it was boosted"))
        }
        BoostEnd::ChangedMeanwhile => (
            LogLevel::Info,
            format!(
                "restored: nothing; another program changed the policy of {thread} meanwhile, and it stays"
            ),
        ),
        BoostEnd::Failed(why) => {
            (LogLevel::Warning, format!("not restored: {thread} should have {to} again after {after}: {why}"))
        }
    }
}

/// The counts in a sentence.
pub fn summary(counts: &GuardCounts) -> String {
    let share = counts.own_cpu_time.0 as f64 / counts.elapsed.0.max(1) as f64;
    format!(
        "{} in {}: {} starving, {} boosted, {} refused; longest wait {}; the guard used {} of a CPU",
        words::plural(counts.looks, "look"),
        counts.elapsed,
        counts.starving,
        counts.boosted,
        counts.refused,
        counts.longest_wait,
        words::percent(share),
    )
}
