//! From an activation that ended to the record that is kept of it.

use crate::activations::{Begin, Open, WakeCause};
use crate::bandwidth::Window;
use crate::causes::Cause;
use crate::charge::{self, Remark};
use crate::cpus::Who;
use crate::engine::Engine;
use crate::model::{Activation, Lane, Occupant, Segment, Slice, Trigger, Verdict};
use crate::options::Options;
use crate::settle::regroup;
use crate::stats::{Ended, Kept};
use crate::threads::{State, Thread};
use crate::timers;
use std::collections::BTreeSet;
use whylate_base::{Cpu, Ns, Tid};

/// A lane of more slices is drawn coarser: no picture shows them.
const MAX_SLICES: usize = 4_000;

impl Engine<'_> {
    /// The activation of `tid`, if one is in progress, ended: it was `done`, or was only seen up to `end`.
    pub(crate) fn end(&mut self, tid: Tid, done: Option<Ns>, end: Ns) {
        let Some(thread) = self.threads.get(tid) else { return };
        // It is long, and stays where it is for as long as it can.
        let Some(open) = &thread.open else { return };
        // Clocks of two CPUs may disagree: nothing of an activation lies before its due time, nor does it end
        // before what is charged of it.
        let end = end.max(open.settled_until()).max(open.running.unwrap_or(open.due));
        let done = done.map(|_| end);
        // How long a program took to start, before it made itself real-time, is nobody's deadline.
        let starts_up = open.began_fair && thread.prio.is_realtime() && thread.pinned_fair.is_none();
        if !self.options.selects(thread) || (starts_up && self.options.tasks.is_empty()) {
            self.threads.get_mut(tid).open = None;
            return;
        }
        let Options { worst: keep, deadline, .. } = *self.options;
        let kept = thread.stats.as_ref().is_none_or(|stats| stats.would_keep(end - open.due, keep));
        let begun = open.begin != Begin::TraceStart;
        let ended = Ended {
            latency: open.running.filter(|_| begun).map(|running| running.since(open.due)),
            response: end.since(open.due),
            whole: done.is_some() && begun,
        };
        if !kept && let Some(ledger) = charge::plain(self, thread, open, end) {
            debug_assert_eq!(charge::ledger(self, thread, open, end), (ledger.to_vec(), Vec::new()));
            let thread = self.threads.get_mut(tid);
            thread.open = None;
            return thread.stats.get_or_insert_default().count(&ended, &ledger, deadline);
        }
        let (ledger, mut remarks) = charge::ledger(self, thread, open, end);
        debug_assert!(tiles(&ledger, open.due, end), "{ledger:?} does not tile {}..{end}", open.due);
        self.note_bandwidth(&ledger);
        let thread = self.threads.get_mut(tid);
        let open = thread.open.take().filter(|_| kept);
        thread.stats.get_or_insert_default().count(&ended, &ledger, deadline);
        let (Some(thread), Some(open)) = (self.threads.get(tid), open) else { return };
        let activation = self.activation(thread, &open, done, end, regroup(ledger));
        remarks.extend(timers::longest(self, &activation.ledger).map(Remark::Timers));
        let stats = self.threads.get_mut(tid).stats.get_or_insert_default();
        stats.keep(Kept { activation, remarks }, keep);
    }

    /// The trace ended.
    pub(crate) fn end_all(&mut self) {
        let now = self.now;
        let open: Vec<Tid> =
            self.threads.iter().filter(|thread| thread.open.is_some()).map(|thread| thread.tid).collect();
        for tid in open {
            let thread = self.threads.get_mut(tid);
            match thread.state() {
                State::Blocked { wait, .. } if !wait.continues() => {
                    let since = thread.since();
                    self.end(tid, since, since.unwrap_or(now));
                }
                _ => self.end(tid, None, now),
            }
        }
        for window in &mut self.windows {
            window.end.get_or_insert(now);
        }
    }

    fn activation(
        &self,
        thread: &Thread,
        open: &Open,
        done: Option<Ns>,
        end: Ns,
        ledger: Vec<Segment>,
    ) -> Activation {
        let cpu = open.ran_on.or(open.cpu).unwrap_or_default();
        let lanes = self.lanes(&ledger, cpu, open.due, end);
        Activation {
            tid: thread.tid,
            comm: thread.comm,
            priority: thread.own_priority(),
            cpu,
            trigger: self.trigger(open),
            due: open.due,
            woken: open.woken,
            running: open.running,
            done,
            end,
            ledger,
            verdict: Verdict::none(),
            lanes,
        }
    }

    fn trigger(&self, open: &Open) -> Trigger {
        match open.begin {
            Begin::TraceStart => Trigger::TraceStart,
            Begin::Woken(WakeCause::Timer { .. }) => Trigger::Timer,
            Begin::Woken(WakeCause::Thread(tid)) => {
                let comm = self.threads.get(tid).map(|thread| thread.comm).unwrap_or_default();
                Trigger::Thread { tid, comm }
            }
            Begin::Woken(WakeCause::Irq(id)) => match self.irqs.get(id) {
                (Some(irq), name) => Trigger::Irq { irq, name },
                // An inter-processor interrupt carries somebody's wake-up; whose was not seen.
                (None, _) => Trigger::Wakeup,
            },
            Begin::Woken(WakeCause::Softirq(vec)) => Trigger::Softirq { vec },
            Begin::Woken(WakeCause::Unseen) => Trigger::Wakeup,
        }
    }

    /// What the CPUs that the ledger names did.
    fn lanes(&self, ledger: &[Segment], own: Cpu, from: Ns, to: Ns) -> Vec<Lane> {
        let cpus: BTreeSet<Cpu> = ledger.iter().map(|segment| segment.cpu).chain([own]).collect();
        let lane = |cpu: Cpu| {
            self.cpus.get(cpu).map(|timeline| {
                let slices = timeline.between(from, to).map(|(start, end, stretch)| Slice {
                    start,
                    end,
                    who: self.occupant(stretch.who),
                });
                Lane { cpu, slices: coarsen(slices.collect(), from, to) }
            })
        };
        cpus.into_iter().filter_map(lane).collect()
    }

    fn occupant(&self, who: Who) -> Occupant {
        match who {
            Who::Unknown => Occupant::Unknown,
            Who::Idle => Occupant::Idle,
            Who::Task(tid, priority) => {
                let comm = self.threads.get(tid).map(|thread| thread.comm).unwrap_or_default();
                Occupant::Task { tid, comm, priority }
            }
            Who::Irq(id) => {
                let (irq, name) = self.irqs.get(id);
                Occupant::Irq { irq, name }
            }
            Who::Softirq(vec) => Occupant::Softirq { vec },
        }
    }

    /// Marks the bandwidth windows in which time was lost, and adds those only a wait showed.
    pub(crate) fn note_bandwidth(&mut self, ledger: &[Segment]) {
        let by_bandwidth = [Cause::RtThrottled, Cause::CoarseClockThrottled, Cause::FairServer];
        for segment in ledger.iter().filter(|segment| by_bandwidth.contains(&segment.cause)) {
            let overlapping = self.windows.iter_mut().rev().find(|window| {
                window.cpu == segment.cpu
                    && window.start < segment.end
                    && window.end.is_none_or(|end| end > segment.start)
            });
            match overlapping {
                Some(window) => window.hurt = true,
                None => {
                    let used = self.cpus.get(segment.cpu).map_or((0.0, Ns::ZERO), |timeline| {
                        let (_, share, over) = self.realtime_use(timeline, segment.start);
                        (share, over)
                    });
                    if let Some(timeline) = self.cpus.get_mut(segment.cpu) {
                        timeline.passed_over_until = timeline.passed_over_until.max(Some(segment.end));
                    }
                    self.windows.push(Window {
                        cpu: segment.cpu,
                        start: segment.start,
                        end: Some(segment.end),
                        passed_over: Tid::IDLE,
                        saw_idle: segment.cause != Cause::FairServer,
                        ran: None,
                        most_used_by: match segment.by {
                            Some(crate::model::Culprit::Task { tid, priority, .. }) => Some((tid, priority)),
                            _ => None,
                        },
                        used,
                        hurt: true,
                    });
                }
            }
        }
    }
}

/// Merges neighbours of the same occupant, and hides what is too short to be seen where there is too much.
fn coarsen(slices: Vec<Slice>, from: Ns, to: Ns) -> Vec<Slice> {
    let shortest = if slices.len() > MAX_SLICES { Ns((to - from).0 / MAX_SLICES as i64) } else { Ns::ZERO };
    let mut coarse: Vec<Slice> = Vec::new();
    for slice in slices {
        match coarse.last_mut() {
            Some(last) if last.who == slice.who || slice.end - slice.start < shortest => last.end = slice.end,
            _ => coarse.push(slice),
        }
    }
    coarse
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
