//! Rows of `perf trace -e sched:*`: they have no CPU, so that they are no recording, but the switch behind a wake-up shows a delay.
//!
//! ```text
//!  1000.879 sched:sched_wakeup(comm: "app", pid: 5273 (app), prio: 120, target_cpu: 6)
//!  1000.900 :0/0 sched:sched_switch(prev_comm: "swapper/6", ... next_comm: "app", next_pid: 5273 (app), next_prio: 120)
//!  1000.902 sched:sched_wakeup(comm=app pid=5288 prio=120 target_cpu=001)          --libtraceevent_print
//! ```

use crate::text::fields;
use std::collections::HashMap;
use whylate_base::Ns;

/// More threads that wait for a CPU at once are not kept.
const MOST: usize = 4096;

/// Wake-ups and the switches behind them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PerfTrace {
    woken: HashMap<i64, Ns>,
    wakeups: u64,
    delays: u64,
    /// The largest delay, its thread's name and number, and its end.
    largest: Option<(Ns, String, i64, Ns)>,
}

/// True of a row with an event of the scheduler.
pub(super) fn is_row(line: &str) -> bool {
    row(line).is_some()
}

/// The instant, the event's name and its fields.
fn row(line: &str) -> Option<(Ns, &str, &str)> {
    let line = line.trim();
    let time = fields::first_word(line);
    let (whole, fraction) = time.split_once('.').filter(|(_, fraction)| fraction.len() == 3)?;
    let us: i64 = format!("{}{}", fields::digits(whole)?, fields::digits(fraction)?).parse().ok()?;
    let (before, rest) = line.split_once("sched:sched_")?;
    let (name, list) = rest.split_once('(')?;
    // Before it may stand the thread: `app/812 `.
    let is_event = before.split_whitespace().count() <= 3
        && name.bytes().all(|sign| sign.is_ascii_lowercase() || sign == b'_');
    is_event.then_some((Ns(us.checked_mul(1_000)?), name, list))
}

/// The value behind a key, as `pid: 12 (app)` or `pid=12`.
fn value<'a>(list: &'a str, key: &str) -> Option<&'a str> {
    let at = list.match_indices(key).find(|(at, _)| {
        let before = list.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|sign| sign == ' ')
    })?;
    let rest = list.get(at.0 + key.len()..)?;
    let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix('='))?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([' ', ',', ')']).next(),
    }
}

impl PerfTrace {
    /// Takes in a line.
    pub(super) fn line(&mut self, line: &str) {
        let Some((at, event, list)) = row(line) else { return };
        let number = |key| value(list, key).and_then(|value| value.parse::<i64>().ok());
        match event {
            "wakeup" | "waking" | "wakeup_new" => {
                let Some(tid) = number("pid") else { return };
                self.wakeups += 1;
                if self.woken.len() < MOST || self.woken.contains_key(&tid) {
                    self.woken.entry(tid).or_insert(at);
                }
            }
            "switch" => {
                let Some(tid) = number("next_pid") else { return };
                // It ran until here, so that a wake-up before this does not count.
                number("prev_pid").map(|prev| self.woken.remove(&prev));
                let Some(delay) = self.woken.remove(&tid).map(|woken| at - woken) else { return };
                self.delays += 1;
                if self.largest.as_ref().is_none_or(|(largest, ..)| *largest < delay) {
                    let name = value(list, "next_comm").unwrap_or_default().to_owned();
                    self.largest = Some((delay, name, tid, at));
                }
            }
            _ => {}
        }
    }

    /// The largest delay, in a sentence.
    pub(super) fn known(&self) -> String {
        match &self.largest {
            Some((delay, name, tid, end)) => format!(
                "the largest of the {} delays from a wake-up to the next switch to that thread is {delay}, of {name} ({tid}), until {}",
                self.delays,
                in_ms(*end)
            ),
            None => match self.wakeups {
                0 => "it has no wake-up of a thread, so that no delay is shown".to_owned(),
                1 => "the switch to the thread of its only wake-up is missing, so that no delay is shown"
                    .to_owned(),
                count => format!(
                    "behind its {count} wake-ups the switches to these threads are missing, so that no delay is shown"
                ),
            },
        }
    }
}

/// An instant as perf prints it.
fn in_ms(Ns(ns): Ns) -> String {
    format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000)
}
