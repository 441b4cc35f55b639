//! What rt-trace-bcc prints of calls that interrupt isolated CPUs (`rt-trace-bcc.py`).
//!
//! ```text
//! TIME(s)            COMM                 CPU  PID      MSG
//! 0.009599293        rcuc/8               8    75       irq_work_queue_on (target=36, func=nohz_full_kick_func)
//! ```
//!
//! A row is a call, and not how long it kept the CPU that it is for.

use whylate_base::{Cpu, CpuSet};

const TITLE: [&str; 5] = ["TIME(s)", "COMM", "CPU", "PID", "MSG"];
/// More kinds are not kept, and so many are shown.
const MOST: usize = 256;
const MOST_SHOWN: usize = 4;

/// Calls of one kind by one thread.
#[derive(Clone, Debug, PartialEq)]
struct InterruptingCalls {
    thread: String,
    call: String,
    targets: CpuSet,
    count: u64,
}

/// The rows of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RtTraceRows {
    calls: Vec<InterruptingCalls>,
}

impl RtTraceRows {
    /// Rows that begin with this title.
    pub(super) fn beginning(line: &str) -> Option<RtTraceRows> {
        line.split_whitespace().eq(TITLE).then(RtTraceRows::default)
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, line: &str) {
        let Some((thread, call, targets)) = row(line) else { return };
        let has_room = self.calls.len() < MOST;
        match self.calls.iter_mut().find(|one| one.thread == thread && one.call == call) {
            Some(one) => {
                one.count += 1;
                targets.iter().for_each(|cpu| one.targets.insert(cpu));
            }
            None if has_room => self.calls.push(InterruptingCalls { thread, call, targets, count: 1 }),
            None => {}
        }
    }

    /// What they show; `None` without a row.
    pub(super) fn known(&self) -> Option<String> {
        let mut calls: Vec<&InterruptingCalls> = self.calls.iter().collect();
        calls.sort_by_key(|one| std::cmp::Reverse(one.count));
        let shown = |one: &&InterruptingCalls| {
            let targets = match one.targets.iter().count() {
                0 => String::new(),
                1 => format!(" for CPU {}", one.targets),
                _ => format!(" for CPUs {}", one.targets),
            };
            let times = if one.count == 1 { "once".to_owned() } else { format!("{} times", one.count) };
            format!("{} called {}{targets} {times}", one.thread, one.call)
        };
        let more = calls.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 {
            format!("; {more} more kinds of calls are not described here")
        } else {
            String::new()
        };
        let shown: Vec<String> = calls.iter().take(MOST_SHOWN).map(shown).collect();
        let end = "how long each kept a CPU is not shown";
        (!shown.is_empty()).then(|| format!("{}{more}; {end}", shown.join("; ")))
    }
}

/// `rcuc/8 (75) on CPU 8`, `irq_work_queue_on (nohz_full_kick_func)`, the CPUs that are called.
fn row(line: &str) -> Option<(String, String, CpuSet)> {
    let (head, message) = line.split_once(" (").unwrap_or((line, ""));
    let words: Vec<&str> = head.split_whitespace().collect();
    let [time, name @ .., cpu, pid, call] = words.as_slice() else { return None };
    let (cpu, pid): (u32, u64) = (cpu.parse().ok()?, pid.parse().ok()?);
    let is_time = time.contains('.') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_call = call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_time || !is_call || name.is_empty() {
        return None;
    }
    let value = |key: &str| {
        let fields = message.trim_end_matches(')').split(", ");
        fields
            .filter_map(|field| field.split_once('='))
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    };
    let function = value("func").map(|function| format!(" ({function})")).unwrap_or_default();
    let targets = ["target", "cpu", "cpumask"].into_iter().find_map(value);
    let targets = targets.and_then(|cpus| cpus.parse::<CpuSet>().ok());
    let own = Cpu(cpu);
    Some((
        format!("{} ({pid}) on CPU {}", name.join(" "), own.0),
        format!("{call}{function}"),
        targets.unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::RtTraceRows;

    #[test]
    fn calls_of_one_thread_are_taken_together() {
        let mut rows = RtTraceRows::beginning("TIME(s)      COMM     CPU  PID   MSG").expect("its title");
        assert_eq!(rows.known(), None);
        for line in [
            "0.009599293  mill/8   8    75    irq_work_queue_on (target=36, func=kick_it)",
            "0.009603039  mill/8   8    75    irq_work_queue_on (target=37, func=kick_it)",
            "0.103600589  press a  9    71    process_one_work (func=flush)",
            "...",
        ] {
            rows.line(line);
        }
        let calls = "mill/8 (75) on CPU 8 called irq_work_queue_on (kick_it) for CPUs 36-37 2 times";
        let other = "press a (71) on CPU 9 called process_one_work (flush) once";
        assert_eq!(rows.known(), Some(format!("{calls}; {other}; how long each kept a CPU is not shown")));
        assert_eq!(RtTraceRows::beginning("TIME(s) COMM CPU PID"), None);
    }
}
