//! The time a thread had a CPU: its own work, and what cut into it.

use super::attribution::Charge;
use super::charger::Charger;
use super::notes::VerdictNote;
use super::overdue::{in_doubt_from, notably_late};
use crate::causes::Cause;
use crate::timeline::activations::{Begin, Fault, Marks};
use crate::timeline::cpus::CpuTimeline;
use crate::timeline::housekeeping::runs_softirqs;
use crate::timeline::running::Running;
use std::ops::Range;
use whylate_base::{Confidence, Cpu, Evidence, Ns};

/// A gap between two faults longer than this is the thread's own work, not the first fault's handling.
const LONGEST_MINOR_FAULT: Ns = Ns::from_us(100);
/// A minor fault's usual cost, where the recording has no burst to take it from.
const USUAL_MINOR_FAULT: Ns = Ns::from_us(1);
/// So many faults that follow each other at once are a burst.
const BURST: usize = 4;
/// A fault that clears a huge page takes longer on a slow machine.
const LONG_FAULT: Ns = Ns::from_ms(1);
/// Without an event for so long, a CPU without a tick may as well have left the thread.
const LONG_SILENCE: Ns = Ns::from_ms(1);
/// Longer than the kernel looks for room in the memory at once.
const LONGEST_RECLAIM: Ns = Ns::from_ms(50);
/// The size of a huge page where pages have 4 KB, in bytes.
const HUGE_PAGE: u64 = 2 << 20;
/// So many faults on either side show what one costs: thousands more show the same.
const NEAR_FAULTS: usize = 1000;

/// So many runs show how long a thread usually runs at once.
const ENOUGH_RUNS: usize = 8;
/// So many times as long is an exception.
const FAR_LONGER: i64 = 10;

impl Charger<'_> {
    /// Charges up to `to` a time in which the thread ran on `cpu`.
    pub(super) fn running(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return self.unseen(to) };
        let mut marks = self.marks(cpu, self.at, to);
        self.note_huge_pages(to);
        if let Some((from, end, in_doubt)) = self.long_last_fault(to) {
            marks.retain(|mark| mark.0 < from || mark.0 >= end);
            marks.push((from, end, in_doubt));
        }
        for &(from, end) in timeline.unshown.iter().filter(|&&unshown| self.is_unshown(timeline, unshown, to))
        {
            marks.retain(|mark| mark.1 <= from || end <= mark.0);
            marks.push((from, end, Charge::unexplained()));
        }
        if let Some((from, in_doubt)) = self.unseen_to_the_end(cpu, to) {
            marks.retain(|mark| mark.0 < from);
            marks.push((from, to, in_doubt));
        }
        marks.sort_by_key(|mark| mark.0);
        let mut marks = &marks[..];
        for (from, end, slice) in timeline.between(self.at, to) {
            match slice.running {
                Running::Task(tid, _) if tid == self.victim.tid => self.own(end, &mut marks),
                // To run them is its work.
                Running::Softirq(_) if runs_softirqs(self.victim.comm_at(from).as_str()) => {
                    self.own(end, &mut marks);
                }
                _ => {
                    let charge = self.interruption((from, end, slice)).unwrap_or_else(Charge::unexplained);
                    self.charge(end, charge);
                }
            }
        }
    }

    /// The thread's own execution, with the marks in it charged apart; takes those off that are over.
    fn own(&mut self, to: Ns, marks: &mut &[(Ns, Ns, Charge)]) {
        let sure = if self.open.ends_unseen { Confidence::Low } else { Confidence::High };
        let own = Charge::to(Cause::OwnWork, None, sure);
        while let [(_, end, _), rest @ ..] = *marks
            && *end <= self.at
        {
            *marks = rest;
        }
        for &(from, end, charge) in marks.iter().take_while(|mark| mark.0 < to) {
            if end <= self.at {
                continue;
            }
            if charge.cause == Cause::LockWait {
                self.note_kernel_lock(from, end);
            }
            self.charge(from.min(to), own);
            self.charge(end.min(to), charge);
        }
        self.charge(to, own);
    }

    /// From a page fault on nothing else of the thread was recorded until its next system call or `to`, for far longer than it usually runs at once: the
    /// fault may have taken that, as the kernel clears a huge page or makes room, or the thread worked. Only the entry of a
    /// fault is traced.
    fn long_last_fault(&mut self, to: Ns) -> Option<(Ns, Ns, Charge)> {
        let faults = &self.open.marks().faults;
        let last = faults[..faults.partition_point(|fault| fault.at < to)]
            .last()
            .filter(|last| !last.goes_on && !last.is_fetch && !last.is_huge)?;
        let to = last.over_by.map_or(to, |over| over.min(to));
        let (at, length) = (last.at, to - last.at);
        let is_long = at >= self.at && (LONG_FAULT..=LONGEST_RECLAIM).contains(&length);
        if !is_long || !self.usually_runs_shorter_than(Ns(length.0 / FAR_LONGER)) {
            return None;
        }
        let text = format!(
            "a page fault began, and nothing else of the thread was recorded for {length}: a fault may take that, where the \
             kernel clears a huge page or makes room, and only its beginning is traced"
        );
        self.notes.push(VerdictNote::Note(Evidence::at(at, self.cpu, text)));
        Some((at, to, Charge::to(Cause::OwnWork, None, Confidence::Low)))
    }

    /// Notes the longest page fault up to `to` that mapped a huge page, and how many there were.
    fn note_huge_pages(&mut self, to: Ns) {
        let faults = &self.open.marks().faults;
        let first = faults.partition_point(|fault| fault.at < self.at);
        let last = faults.partition_point(|fault| fault.at < to);
        let huge = |at: &usize| long_in_burst(faults, *at).filter(|_| maps_huge_page(faults, *at));
        let mut mapped = faults[first..last].iter().filter(|fault| fault.is_huge);
        if let Some(one) = mapped.next() {
            let text = format!(
                "{} page faults in memory that is mapped in huge pages (MAP_HUGETLB): in each the kernel clears a whole huge page",
                mapped.count() + 1
            );
            self.notes.push(VerdictNote::Note(Evidence::at(one.at, self.cpu, text)));
        }
        let longest = (first..last).filter_map(|at| Some((huge(&at)?, at))).max();
        let Some((length, at)) = longest else { return self.note_long_faults(first..last) };
        let text = format!(
            "{} page faults, one of them of {length} (a huge page: the next fault is where that ends)",
            last - first
        );
        self.notes.push(VerdictNote::Note(Evidence::at(faults[at].at, self.cpu, text)));
    }

    /// Notes the page faults of these behind which nothing of the thread was recorded for long, up to one at the end of the huge page around: the
    /// fault may have taken that, or the thread worked.
    fn note_long_faults(&mut self, within: Range<usize>) {
        let faults = &self.open.marks().faults;
        let long = |at: &usize| long_up_to_next_huge_page(faults, *at).is_some();
        let mut long = within.filter(long);
        let Some(first) = long.next() else { return };
        let text = format!(
            "{} page faults, behind each of which nothing else of the thread was recorded for {LONG_FAULT} or more, up to one in the \
             next huge page: a fault may take that, as the kernel clears a huge page, and only its beginning is traced",
            long.count() + 1
        );
        self.notes.push(VerdictNote::Note(Evidence::at(faults[first].at, self.cpu, text)));
    }

    /// True of a time in which the thread, which no switch had brought here, may have left the CPU and come back: the text shows no
    /// switch of this CPU, and may have been cut from one that does.
    fn is_unshown(&self, timeline: &CpuTimeline, (from, end): (Ns, Ns), to: Ns) -> bool {
        let shows_none = self.open.begin == Begin::TraceStart && timeline.switches == 0;
        shows_none && from >= self.at && end <= to
    }

    /// The recording goes on after the CPU's last event, and has none of its switches: how long the thread ran there is not
    /// known. So it is where events were filtered, or the text has few of them.
    fn unseen_to_the_end(&mut self, cpu: Cpu, to: Ns) -> Option<(Ns, Charge)> {
        let timeline = self.timeline.cpus.get(cpu).filter(|_| self.timeline.is_over)?;
        let last = timeline.last_event.filter(|&last| last >= self.at && timeline.switches == 0)?;
        let silent = to - last;
        if self.open.begin != Begin::TraceStart || silent.0 <= (last - self.at).0 || silent < LONG_SILENCE {
            return None;
        }
        let text = format!(
            "the last event of CPU {cpu}, of which no switch was recorded: whether the thread ran on from there is not known"
        );
        self.notes.push(VerdictNote::Note(Evidence::at(last, cpu, text)));
        Some((last, Charge::unexplained()))
    }

    /// True where the thread has run many times of late, and a quarter of them at least was shorter than this.
    fn usually_runs_shorter_than(&self, length: Ns) -> bool {
        let (mut all, mut shorter) = (0, 0);
        for run in self.victim.history.runs_before(self.at) {
            all += 1;
            shorter += usize::from(run < length);
        }
        all >= ENOUGH_RUNS && shorter * 4 >= all
    }

    /// What is known to have cut into the thread's execution in `from..to`, in order.
    fn marks(&self, cpu: Cpu, from: Ns, to: Ns) -> Vec<(Ns, Ns, Charge)> {
        let mut marks = Vec::new();
        let Marks { faults, spins, slow_ways, .. } = self.open.marks();
        let first = faults.partition_point(|fault| fault.at < from);
        let in_span = faults[first..].partition_point(|fault| fault.at < to);
        let near = first.saturating_sub(NEAR_FAULTS)..(first + in_span + NEAR_FAULTS).min(faults.len());
        let usual = if in_span > 0 { usual_fault(&faults[near]) } else { USUAL_MINOR_FAULT };
        for at in first..first + in_span {
            let fault = &faults[at];
            let (cost, confidence) = match long_in_burst(faults, at) {
                _ if fault.is_huge => huge_fault_cost(faults, at, to),
                Some(gap) if maps_huge_page(faults, at) => (gap, Confidence::Medium),
                Some(gap) => (gap, Confidence::Low),
                None => (fault_cost(fault, usual), Confidence::Medium),
            };
            if let Some(gap) = long_up_to_next_huge_page(faults, at) {
                marks.push((fault.at, fault.at + gap, Charge::to(Cause::OwnWork, None, Confidence::Low)));
                continue;
            }
            marks.push((fault.at, fault.at + cost, Charge::to(Cause::PageFault, None, confidence)));
        }
        let spins =
            spins[spins.partition_point(|spin| spin.1 <= from)..].iter().take_while(|spin| spin.0 < to);
        marks.extend(
            spins.map(|&(begin, end)| (begin, end, Charge::to(Cause::LockWait, None, Confidence::Medium))),
        );
        let slow_ways = slow_ways.iter().copied().filter(|way| way.0 < to && way.1 > from);
        let idle_ways = self.timeline.cpus.get(cpu);
        let idle_ways =
            idle_ways.into_iter().flat_map(|timeline| timeline.idle_ways.between(self.victim.tid, from, to));
        marks.extend(slow_ways.chain(idle_ways).map(|(begin, end)| {
            let own = Charge::to(Cause::OwnWork, None, self.unobserved());
            (begin, end, self.on_its_way_to_sleep(cpu, begin, end).unwrap_or(own))
        }));
        if let Some(timeline) = self.timeline.cpus.get(cpu) {
            // The thread that was left is current to the end of the switch; then the kernel is on its way to this one.
            let first = timeline.slow_switches.partition_point(|switch| switch.1 <= from);
            let switches = timeline.slow_switches.range(first..).take_while(|switch| switch.0 < to);
            let of_kernel = Charge::to(Cause::Dispatch, None, Confidence::Medium);
            marks.extend(switches.map(|&(begin, end)| (begin.max(from), end.min(to), of_kernel)));
        }
        // Page faults would look like the thread's own work.
        marks.extend(
            self.timeline
                .losses
                .partial_between(cpu, from, to)
                .map(|loss| (loss.from, loss.to, Charge::to(Cause::TraceLoss, None, Confidence::High))),
        );
        if let Some(timeline) = self.timeline.cpus.get(cpu) {
            for late in notably_late(timeline, from, to) {
                let priority = self.victim.priority_at(late.due);
                let stolen = self
                    .kept_from_interrupt(cpu, late.due, late.handled, self.victim.tid, priority)
                    .filter(|charge| charge.cause == Cause::Stolen);
                // It worked with interrupts disabled, or it lost the CPU.
                let in_doubt = Charge::to(Cause::OwnWork, None, self.unobserved());
                let from = in_doubt_from(late);
                if let Some(charge) = stolen {
                    marks.push((from, late.due, in_doubt));
                    marks.push((late.due, late.handled, charge));
                } else if !marks.iter().any(|mark| mark.0 < late.handled && late.due < mark.1) {
                    marks.push((from, late.handled, in_doubt));
                }
            }
        }
        marks.sort_by_key(|mark| mark.0);
        marks
    }
}

/// The median distance between faults that follow each other at once: what one costs here.
fn usual_fault(faults: &[Fault]) -> Ns {
    let mut gaps: Vec<Ns> = faults
        .iter()
        .filter(|fault| fault.next_is_fault)
        .filter_map(|fault| fault.next.map(|next| next - fault.at))
        .filter(|gap| *gap <= LONGEST_MINOR_FAULT)
        .collect();
    gaps.sort();
    gaps.get(gaps.len() / 2).copied().unwrap_or(USUAL_MINOR_FAULT)
}

/// The time charged to one fault. The kernel traces its entry only: what follows at once with
/// another fault was almost all handling; after the last of a burst its usual cost is assumed.
fn fault_cost(fault: &Fault, usual: Ns) -> Ns {
    match fault.next.map(|next| next - fault.at) {
        Some(gap) if fault.slept || fault.goes_on || (fault.next_is_fault && gap <= LONGEST_MINOR_FAULT) => {
            gap
        }
        Some(gap) => gap.min(usual),
        None => usual,
    }
}

/// The time charged to a fault up to `to` in memory of huge pages, and how surely. Up to the next one of its kind the thread may have worked
/// as well; after the last one the shortest of them is assumed.
fn huge_fault_cost(faults: &[Fault], at: usize, to: Ns) -> (Ns, Confidence) {
    let gap = |fault: &Fault| fault.next.or(fault.over_by).unwrap_or(to).min(to).since(fault.at);
    let followed = |at: &usize| {
        faults[*at].is_huge
            && faults[*at].next_is_fault
            && faults.get(at + 1).is_some_and(|next| next.is_huge)
    };
    let length = gap(&faults[at]).min(LONGEST_RECLAIM);
    let near = at.saturating_sub(NEAR_FAULTS)..(at + NEAR_FAULTS).min(faults.len());
    match near.filter(followed).map(|at| gap(&faults[at])).min() {
        Some(_) if followed(&at) => (length, Confidence::Medium),
        Some(usual) => (length.min(usual), Confidence::Medium),
        None => (length, Confidence::Low),
    }
}

/// The time up to the next fault, where that is far longer than the time between the faults before and after: the kernel may
/// have made room in the memory for a page, or the thread may have worked. Nothing shows which of both.
fn long_in_burst(faults: &[Fault], at: usize) -> Option<Ns> {
    let gap = |fault: &Fault| fault.next.filter(|_| fault.next_is_fault).map(|next| next - fault.at);
    let is_burst = |faults: &[Fault]| {
        faults.len() == BURST
            && faults.iter().all(|fault| gap(fault).is_some_and(|gap| gap <= LONGEST_MINOR_FAULT))
    };
    let before = &faults[at.saturating_sub(BURST)..at];
    let after = &faults[at + 1..(at + 1 + BURST).min(faults.len())];
    let long = |gap: &Ns| *gap > LONGEST_MINOR_FAULT && *gap <= LONGEST_RECLAIM;
    gap(&faults[at]).filter(long).filter(|_| is_burst(before) && is_burst(after))
}

/// The time up to the next fault, where that is at the end of the huge page around what this one touched, and nothing shows what the thread did
/// for long: to clear a huge page may take that, and so may its own work.
fn long_up_to_next_huge_page(faults: &[Fault], at: usize) -> Option<Ns> {
    let fault = &faults[at];
    let gap = fault.next.filter(|_| fault.next_is_fault).map(|next| next - fault.at)?;
    let is_long = (LONG_FAULT..=LONGEST_RECLAIM).contains(&gap) && long_in_burst(faults, at).is_none();
    (is_long && !fault.is_huge && !fault.goes_on && !fault.slept && maps_huge_page(faults, at)).then_some(gap)
}

/// True where the next fault is at the end of the huge page around what this one touched: all pages between are there.
fn maps_huge_page(faults: &[Fault], at: usize) -> bool {
    let address = faults[at].address;
    let next = faults.get(at + 1).map_or(0, |next| next.address);
    address != 0 && next != 0 && next == (address | (HUGE_PAGE - 1)).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pause_in_a_burst_may_be_the_fault_itself() {
        let gaps = [30, 31, 29, 30, 4_300, 30, 30, 31, 30, 900];
        let mut now = 0;
        let mut faults: Vec<Fault> = Vec::new();
        for gap in gaps {
            let (at, next) = (Ns::from_us(now), Ns::from_us(now + gap));
            faults.push(Fault {
                at,
                next: Some(next),
                next_is_fault: true,
                slept: false,
                goes_on: false,
                protected: false,
                address: 0,
                over_by: None,
                is_fetch: false,
                is_huge: false,
            });
            now += gap;
        }
        assert_eq!(long_in_burst(&faults, 4), Some(Ns::from_us(4_300)));
        assert_eq!(long_in_burst(&faults, 3), None);
        assert_eq!(long_in_burst(&faults, 9), None, "the end of the burst: its own work may follow");
        assert_eq!(long_in_burst(&faults[2..], 2), None, "two faults are no burst");
    }

    #[test]
    fn a_burst_of_faults_tells_what_one_costs() {
        let at = |at: i64, next: i64, next_is_fault| Fault {
            at: Ns(at),
            next: Some(Ns(next)),
            next_is_fault,
            slept: false,
            goes_on: false,
            protected: false,
            address: 0,
            over_by: None,
            is_fetch: false,
            is_huge: false,
        };
        let burst =
            [at(0, 2_000, true), at(2_000, 4_500, true), at(4_500, 7_000, true), at(7_000, 900_000, false)];
        let usual = usual_fault(&burst);
        assert_eq!(usual, Ns(2_500));
        let costs: Vec<i64> = burst.iter().map(|fault| fault_cost(fault, usual).0).collect();
        assert_eq!(costs, [2_000, 2_500, 2_500, 2_500]);
        let alone = at(0, 5_000_000, true);
        assert_eq!(fault_cost(&alone, usual_fault(&[alone])), USUAL_MINOR_FAULT);
    }
}
