//! Pieces of a recording in one text, with something between them: what happened from one to the next is not in it.
//!
//! ```text
//! bash-9709   [000]  6052.694961: sched_switch: ...      the piece ends: what its threads do next is not known
//!
//! bash-1037   [000]  6076.246143: sched_wakeup: ...      the next one begins
//! ```
//!
//! A remark between two lines cuts nothing: only where the times do not follow on one another either is it a piece.

use super::event_head::EventHead;
use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_events::LeftOut;

/// Clocks of two CPUs disagree by less.
const BACKWARDS: Ns = Ns::from_us(100);
/// No real-time thread that is looked into is late by more, and few excerpts show a time without any event that is longer.
const LONG: Ns = Ns::from_secs(5);
/// Of so many events at least, one more may be the first of a piece: text with more blank lines is only spaced out.
const EVENTS_OF_A_PIECE: u64 = 4;
/// An excerpt has few.
const MOST_CUTS: usize = 1024;

/// Where an event stands in its piece.
#[derive(Debug, PartialEq)]
pub(crate) enum Place {
    /// Its CPU had an event in this piece before, or there is one piece only.
    Within,
    /// The first of its CPU in a later piece.
    FirstOfCpu,
    /// A new piece begins with it.
    First,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Pieces {
    /// The first line since the last event that is no line of a trace.
    between: Option<u64>,
    events: u64,
    /// Those behind such a line.
    separated: u64,
    /// The last event of each CPU in this piece.
    last: BTreeMap<u32, EventHead>,
    /// The same of those before.
    ended: Vec<BTreeMap<u32, EventHead>>,
    cuts: Vec<LeftOut>,
}

impl Pieces {
    /// The line `number` is blank or prose.
    pub(crate) fn separated(&mut self, number: u64) {
        self.between.get_or_insert(number);
    }

    /// A header follows: the recording below it is one of its own, and whole.
    pub(crate) fn headed(&mut self) {
        self.between = None;
    }

    /// Takes in an event, behind the `last` one of the text.
    pub(crate) fn place(&mut self, event: EventHead, last: Option<EventHead>) -> Place {
        self.events += 1;
        let between = self.between.take().filter(|_| last.is_some());
        self.separated += u64::from(between.is_some());
        if let (Some(line), Some(last)) = (between, last)
            && (last.ts - event.ts > BACKWARDS || event.ts - last.ts >= LONG)
            && (self.separated - 1).saturating_mul(EVENTS_OF_A_PIECE) <= self.events
            && self.cuts.len() < MOST_CUTS
        {
            self.cuts.push(LeftOut { at: last.ts, line, ends_piece: true });
            return Place::First;
        }
        match self.last.insert(event.cpu.0, event) {
            None if !self.cuts.is_empty() => Place::FirstOfCpu,
            _ => Place::Within,
        }
    }

    /// Ends the piece before `event`, with which the next one begins; returns the last event of each of its CPUs.
    pub(crate) fn begin(&mut self, event: EventHead) -> Vec<EventHead> {
        let ended = std::mem::take(&mut self.last);
        self.last.insert(event.cpu.0, event);
        let last = ended.values().copied().collect();
        self.ended.push(ended);
        last
    }

    /// The text has ended: the last event of each CPU that is in no piece as late as the latest one.
    pub(crate) fn end(&mut self) -> Vec<EventHead> {
        let mut pieces = std::mem::take(&mut self.ended);
        pieces.push(std::mem::take(&mut self.last));
        let until = |piece: &BTreeMap<u32, EventHead>| piece.values().map(|head| head.ts).max();
        pieces.sort_by_key(until);
        let latest = pieces.pop().unwrap_or_default();
        // Of a CPU that is in several of them, the latest counts.
        let earlier: BTreeMap<u32, EventHead> = pieces.into_iter().flatten().collect();
        earlier.into_iter().filter(|(cpu, _)| !latest.contains_key(cpu)).map(|(_, head)| head).collect()
    }

    /// Where pieces end that others follow.
    pub(crate) fn cuts(&self) -> &[LeftOut] {
        &self.cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Cpu;
    use whylate_events::Context;

    fn at(us: i64, cpu: u32) -> EventHead {
        EventHead { ts: Ns::from_us(us), cpu: Cpu(cpu), context: Context::default() }
    }

    /// The place of an event behind six others, and some line where `line`.
    fn behind(line: bool, us: i64) -> Place {
        let mut pieces = Pieces::default();
        let mut last = None;
        for us in 0..6 {
            pieces.place(at(us, 0), last);
            last = Some(at(us, 0));
        }
        if line {
            pieces.separated(7);
        }
        pieces.place(at(us, 0), last)
    }

    #[test]
    fn a_piece_begins_where_neither_lines_nor_times_follow_on_one_another() {
        for (line, us, place) in [
            (true, 6_000_000, Place::First),
            (true, -200, Place::First),
            (true, 400_000, Place::Within),
            (true, -50, Place::Within),
            (false, 6_000_000, Place::Within),
            (false, -200, Place::Within),
        ] {
            assert_eq!(behind(line, us), place, "{line} {us}");
        }
    }

    #[test]
    fn a_piece_ends_on_each_of_its_cpus() {
        let mut pieces = Pieces::default();
        for us in 0..8 {
            pieces.place(at(us, us as u32 % 2), Some(at(us - 1, 0)));
        }
        pieces.separated(9);
        assert_eq!(pieces.place(at(9_000_000, 1), Some(at(7, 1))), Place::First);
        let ended: Vec<i64> = pieces.begin(at(9_000_000, 1)).iter().map(|head| head.ts.0).collect();
        assert_eq!(ended, [6_000, 7_000]);
        assert_eq!(pieces.place(at(9_000_001, 1), Some(at(9_000_000, 1))), Place::Within);
        assert_eq!(pieces.place(at(9_000_002, 0), Some(at(9_000_001, 1))), Place::FirstOfCpu);
        assert_eq!((pieces.cuts().len(), pieces.end().len()), (1, 0));
    }

    #[test]
    fn a_cpu_that_is_in_an_earlier_piece_alone_is_not_seen_to_the_end() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.place(at(900, 4), None), Place::Within);
        pieces.separated(2);
        assert_eq!(pieces.place(at(100, 2), Some(at(900, 4))), Place::First);
        pieces.begin(at(100, 2));
        assert_eq!(pieces.place(at(300, 2), Some(at(100, 2))), Place::Within);
        let ends: Vec<(u32, i64)> = pieces.end().iter().map(|head| (head.cpu.0, head.ts.0)).collect();
        assert_eq!(ends, [(2, 300_000)]);
    }

    #[test]
    fn text_with_a_blank_line_behind_each_other_is_one_piece() {
        let mut pieces = Pieces::default();
        for n in 0..40i64 {
            pieces.separated(n as u64);
            let last = (n > 0).then(|| at((n - 1) * 9_000_000, 0));
            let place = pieces.place(at(n * 9_000_000, 0), last);
            // The first one may be a piece's; the second shows that it is none.
            assert!(place == Place::Within || n == 1 && place == Place::First, "{n}: {place:?}");
        }
    }
}
