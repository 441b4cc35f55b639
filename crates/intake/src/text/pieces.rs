//! Pieces of a recording in one text, with something between them: what happened from one to the next is not in it.
//!
//! ```text
//! bash-9709   [000]  6052.694961: sched_switch: ...      the piece ends: what its threads do next is not known
//!
//! bash-1037   [000]  6076.246143: sched_wakeup: ...      the next one begins
//! ```
//!
//! A remark between two lines cuts nothing: only where the times do not follow on one another either is it a piece; or where behind
//! an author's sentence, or a mark of lines left out, the rows are a millisecond later and do not go on where those before ended.

use super::event_head::{EventHead, NOBODY_KNOWN};
use super::remarks::Remarks;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, EventKind, LeftOut, Switch, Wake};

/// Clocks of two CPUs disagree by less.
const BACKWARDS: Ns = Ns::from_us(100);
/// Rows of a table that were sorted are not that much earlier than those above them.
const EARLIER: Ns = Ns::from_secs(1);
/// No real-time thread that is looked into is late by more, and few excerpts show a time without any event that is longer.
const LONG: Ns = Ns::from_secs(5);
/// An author explains rows that follow on one another more closely one by one.
const NOT_AT_ONCE: Ns = Ns::from_ms(1);
/// A text with more events is no excerpt in which an author wrote.
const MOST_OF_AN_EXCERPT: u64 = 4096;
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
    /// Another recording begins with it.
    FirstOfRecording,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Pieces {
    /// The first line since the last event that is no line of a trace.
    between: Option<u64>,
    remarks: Remarks,
    /// A table's title stands before the next row.
    is_titled: bool,
    /// When the last row of a table was.
    last_row: Option<Ns>,
    /// The rows are those of a further table of the same recording.
    is_repeated: bool,
    /// The next event is the first of another recording, which begins in this line.
    further: Option<u64>,
    /// The pieces are whole tables.
    are_recordings: bool,
    threads: Threads,
    events: u64,
    /// Those behind such a line.
    separated: u64,
    /// The last event of each CPU in this piece.
    last: BTreeMap<u32, EventHead>,
    /// The next piece begins a little later in the same excerpt, behind an author's words.
    is_later: bool,
    /// The CPUs that the piece before such a one left idle, of which no event followed so far.
    idle: BTreeSet<u32>,
    /// The same of those before.
    ended: Vec<BTreeMap<u32, EventHead>>,
    cuts: Vec<LeftOut>,
}

impl Pieces {
    /// The line `number` is blank.
    pub(crate) fn blank(&mut self, number: u64) {
        self.between.get_or_insert(number);
        self.remarks.blank();
    }

    /// The line `number` is none of a trace.
    pub(crate) fn remark(&mut self, number: u64, text: &str) {
        self.between.get_or_insert(number);
        self.remarks.line(text);
    }

    /// True where an author's words stand between the last event and the next one.
    pub(crate) fn is_parted(&self) -> bool {
        self.remarks.are_apart()
    }

    /// A header follows: the recording below it is one of its own, and whole; behind an author's words it may be another excerpt.
    pub(crate) fn headed(&mut self) {
        if !self.remarks.is_by_author() {
            (self.between, self.remarks) = (None, Remarks::default());
        }
    }

    /// The title of a table follows.
    pub(crate) fn titled(&mut self) {
        self.is_titled = true;
    }

    /// Takes in the row of a table whose events are made later; true where it begins another recording: below a title of its own, or
    /// behind other lines at an earlier time.
    pub(crate) fn row(&mut self, ts: Ns) -> bool {
        let between = self.between.take();
        self.remarks = Remarks::default();
        let is_titled = std::mem::take(&mut self.is_titled);
        let last = self.last_row.replace(ts);
        // Rows that are new and earlier than the first table's last one are not in their order.
        let is_unordered = self.is_repeated && last.is_some_and(|last| ts < last);
        let begins =
            last.is_some_and(|last| is_titled || is_unordered || between.is_some() && last - ts > EARLIER);
        self.is_repeated &= !begins;
        begins
    }

    /// True where the row of a table, whose words an earlier row has, is of a further table of the same recording.
    pub(crate) fn repeats(&mut self, ts: Ns) -> bool {
        let is_behind = self.last_row.is_some_and(|last| ts < last);
        self.is_repeated |= self.is_titled || self.between.is_some() || is_behind;
        if self.is_repeated {
            (self.between, self.remarks) = (None, Remarks::default());
            self.is_titled = false;
        }
        self.is_repeated
    }

    /// The next event is the first of another recording, whose rows begin at the line `number`.
    pub(crate) fn begin_recording(&mut self, number: u64) {
        self.further = Some(number);
        self.are_recordings = true;
    }

    /// Takes in an event, behind the `last` one of the text.
    pub(crate) fn place(&mut self, event: &Event, last: Option<EventHead>) -> Place {
        self.events += 1;
        let is_excerpt = self.events <= MOST_OF_AN_EXCERPT;
        let further = self.further.take();
        let between = self.between.take().or(further).filter(|_| last.is_some());
        let is_told = std::mem::take(&mut self.remarks).is_by_author() && is_excerpt;
        self.separated += u64::from(between.is_some());
        if let (Some(line), Some(last)) = (between, last)
            && self.cuts.len() < MOST_CUTS
        {
            let is_spaced_out = (self.separated - 1).saturating_mul(EVENTS_OF_A_PIECE) > self.events;
            let is_elsewhere = last.ts - event.ts > BACKWARDS || event.ts - last.ts >= LONG;
            let is_later = is_told && event.ts - last.ts >= NOT_AT_ONCE && !self.threads.go_on_with(event);
            if further.is_some() || is_elsewhere && !is_spaced_out || is_later {
                self.is_later = further.is_none() && !is_elsewhere;
                self.cuts.push(LeftOut { at: last.ts, line, ends_piece: true });
                return if further.is_some() { Place::FirstOfRecording } else { Place::First };
            }
        }
        if is_excerpt {
            self.threads.see(event);
        }
        let head = EventHead::of(event);
        let was_idle = self.idle.remove(&event.cpu.0);
        match self.last.insert(event.cpu.0, head) {
            // An idle CPU that is idle still has run nothing that the rows would have to show.
            None if was_idle && event.context.tid.is_idle() => Place::Within,
            None if !self.cuts.is_empty() && !self.are_recordings => Place::FirstOfCpu,
            _ => Place::Within,
        }
    }

    /// Ends the piece before `event`, with which the next one begins; returns the last event of each of its CPUs.
    pub(crate) fn begin(&mut self, event: &Event) -> Vec<EventHead> {
        let mut ended = std::mem::take(&mut self.last);
        self.idle = match self.is_later {
            true => self.threads.left_idle().collect(),
            false => BTreeSet::new(),
        };
        for head in std::mem::take(&mut self.threads).waits {
            ended.entry(head.cpu.0).or_insert(head);
        }
        self.threads.see(event);
        self.last.insert(event.cpu.0, EventHead::of(event));
        let unknown = ended.iter().filter(|(cpu, _)| !self.idle.contains(cpu));
        let last = unknown.map(|(_, head)| *head).collect();
        self.ended.push(ended);
        if self.are_recordings { self.recordings_before(event.ts) } else { last }
    }

    /// The last event of each CPU of the recordings that ended before `ts`: of the latest one nothing follows that could be taken for its
    /// own.
    fn recordings_before(&mut self, ts: Ns) -> Vec<EventHead> {
        let ended = self.ended.extract_if(.., |piece| latest(piece).is_some_and(|until| until < ts));
        ended.flat_map(BTreeMap::into_values).collect()
    }

    /// The text has ended, and its latest event was at `end`: where each CPU ends that is in no piece as late as the latest one.
    pub(crate) fn end(&mut self, end: Ns) -> Vec<EventHead> {
        self.ended.push(std::mem::take(&mut self.last));
        if self.are_recordings {
            return self.recordings_before(end);
        }
        let mut pieces = std::mem::take(&mut self.ended);
        pieces.sort_by_key(latest);
        let latest = pieces.pop().unwrap_or_default();
        // Of a CPU that is in several of them, the latest counts.
        let earlier: BTreeMap<u32, EventHead> = pieces.into_iter().flatten().collect();
        let unseen = earlier.into_iter().filter(|(cpu, _)| !latest.contains_key(cpu));
        unseen.map(|(_, head)| EventHead { ts: end, ..head }).collect()
    }

    /// Where pieces end that others follow.
    pub(crate) fn cuts(&self) -> &[LeftOut] {
        &self.cuts
    }
}

/// When the last event of a piece was.
fn latest(piece: &BTreeMap<u32, EventHead>) -> Option<Ns> {
    piece.values().map(|head| head.ts).max()
}

/// The threads of a piece.
#[derive(Default)]
struct Threads {
    seen: FxHashSet<Tid>,
    /// Those that were woken and did not run since.
    woken: FxHashSet<Tid>,
    /// The one that has each CPU, as far as the rows show it.
    running: BTreeMap<u32, Tid>,
    /// Where and when a thread was woken on a CPU that need not have a row of its own.
    waits: Vec<EventHead>,
}

impl Threads {
    fn see(&mut self, event: &Event) {
        self.seen.extend(threads_of(event));
        let running = match event.kind {
            EventKind::Switch(Switch { next_tid, .. }) => next_tid,
            _ => event.context.tid,
        };
        self.running.insert(event.cpu.0, running);
        self.woken.remove(&running);
        if let EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } = &event.kind {
            self.woken.insert(wake.tid);
            let is_new = self.waits.iter().all(|head| head.cpu != wake.target_cpu);
            if wake.target_cpu != Cpu::UNKNOWN && is_new {
                let context = whylate_events::Context { tid: NOBODY_KNOWN, ..event.context };
                self.waits.push(EventHead { ts: event.ts, cpu: wake.target_cpu, context });
            }
        }
    }

    /// The CPUs that are idle, where no thread waits for one.
    fn left_idle(&self) -> impl Iterator<Item = u32> {
        let is_idle = |(_, running): &(&u32, &Tid)| running.is_idle() && self.woken.is_empty();
        self.running.iter().filter(is_idle).map(|(cpu, _)| *cpu)
    }

    /// True of a row that may follow on those before: its CPU has the thread that they left there, or it is the first one of its CPU
    /// and shows a thread that they woke. It goes on as well with a thread of theirs that it moves to another CPU.
    fn go_on_with(&self, event: &Event) -> bool {
        if let EventKind::Migrate { tid, .. } = event.kind
            && self.seen.contains(&tid)
        {
            return true;
        }
        match self.running.get(&event.cpu.0) {
            Some(&running) => {
                [running, event.context.tid].contains(&NOBODY_KNOWN) || running == event.context.tid
            }
            None => threads_of(event).any(|tid| self.woken.contains(&tid)),
        }
    }
}

/// The threads that a row names; the idle task is one of each CPU.
fn threads_of(event: &Event) -> impl Iterator<Item = Tid> {
    let [first, second] = match event.kind {
        EventKind::Switch(Switch { prev_tid, next_tid, .. }) => [prev_tid, next_tid],
        EventKind::Waking(Wake { tid, .. }) | EventKind::Wakeup { wake: Wake { tid, .. }, .. } => [tid; 2],
        _ => [event.context.tid; 2],
    };
    [event.context.tid, first, second].into_iter().filter(|tid| !tid.is_idle() && *tid != NOBODY_KNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Comm;
    use whylate_base::Priority;
    use whylate_events::Context;

    fn head(us: i64, cpu: u32) -> EventHead {
        EventHead { ts: Ns::from_us(us), cpu: Cpu(cpu), context: Context::default() }
    }

    fn at(us: i64, cpu: u32) -> Event {
        head(us, cpu).event(EventKind::Other)
    }

    fn of(us: i64, cpu: u32, tid: i32, kind: EventKind) -> Event {
        let context = Context { tid: Tid(tid), ..Context::default() };
        Event { ts: Ns::from_us(us), cpu: Cpu(cpu), context, kind }
    }

    fn wakes(tid: i32, cpu: u32) -> EventKind {
        let wake = Wake { comm: Comm::default(), tid: Tid(tid), prio: Priority(19), target_cpu: Cpu(cpu) };
        EventKind::Waking(wake)
    }

    /// Behind the wake-up of 7 on CPU 1 by 3, which has CPU 0, `line` and an event.
    #[test]
    fn behind_a_sentence_rows_that_do_not_go_on_begin_a_piece() {
        const TOLD: &str = "a little later, on the other CPU";
        for (line, event, place) in [
            (TOLD, of(4_000, 2, 9, EventKind::Other), Place::First),
            (TOLD, of(4_000, 0, 9, EventKind::Other), Place::First),
            (TOLD, of(4_000, 0, 3, EventKind::Other), Place::Within),
            (TOLD, of(4_000, 1, 7, EventKind::Other), Place::Within),
            (TOLD, of(4_000, 2, 3, EventKind::Other), Place::First),
            ("[... much later ...]", of(4_000, 2, 9, EventKind::Other), Place::First),
            ("<snip>", of(4_000, 0, 3, EventKind::Other), Place::Within),
            (TOLD, of(500, 2, 9, EventKind::Other), Place::Within),
            ("usb 1-1: new device", of(4_000, 2, 9, EventKind::Other), Place::Within),
        ] {
            let mut pieces = Pieces::default();
            let woken = of(100, 0, 3, wakes(7, 1));
            pieces.place(&woken, None);
            pieces.remark(2, line);
            assert_eq!(pieces.place(&event, Some(EventHead::of(&woken))), place, "{line} {event:?}");
            if place == Place::First {
                // Whether the woken thread got CPU 1 is not known either.
                let ended: Vec<u32> = pieces.begin(&event).iter().map(|head| head.cpu.0).collect();
                assert_eq!(ended, [0, 1]);
            }
        }
    }

    /// An idle CPU is idle still, or has another thread, a little later and behind an author's words.
    #[test]
    fn a_cpu_that_was_idle_and_is_idle_still_has_lost_nothing() {
        for (tid, place) in [(0, Place::Within), (9, Place::FirstOfCpu)] {
            let mut pieces = Pieces::default();
            let idle = of(100, 1, 0, EventKind::Other);
            pieces.place(&idle, None);
            pieces.remark(2, "a little later, on the other CPU");
            let woken = of(4_000, 0, 3, wakes(7, 1));
            assert_eq!(pieces.place(&woken, Some(EventHead::of(&idle))), Place::First);
            assert!(pieces.begin(&woken).is_empty());
            let next = of(4_030, 1, tid, EventKind::Other);
            assert_eq!(pieces.place(&next, Some(EventHead::of(&woken))), place);
        }
    }

    /// The place of an event behind six others, and some line where `line`.
    fn behind(line: bool, us: i64) -> Place {
        let mut pieces = Pieces::default();
        let mut last = None;
        for us in 0..6 {
            pieces.place(&at(us, 0), last);
            last = Some(head(us, 0));
        }
        if line {
            pieces.blank(7);
        }
        pieces.place(&at(us, 0), last)
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
            pieces.place(&at(us, us as u32 % 2), Some(head(us - 1, 0)));
        }
        pieces.blank(9);
        assert_eq!(pieces.place(&at(9_000_000, 1), Some(head(7, 1))), Place::First);
        let ended: Vec<i64> = pieces.begin(&at(9_000_000, 1)).iter().map(|head| head.ts.0).collect();
        assert_eq!(ended, [6_000, 7_000]);
        assert_eq!(pieces.place(&at(9_000_001, 1), Some(head(9_000_000, 1))), Place::Within);
        assert_eq!(pieces.place(&at(9_000_002, 0), Some(head(9_000_001, 1))), Place::FirstOfCpu);
        assert_eq!((pieces.cuts().len(), pieces.end(Ns::from_us(9_000_002)).len()), (1, 0));
    }

    #[test]
    fn a_cpu_that_is_in_an_earlier_piece_alone_is_not_seen_to_the_end() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.place(&at(900, 4), None), Place::Within);
        pieces.blank(2);
        assert_eq!(pieces.place(&at(100, 2), Some(head(900, 4))), Place::First);
        pieces.begin(&at(100, 2));
        assert_eq!(pieces.place(&at(300, 2), Some(head(100, 2))), Place::Within);
        let ends: Vec<(u32, i64)> =
            pieces.end(Ns::from_us(900)).iter().map(|head| (head.cpu.0, head.ts.0)).collect();
        assert_eq!(ends, [(2, 900_000)]);
    }

    #[test]
    fn text_with_a_blank_line_behind_each_other_is_one_piece() {
        let mut pieces = Pieces::default();
        for n in 0..40i64 {
            pieces.blank(n as u64);
            let last = (n > 0).then(|| head((n - 1) * 9_000_000, 0));
            let place = pieces.place(&at(n * 9_000_000, 0), last);
            // The first one may be a piece's; the second shows that it is none.
            assert!(place == Place::Within || n == 1 && place == Place::First, "{n}: {place:?}");
        }
    }
}
