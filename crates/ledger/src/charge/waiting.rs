//! The time a thread was runnable and did not run.

use super::attribution::Charge;
use super::bandwidth::mechanism;
use super::charger::Charger;
use super::overdue::{LONGEST_IDLE_EXIT, in_doubt_from, notably_late, shows_irqs_off, slept};
use super::precedence::{Contender, Relation};
use super::queue::{ORDINARY_DISPATCH, PASSED_OVER, Queue, Queued};
use crate::causes::Cause;
use crate::model::culprit::{Culprit, is_stand_in};
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, WakeCause};
use crate::timeline::cpus::{CpuTimeline, IrqsOffSample};
use crate::timeline::housekeeping::is_housekeeping;
use crate::timeline::recent::partition_from_end;
use crate::timeline::running::Running;
use crate::timeline::thread::Thread;
use crate::timeline::windows::{LONGEST_WAY_OFF, Window};
use whylate_base::{Confidence, Cpu, Ns, Priority, SchedClass, Tid};
use whylate_events::Kind;

/// With the function tracer every one of its some hundred functions costs.
const TRACED_DISPATCH: Ns = Ns::from_us(100);
/// The end of an interrupt wakes softirq threads and reprograms timers before it lets the scheduler in.
const LONGEST_INTERRUPT_EXIT: Ns = Ns::from_us(100);
/// The way from an interrupt through the idle loop to the scheduler is not longer, on small boards neither.
const LONGEST_IDLE_LOOP: Ns = Ns::from_us(50);
/// An idle task that settled down again, and slept for this long, had looked for a thread to run and
/// was allowed none.
const IDLED_ON: Ns = Ns::from_us(200);
/// A thread that a woken one preempts has the CPU no longer: its slice alone is longer (`base_slice_ns`, `kernel/sched/fair.c`).
pub(super) const LONGEST_PREEMPTION: Ns = Ns::from_us(100);

impl Charger<'_> {
    /// Charges up to `to` a time in which `waiter` was queued on `cpu`.
    pub(super) fn waiting(&mut self, waiter: &Thread, cpu: Cpu, to: Ns) {
        self.waiting_as(waiter, cpu, to, Queued::Here);
    }

    /// Charges up to `to` a time in which `waiter` was runnable, and `queued` on the runqueue of `cpu` or not.
    pub(super) fn waiting_as(&mut self, waiter: &Thread, cpu: Cpu, to: Ns, queued: Queued) {
        self.cpu = cpu;
        let recorded = self.timeline.cpus.get(cpu).filter(|_| self.timeline.is_recorded(cpu));
        let Some(timeline) = recorded else { return self.unseen(to) };
        let from = self.at;
        let queued = match self.timeline.may_be_out_of_sight(waiter, from, to) {
            true => Queued::Somewhere,
            false => queued,
        };
        let mut first_choice = to;
        let mut idles = false;
        let choices = timeline.between(from, to).filter(|_| queued == Queued::Here);
        for (start, _, slice) in choices {
            if slice.switched && slice.start >= from {
                first_choice = start;
                break;
            }
            idles |= slice.running == Running::Idle;
        }
        let is_guest = self.timeline.hypervisor == Some(true) && self.timeline.shows_interrupts();
        let idled_on = idles && settled_down(timeline, from, first_choice, is_guest);
        let queue = Queue { waiter, cpu, timeline, from, to, first_choice, idled_on, queued };
        let is_here = queued == Queued::Here;
        let throttled = is_here.then(|| self.throttled(&queue)).flatten();
        let elsewhere = is_here.then(|| self.idle_elsewhere(&queue)).flatten();
        if is_here && throttled.is_none() && elsewhere.is_none() {
            self.note_out_of_reach(&queue);
        }
        for (start, end, slice) in timeline.between(from, to) {
            let fair = match slice.running {
                Running::Task(_, theirs) => theirs.class() == SchedClass::Fair,
                running => running == Running::Idle,
            };
            let stopped = throttled.filter(|stopped| fair && start >= stopped.from && start < stopped.to);
            if let Some(stopped) = stopped {
                let charge = Charge::to(stopped.cause, None, stopped.confidence);
                self.charge(end, charge);
                continue;
            }
            let mut charge = match slice.running {
                Running::Task(tid, theirs) => self.behind(&queue, start, end, tid, theirs),
                // Its quota is there again: what is left is the way out of idle.
                Running::Idle if throttled.is_some_and(|stopped| start >= stopped.to) => {
                    self.late_from_idle(cpu, start, end)
                }
                Running::Idle => self.behind_idle(&queue, start, end),
                _ => self.interruption((start, end, slice)).unwrap_or_else(Charge::unexplained),
            };
            if let Running::Task(tid, _) = slice.running
                && charge.cause == Cause::PreemptionDisabled
                && let Some((standing, _)) = self.goes_on(&queue, (start, end), tid)
            {
                self.note_standing(tid, standing);
            }
            if queued == Queued::Somewhere {
                charge.confidence = charge.confidence.min(Confidence::Medium);
            }
            if let Some((idle, confidence)) = elsewhere.as_ref().filter(|_| charge.cause.culprit_runs_first())
            {
                charge = Charge::to(Cause::WakePlacement, charge.by, *confidence);
                self.remark_idle(start, cpu, idle);
            }
            if let Running::Task(tid, theirs) = slice.running {
                let (within, runner) = ((start, end), (tid, theirs));
                charge = self.stopper_stands_still(cpu, within, runner).unwrap_or(charge);
                if charge.cause.culprit_runs_first() || self.is_lone_stopper(cpu, within, runner) {
                    self.but_for_thefts(cpu, within, runner, charge);
                }
            }
            self.charge_but_idle_ways(slice.running, end, charge);
        }
    }

    /// Charges a time in which a thread was in front by the rules, or held a lock, up to the last interrupt in it that was
    /// overdue: until that came, the thread itself may not have had the CPU.
    pub(super) fn but_for_thefts(
        &mut self,
        cpu: Cpu,
        (start, end): (Ns, Ns),
        (tid, prio): (Tid, Priority),
        charge: Charge,
    ) {
        let runner = Running::Task(tid, prio);
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return };
        for late in notably_late(timeline, start, end) {
            let (due, handled) = (late.due.max(start), late.handled.min(end));
            if handled <= self.at || handled <= due {
                continue;
            }
            let in_doubt = Charge { confidence: charge.confidence.min(self.unobserved()), ..charge };
            let overdue = match self.kept_from_interrupt(cpu, due, handled, tid, prio) {
                Some(stolen) if stolen.cause == Cause::Stolen => stolen,
                // It was seen with interrupts disabled, and so had the CPU.
                Some(disabled) if disabled.confidence == Confidence::High => charge,
                _ => in_doubt,
            };
            if overdue != charge {
                self.charge_but_idle_ways(runner, in_doubt_from(late).min(due), charge);
                self.charge_but_idle_ways(runner, due, in_doubt);
            }
            self.charge_but_idle_ways(runner, due, charge);
            self.charge_but_idle_ways(runner, handled, overdue);
        }
    }

    /// A thread had the CPU.
    fn behind(&self, queue: &Queue<'_>, start: Ns, end: Ns, tid: Tid, theirs: Priority) -> Charge {
        // Some thread ran, of which nothing is known.
        if is_stand_in(tid) {
            return Charge::unexplained();
        }
        let by = self.task(tid, theirs, start);
        let waiter = Contender::at(queue.waiter, start);
        let Some(runner) = Contender::of(&by) else { return Charge::unexplained() };
        let cause = match Relation::of(&waiter, &runner) {
            // Switched in already, and still booked as queued: two CPUs' clocks differ a little.
            Relation::SameThread => return Charge::to(Cause::Dispatch, None, Confidence::High),
            Relation::StopClass => Cause::StopTask,
            Relation::Deadline => Cause::DeadlineTask,
            Relation::HigherPriority if waiter.priority.class() == SchedClass::Fair => {
                return self.behind_realtime(queue, start, end, by);
            }
            Relation::HigherPriority => Cause::HigherPriorityTask,
            // It keeps a thread off the CPU that works for the late one, and goes before that one as well.
            Relation::EqualPriority if self.comes_before_victim(&runner, start) => Cause::HigherPriorityTask,
            Relation::EqualPriority => Cause::EqualPriorityTask,
            Relation::Fair if gave_way(self.timeline, queue, start, tid) => {
                let is_long =
                    queue.to - queue.from > self.ordinary_dispatch() && !self.timeline.is_end(queue.to);
                // It woke the waiter itself and went on, as ksoftirqd does between softirqs; below an interrupt it need not have.
                let is_waker = queue.waiter.tid == self.victim.tid
                    && matches!(self.open.begin, Begin::Woken(WakeCause::Thread(waker)) if waker == tid);
                return match is_long && is_waker {
                    true => Charge::to(Cause::FairQueue, Some(by), Confidence::Low),
                    false => Charge::to(Cause::Dispatch, None, Confidence::Low),
                };
            }
            Relation::Fair
                if waiter.priority.0 < runner.priority.0 && self.timeline.may_rank_by_nice(start) =>
            {
                return Charge::to(Cause::FairQueue, Some(by), Confidence::Low);
            }
            Relation::Fair => Cause::FairQueue,
            Relation::LowerPriority => return self.behind_lower(queue, start, end, tid, theirs),
            // The scheduler had decided against the thread that ran: it sets the flag that this one should yield as soon as a
            // thread is woken that comes first (`wakeup_preempt`, `resched_curr`, kernel/sched/core.c).
            Relation::Unknown if queue.timeline.shows_resched(start, end) => {
                return self.behind_lower(queue, start, end, tid, theirs);
            }
            Relation::Unknown if self.may_have_been_raised(queue, start, tid, theirs) => {
                let confidence =
                    if self.timeline.shows_interrupts() { Confidence::Medium } else { Confidence::Low };
                return Charge::to(Cause::HigherPriorityTask, Some(by), confidence);
            }
            Relation::Unknown => return behind_unranked(queue, start, end, by),
        };
        Charge::to(cause, Some(by), Confidence::High)
    }

    /// True of a thread that has the higher real-time priority than the late one, or of one that is real-time where that is not.
    fn comes_before_victim(&self, runner: &Contender, at: Ns) -> bool {
        Relation::of(&Contender::at(self.victim, at), runner) == Relation::HigherPriority
    }

    /// True where calls changed the priority of the thread that ran before a real-time one, and no event shows what it was
    /// between them.
    fn may_have_been_raised(&self, queue: &Queue<'_>, start: Ns, tid: Tid, theirs: Priority) -> bool {
        let is_unknown_by_calls = theirs == Priority::UNKNOWN
            && self.timeline.threads.get(tid).is_some_and(|thread| thread.priority_at(start) != theirs);
        is_unknown_by_calls
            && queue.class_at(start) == SchedClass::Realtime
            && queue.queued == Queued::Here
            && start < queue.first_choice
    }

    /// A SCHED_OTHER thread waits for a real-time one: by the rules, unless it put itself there.
    fn behind_realtime(&self, queue: &Queue<'_>, start: Ns, end: Ns, by: Culprit) -> Charge {
        let waiter = queue.waiter;
        match waiter.pinned_fair {
            // The kernel's own threads come and go: no thread is stuck behind them. One that has had its periods as SCHED_OTHER, and
            // was not seen to rise, is not about to.
            Some(pinned)
                if pinned.covers(start, end)
                    && !serves_the_kernel(&by)
                    && waiter.refused.is_none()
                    && (pinned.until.is_some() || !waiter.pacing.periods.are_by_sleeps()) =>
            {
                let confidence = if pinned.until.is_some() { Confidence::High } else { Confidence::Medium };
                Charge::to(Cause::PinnedBeforePriority, Some(by), confidence)
            }
            _ => Charge::to(Cause::HigherPriorityTask, Some(by), Confidence::High),
        }
    }

    /// A thread had the CPU that the waiter outranks.
    fn behind_lower(&self, queue: &Queue<'_>, start: Ns, end: Ns, tid: Tid, theirs: Priority) -> Charge {
        let ran = Some(self.task(tid, theirs, start));
        // Throttling would stop it, too: one of the two has another priority than it was shown with.
        let is_realtime = theirs.class() == SchedClass::Realtime;
        if let Some(charge) = self.in_window(queue, start, ran).filter(|_| !is_realtime) {
            return charge;
        }
        if start >= queue.first_choice {
            // The scheduler chose a lower thread while the waiter was queued.
            return match end - start <= PASSED_OVER {
                true => Charge::to(Cause::Dispatch, None, Confidence::Medium),
                false if is_realtime => Charge::unexplained(),
                false => self.passed_over(queue, start, ran),
            };
        }
        // It was there first, and has not given way yet.
        let lower_since = lower_since(queue, start, tid, theirs);
        let interrupted = queue
            .timeline
            .between(lower_since, end)
            .any(|(_, _, slice)| matches!(slice.running, Running::Irq(_) | Running::Softirq(_)));
        let kept = if interrupted { end - start } else { queue.first_choice - lower_since };
        if kept <= self.ordinary_dispatch() {
            return Charge::to(Cause::Dispatch, None, Confidence::High);
        }
        if queue.queued == Queued::Somewhere {
            return Charge::unexplained();
        }
        let by = ran;
        let first_seen = partition_from_end(&queue.timeline.irqs_off_samples, |seen| seen.at < start);
        let seen = queue.timeline.irqs_off_samples.range(first_seen..).take_while(|seen| seen.at <= end);
        let seen: Vec<&IrqsOffSample> = seen.filter(|seen| seen.tid == tid).collect();
        let preemption_off = seen.iter().any(|seen| !seen.irqs_off);
        if let Some((_, confidence)) = self.goes_on(queue, (start, end), tid) {
            return Charge::to(Cause::PreemptionDisabled, by, confidence);
        }
        if interrupted {
            return self.after_interrupt(kept, by, preemption_off);
        }
        if preemption_off {
            // Before the first sight of the flag, nothing shows that it was to yield.
            let early = seen.iter().any(|seen| (seen.at - lower_since).0.saturating_mul(2) <= kept.0);
            let confidence = if early { Confidence::High } else { Confidence::Medium };
            return Charge::to(Cause::PreemptionDisabled, by, confidence);
        }
        if shows_irqs_off(queue.timeline, tid, start, end) {
            return Charge::to(Cause::IrqsDisabled, by, Confidence::High);
        }
        let disabled = match queue.queued {
            // With preemption disabled alone, the interrupt that takes it in would have come.
            Queued::NotYet => Cause::IrqsDisabled,
            Queued::Here | Queued::Somewhere => Cause::PreemptionDisabled,
        };
        self.kept_from_interrupt(queue.cpu, start, end, tid, theirs)
            .unwrap_or_else(|| Charge::to(disabled, by, self.unobserved_below_interrupts()))
    }

    /// So long the kernel's own path from a wake-up to the switch takes at most, as a rule.
    fn ordinary_dispatch(&self) -> Ns {
        match self.timeline.seen.contains(Kind::Function) {
            true => TRACED_DISPATCH,
            false => ORDINARY_DISPATCH,
        }
    }

    /// A lower thread went on after an interrupt, so it had interrupts enabled. It is at fault when it
    /// was `seen` at work since; else the time may be the interrupt's own way out.
    fn after_interrupt(&self, kept: Ns, by: Option<Culprit>, seen: bool) -> Charge {
        if seen {
            Charge::to(Cause::PreemptionDisabled, by, Confidence::High)
        } else if kept <= LONGEST_INTERRUPT_EXIT {
            Charge::to(Cause::Dispatch, None, Confidence::Medium)
        } else {
            Charge::to(Cause::PreemptionDisabled, by, self.unobserved_below_interrupts())
        }
    }

    /// The CPU was idle.
    fn behind_idle(&self, queue: &Queue<'_>, start: Ns, end: Ns) -> Charge {
        if end - start > PASSED_OVER && self.timeline.ends_unseen(queue.timeline, start, end) {
            return Charge::unexplained();
        }
        if queue.class_at(start) == SchedClass::Realtime {
            if let Some(charge) = self.in_window(queue, start, None) {
                return charge;
            }
            if start >= queue.first_choice && end - start > PASSED_OVER || queue.idled_on {
                return self.passed_over(queue, start, None);
            }
        } else if start >= queue.first_choice && end - start > PASSED_OVER || queue.idled_on {
            return out_of_runtime(queue, start);
        }
        let in_doubt = queue.queued == Queued::Somewhere || self.may_lack_its_run(queue);
        if in_doubt && end - start > LONGEST_IDLE_EXIT {
            return Charge::unexplained();
        }
        let charge = self.late_from_idle(queue.cpu, start, end);
        let mut before = queue.timeline.between(queue.from, start);
        let awake =
            before.any(|(_, _, slice)| matches!(slice.running, Running::Irq(_) | Running::Softirq(_)));
        let woken_here = self.open.awake == Some(queue.cpu)
            && start >= self.open.waking
            && self.open.running.is_some_and(|running| start < running)
            && queue.waiter.tid == self.victim.tid;
        // An interrupt ends the idle state: what is left is the kernel's way through its idle loop.
        let awake = (awake || woken_here) && !slept(queue.timeline, start, end);
        if charge.cause != Cause::IdleExit || !awake {
            return charge;
        }
        let confidence = match end - start <= LONGEST_IDLE_LOOP {
            true => Confidence::Medium,
            false => Confidence::Low,
        };
        Charge::to(Cause::Dispatch, None, confidence)
    }

    /// The bandwidth window at `at`, if there is one on the waiter's CPU; `ran` had the CPU then.
    fn in_window(&self, queue: &Queue<'_>, at: Ns, ran: Option<Culprit>) -> Option<Charge> {
        if queue.class_at(at) != SchedClass::Realtime || queue.queued != Queued::Here {
            return None;
        }
        let window = self.timeline.windows.at(queue.cpu, at)?;
        Some(self.by_bandwidth(window, ran))
    }

    /// The scheduler left a runnable real-time thread waiting, and no switch away from one showed it.
    fn passed_over(&self, queue: &Queue<'_>, at: Ns, ran: Option<Culprit>) -> Charge {
        if queue.class_at(at) != SchedClass::Realtime {
            return out_of_runtime(queue, at);
        }
        let (user, share, over) = self.timeline.realtime_use(queue.timeline, queue.from);
        let saw_idle =
            queue.timeline.between(queue.from, queue.to).any(|(_, _, slice)| slice.running == Running::Idle);
        if saw_idle && queue.to - queue.from <= LONGEST_WAY_OFF {
            // It was to sleep, and was woken when the idle task had been chosen.
            return Charge::unexplained();
        }
        let window = Window {
            cpu: queue.cpu,
            start: at,
            end: None,
            passed_over: queue.waiter.tid,
            saw_idle,
            ran: None,
            most_used_by: user,
            used: (share, over),
            hurt: true,
            is_cut: self.timeline.is_end(queue.to),
        };
        self.by_bandwidth(&window, ran)
    }

    /// Charges RT throttling to the thread that used the time up, and a server to the thread that it served: `ran`.
    fn by_bandwidth(&self, window: &Window, ran: Option<Culprit>) -> Charge {
        let bandwidth = self.timeline.bandwidth.at(window.start);
        let (cause, confidence) = mechanism(window, &bandwidth);
        let by = match cause {
            Cause::FairServer => match (window.ran, ran) {
                // A kworker has another name by now.
                (Some(first @ Culprit::Task { tid: first_tid, .. }), Some(Culprit::Task { tid, .. }))
                    if first_tid == tid =>
                {
                    Some(first)
                }
                (_, ran) => ran,
            },
            Cause::Unexplained => None,
            _ => window.user(bandwidth.period),
        };
        Charge::to(cause, by, confidence)
    }
}

/// A thread had the CPU, and which of the two comes first is not known.
fn behind_unranked(queue: &Queue<'_>, start: Ns, end: Ns, by: Culprit) -> Charge {
    let was_there = start < queue.first_choice;
    let kept = if was_there { queue.first_choice - queue.from } else { end - start };
    if kept <= ORDINARY_DISPATCH {
        return Charge::to(Cause::Dispatch, None, Confidence::Medium);
    }
    Charge::to(Cause::OtherTask, Some(by), Confidence::Medium)
}

/// Since when the thread that runs at `at` has had this priority: where another one of it was seen in the wait, since then.
fn lower_since(queue: &Queue<'_>, at: Ns, tid: Tid, theirs: Priority) -> Ns {
    let before = queue.timeline.between(queue.from, at);
    let otherwise = before.filter(
        |(_, _, slice)| matches!(slice.running, Running::Task(ran, prio) if ran == tid && prio != theirs),
    );
    otherwise.last().map_or(queue.from, |(_, end, _)| end)
}

/// The scheduler leaves a runnable thread waiting that is no real-time one. It does so with a SCHED_DEADLINE thread whose
/// runtime is used up (`update_curr_dl`, kernel/sched/deadline.c); no cgroup of other threads is known to have a quota.
fn out_of_runtime(queue: &Queue<'_>, at: Ns) -> Charge {
    if queue.class_at(at) != SchedClass::Deadline || queue.queued != Queued::Here {
        return Charge::unexplained();
    }
    let mut before = queue.timeline.between(queue.from - Ns(1), queue.from);
    let ran =
        before.any(|(_, _, slice)| matches!(slice.running, Running::Task(tid, _) if tid == queue.waiter.tid));
    Charge::to(Cause::DeadlineThrottled, None, if ran { Confidence::High } else { Confidence::Medium })
}

/// True when the idle task of a CPU settled down again in `from..to`, and slept on. As a thread is queued for it the CPU may be on its
/// way into idle; the interrupt that then calls it back comes at once, but for that of a `guest` whose CPU stands still.
fn settled_down(timeline: &CpuTimeline, from: Ns, to: Ns, guest: bool) -> bool {
    timeline.between(from, to).any(|(start, end, slice)| {
        let on_its_way = if guest && start == from { PASSED_OVER } else { Ns::ZERO };
        let first = partition_from_end(&timeline.idle_signs, |sign| *sign < start + on_its_way);
        let mut signs = timeline.idle_signs.range(first..).take_while(|sign| **sign < end);
        slice.running == Running::Idle && signs.any(|sign| end - *sign >= IDLED_ON)
    })
}

fn serves_the_kernel(by: &Culprit) -> bool {
    matches!(by, Culprit::Task { comm, .. } if is_housekeeping(comm.as_str()))
}

/// True where `runner` had the CPU as a thread was woken that the fair scheduler lets run first: that one was chosen at once, and
/// the other is still runnable. The waiter had its turn at once, and what kept the other on its CPU is not shown. Where the recording ends so soon, it may
/// have had it just so.
fn gave_way(timeline: &Timeline, queue: &Queue<'_>, start: Ns, runner: Tid) -> bool {
    let is_first = start < queue.first_choice && queue.first_choice == queue.to;
    let is_preempted = || timeline.threads.get(runner).is_some_and(is_queued_at(queue.to));
    is_first && queue.to - queue.from <= LONGEST_PREEMPTION && (is_preempted() || timeline.is_end(queue.to))
}

/// True of a thread that is runnable at an instant, and has no CPU.
pub(super) fn is_queued_at(at: Ns) -> impl Fn(&Thread) -> bool {
    move |thread| thread.history.time_queued(at, at + Ns(1)) > Ns::ZERO
}
