//! Stamps that are numbers without a unit, as those of clocks that do not count nanoseconds (`trace_clock` in tracefs: `counter`,
//! `x86-tsc`; `trace_print_lat_context` in kernel/trace/trace_output.c):
//!
//! ```text
//! app-7 [004] d..2        26240: sched_switch: ...
//! ```
//!
//! `counter` numbers the events, so that its steps are far shorter than what it takes to write an event. No times follow from such
//! numbers, and none from those that run backwards on a CPU.

use super::line::Head;
use std::collections::HashMap;
use whylate_base::{Cpu, Ns};

/// Later rows do not change what the first ones show.
const MOST_ROWS: u64 = 10_000;
/// Fewer rows may be close together.
const LEAST_ROWS: u64 = 5;
/// The mean step from row to row of a clock that counts nanoseconds is longer, on however many CPUs events are written at once.
const LEAST_STEP: i64 = 10;

/// What is wrong with them, and what to give instead.
pub(super) const NO_TIMES: (&str, &str) = (
    "events whose numbers in front are no times: they have no unit, and run backwards or number the events, as the trace clock `counter` \
     does",
    "record with a clock that counts time (trace_clock `local` or `mono`), or with `whylate record`",
);

/// The stamps without a unit so far.
#[derive(Default)]
pub(super) struct Counts {
    rows: u64,
    span: Option<(Ns, Ns)>,
    last: HashMap<Cpu, Ns>,
    run_backwards: bool,
    /// Some row has a time.
    has_times: bool,
}

impl Counts {
    /// Takes in a row with this head and this body.
    pub(super) fn row(&mut self, row: &str, head: &Head<'_>, body: &str) {
        if self.has_times || self.rows >= MOST_ROWS {
            return;
        }
        let before = row.strip_suffix(body).unwrap_or(row).trim_end().trim_end_matches(':');
        let stamp = before.rsplit([' ', '\t']).next().unwrap_or_default();
        if stamp.is_empty() || !stamp.bytes().all(|byte| byte.is_ascii_digit()) {
            self.has_times = true;
            return;
        }
        self.rows += 1;
        let (first, last) = self.span.unwrap_or((head.ts, head.ts));
        self.span = Some((first.min(head.ts), last.max(head.ts)));
        self.run_backwards |= self.last.insert(head.cpu, head.ts).is_some_and(|before| head.ts < before);
    }

    /// True where no row has a time.
    pub(super) fn are_no_times(&self) -> bool {
        let Some((first, last)) = self.span.filter(|_| !self.has_times && self.rows > 0) else {
            return false;
        };
        let rows = i64::try_from(self.rows).unwrap_or(i64::MAX);
        let is_counter =
            self.rows >= LEAST_ROWS && last.0.saturating_sub(first.0) < rows.saturating_mul(LEAST_STEP);
        self.run_backwards || is_counter
    }
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::Counts;

    fn are_no_times(stamps: &[(u32, &str)]) -> bool {
        let mut counts = Counts::default();
        for (cpu, stamp) in stamps {
            let row =
                format!("app-7 [00{cpu}] d..2 {stamp}: sched_waking: comm=b pid=8 prio=1 target_cpu=001");
            let (head, body) = line::split(&row).expect("a row");
            counts.row(&row, &head, body);
        }
        counts.are_no_times()
    }

    #[test]
    fn numbers_of_events_and_those_that_run_backwards_are_no_times() {
        let rising =
            |step: u32| (0..8).map(|at| (at % 2, (40_000 + at * step).to_string())).collect::<Vec<_>>();
        let of = |rows: &[(u32, String)]| {
            are_no_times(&rows.iter().map(|(cpu, stamp)| (*cpu, stamp.as_str())).collect::<Vec<_>>())
        };
        assert!(of(&rising(1)) && of(&rising(4)));
        // Cycles, and nanoseconds.
        assert!(!of(&rising(700)));
        assert!(are_no_times(&[(1, "90000"), (2, "80000"), (1, "85000")]));
        assert!(!are_no_times(&[(1, "90000"), (2, "80000"), (1, "95000")]), "of two CPUs");
        // Of other clocks, whose rows were put together.
        assert!(!are_no_times(&[(1, "9.000005"), (1, "8.000004")]));
        assert!(!are_no_times(&[(1, "9us"), (1, "8us"), (1, "8us"), (1, "8us"), (1, "8us")]));
        assert!(!are_no_times(&[]));
    }
}
