//! From an activation to its ledger: each piece of its time charged to a cause.
//!
//! ```text
//! due ──────> waking ──────> running ────────> preempted ──> blocked ──────> done
//!  late.rs     waiting.rs     running.rs        waiting.rs    blocked.rs
//!  expirer.rs, carried.rs
//! ```
//!
//! It asks the timeline what was so at the time, and changes nothing.

mod answers;
pub(crate) mod attribution;
pub(crate) mod bandwidth;
mod blocked;
mod carried;
pub(crate) mod charger;
mod expirer;
mod grace_period;
pub(crate) mod items;
mod late;
mod moved;
pub(crate) mod notes;
mod out_of_reach;
mod overdue;
mod placement;
pub(crate) mod plain;
pub(crate) mod precedence;
mod queue;
mod quota;
mod running;
mod standing;
mod stoppers;
pub(crate) mod timers;
mod waiting;

use crate::causes::Cause;
use crate::model::Segment;
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::origins::Origin;
use crate::timeline::running::Running;
use crate::timeline::slices::CpuSlice;
use crate::timeline::spent::{Calls, Spent, Within};
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use attribution::Charge;
use charger::Charger;
use notes::VerdictNote;
use queue::Queued;
use whylate_base::{Confidence, Evidence, Ns};

/// Calls that are named of those in which a thread slept.
const MOST_CALLS: usize = 3;

/// Makes the ledger of `thread`'s activation `open`, which ends at `end`.
///
/// The segments tile `open.due..end`: [`Charger::charge`] only ever extends the last one or
/// begins where it ended, and what no rule claims is charged to `unexplained`.
pub(crate) fn ledger(
    timeline: &Timeline,
    thread: &Thread,
    open: &Open,
    end: Ns,
) -> (Vec<Segment>, Vec<VerdictNote>) {
    let mut charger = Charger::new(timeline, thread, open);
    let waking = open.waking.clamp(open.due, end).max(charger.at);
    charger.before_wake(waking);
    let cpu = charger.cpu;
    let stays = thread.history.between(waking, end);
    let mut before = None;
    for (stay, next) in stays.iter().zip(stays.iter().skip(1).map(Some).chain([None])) {
        if let (Some(State::Queued(left) | State::Running(left)), State::Queued(cpu)) = (before, stay.state)
            && left != cpu
        {
            charger.moved_by_stopper(left, stay.to);
        }
        before = Some(stay.state);
        match stay.state {
            State::Running(cpu) => charger.running(cpu, stay.to),
            State::Queued(cpu) => match next.map(|next| next.state) {
                Some(State::Running(on)) if on != cpu => {
                    charger.waiting_to_be_moved(thread, cpu, on, stay.to);
                }
                _ => charger.waiting(thread, cpu, stay.to),
            },
            State::Blocked { wait, waker } if wait.continues() => {
                charger.blocked(wait, waker, stay.to);
            }
            State::Blocked { wait, waker } if open.begin == Begin::Marked => {
                charger.own_wait(wait, waker, stay.to)
            }
            State::Blocked { .. } if open.queued_late_by.is_some() => {
                charger.charge(stay.to, charger.not_queued());
            }
            State::Blocked { .. } => charger.waiting_as(thread, cpu, stay.to, Queued::NotYet),
            // It is being woken, and so was asleep, though it was not seen to go to sleep.
            State::Unknown
                if stay.from == waking
                    && matches!(open.begin, Begin::Woken(_))
                    && !timeline.losses.any_between(None, stay.from, stay.to) =>
            {
                charger.waiting_as(thread, cpu, stay.to, Queued::NotYet);
            }
            State::Unknown => charger.unseen(stay.to),
        }
    }
    if let Some(at) = open.running.filter(|&at| charger.is_found_at(at)) {
        let text = "the switch to it was not recorded: it ran by then, and may have begun before".to_owned();
        charger.notes.push(VerdictNote::Note(Evidence::at(at, charger.cpu, text)));
    }
    if let Some((at, said)) = open.marks().said {
        let text = format!("its own marker: {}", said.as_str());
        charger.notes.push(VerdictNote::Note(Evidence::at(at, charger.cpu, text)));
    }
    let own = spent(open, &charger.segments, Cause::OwnWork).into_iter().next();
    charger.notes.extend(own.map(|(within, time)| VerdictNote::Spent { within, time }));
    charger.notes.extend(open.marks().many_calls.map(|(Calls { nr, times, time }, name)| {
        VerdictNote::ManyCalls { within: Within::Call { nr, name }, times, time }
    }));
    for cause in [Cause::OwnWait, Cause::KernelSleep, Cause::BlockIo] {
        let slept = spent(open, &charger.segments, cause).into_iter().take(MOST_CALLS);
        charger.notes.extend(slept.map(|(within, time)| VerdictNote::SleptIn { cause, within, time }));
    }
    if charger.segments.iter().any(|segment| segment.cause == Cause::KernelSleep)
        && items::sets_off_writeback(timeline, thread.tid, open.due, end)
    {
        charger.notes.push(VerdictNote::Writeback);
    }
    charger.notes.extend(writes_whole_pages(open, &charger.segments).then_some(VerdictNote::WholePages));
    charger.notes.extend(write_protected(timeline, thread, open, end));
    (charger.segments, charger.notes)
}

/// That most page faults were writes to pages that were there. One that sleeps takes longer than many others.
fn write_protected(timeline: &Timeline, thread: &Thread, open: &Open, end: Ns) -> Option<VerdictNote> {
    let faults = &open.marks().faults;
    let times = faults.iter().filter(|fault| fault.protected).count();
    let sleeps = faults.iter().any(|fault| fault.slept && !fault.protected);
    (times > 0 && times * 2 >= faults.len() && !sleeps)
        .then(|| VerdictNote::WriteProtected { times, forked: timeline.forked_before(thread, end) })
}

/// True where all its writes in which it waited for a device were of whole pages.
fn writes_whole_pages(open: &Open, ledger: &[Segment]) -> bool {
    let waits = open.marks().spent.iter().filter(|spent| time_in(spent, ledger, Cause::BlockIo) > Ns::ZERO);
    let mut writes = waits.filter_map(|spent| spent.whole_pages).peekable();
    writes.peek().is_some() && writes.all(|is_whole| is_whole)
}

/// How long a cause is charged within a call or handler.
fn time_in(spent: &Spent, ledger: &[Segment], cause: Cause) -> Ns {
    let from = ledger.partition_point(|segment| segment.end <= spent.from);
    let within = ledger[from..].iter().take_while(|segment| segment.start < spent.to);
    let own = within.filter(|segment| segment.cause == cause);
    own.map(|segment| segment.end.min(spent.to).since(segment.start.max(spent.from))).sum()
}

/// The system calls and handlers in which it spent the time of a cause, and how long, the longest first.
fn spent(open: &Open, ledger: &[Segment], cause: Cause) -> Vec<(Within, Ns)> {
    let own = |spent: &Spent| time_in(spent, ledger, cause);
    let mut sums: Vec<(Within, Ns)> = Vec::new();
    for spent in &open.marks().spent {
        match sums.iter_mut().find(|(within, _)| *within == spent.within) {
            Some((_, time)) => *time += own(spent),
            None => sums.push((spent.within, own(spent))),
        }
    }
    sums.retain(|(_, time)| *time > Ns::ZERO);
    sums.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    sums
}

impl Charger<'_> {
    /// True where the thread was found on its CPU at `at`, behind a time in which it is not known what that ran.
    fn is_found_at(&self, at: Ns) -> bool {
        let unexplained = |segment: &Segment| segment.end == at && segment.cause == Cause::Unexplained;
        let slice = |from| Some(self.timeline.cpus.get(self.cpu)?.between(from, from + Ns(1)).next()?.2);
        let is_switch = |at: CpuSlice| {
            at.switched && matches!(at.running, Running::Task(tid, _) if tid == self.victim.tid)
        };
        self.segments.iter().any(unexplained)
            && slice(at - Ns(1)).is_some_and(|before| before.running == Running::Unknown)
            && !slice(at).is_some_and(is_switch)
    }

    /// The time before the wake-up: a timer's lateness, and whatever an overrun of the period before left.
    fn before_wake(&mut self, waking: Ns) {
        if let Some(origin) = self.open.origin.as_deref() {
            return self.before_carried_wake(origin, waking);
        }
        let Begin::Woken(WakeCause::Timer { cpu: timer_cpu, hard_due, expirer }) = self.open.begin else {
            return;
        };
        let own_cpu = self.cpu;
        for stay in self.victim.history.between(self.at, waking) {
            let to = stay.to;
            match stay.state {
                State::Running(cpu) => self.running(cpu, to),
                State::Queued(cpu) => self.waiting(self.victim, cpu, to),
                // It was still in the middle of its work before.
                State::Blocked { wait, waker } if wait.delays() => self.blocked(wait, waker, to),
                State::Blocked { .. } | State::Unknown => {
                    self.cpu = timer_cpu;
                    self.charge(hard_due.min(to), Charge::to(Cause::TimerSlack, None, Confidence::High));
                    match expirer.and_then(|tid| self.timeline.threads.get(tid)) {
                        Some(expirer) => self.late_timer_in_thread(timer_cpu, expirer, to),
                        None => self.late_timer(timer_cpu, to),
                    }
                }
            }
        }
        self.cpu = own_cpu;
    }

    /// The same of a wake-up that a device, a packet or a work item caused.
    fn before_carried_wake(&mut self, origin: &Origin, waking: Ns) {
        let own_cpu = self.cpu;
        for stay in self.victim.history.between(self.at, waking) {
            match stay.state {
                State::Running(cpu) => self.running(cpu, stay.to),
                State::Queued(cpu) => self.waiting(self.victim, cpu, stay.to),
                State::Blocked { wait, waker } if wait.delays() => self.blocked(wait, waker, stay.to),
                State::Blocked { .. } | State::Unknown => self.carried(origin, stay.to),
            }
        }
        self.cpu = own_cpu;
    }
}

/// True when the segments cover `from..to` without a gap or an overlap.
pub(crate) fn tiles(ledger: &[Segment], from: Ns, to: Ns) -> bool {
    let mut at = from;
    for segment in ledger {
        if segment.start != at || segment.end <= segment.start {
            return false;
        }
        at = segment.end;
    }
    at == to
}
