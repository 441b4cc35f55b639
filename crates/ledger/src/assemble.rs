//! From events to what is kept of each thread: the engine makes the timeline, and each activation that ends on the way
//! is charged, counted, and kept if it is among the worst.

mod checkpoint;
mod passed_over;
mod record;

pub(crate) use self::record::on_cpu;
use crate::chains::Tracker;
use crate::charge;
use crate::charge::notes::VerdictNote;
use crate::engine::{EndedActivation, Engine};
use crate::identities::Identity;
use crate::late_judge::{EndedTimes, LateJudge};
use crate::model::{Activation, Chains};
use crate::options::Options;
use crate::scope::AppliedScope;
use crate::stats::{Kept, Stats, StatsByThread, Times, kept_of, rank};
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, WakeCause};
use crate::timeline::cpus::CpuTimeline;
use crate::timeline::states::State;
use whylate_base::{Ns, Tid};
use whylate_events::{Event, Kind, TraceInfo};

/// How far back beyond the oldest activation in progress: one period of RT bandwidth control.
const LOOK_BACK: Ns = Ns::from_secs(1);
/// A chain that has not gone on for so long is over.
const LONGEST_CHAIN: Ns = Ns::from_secs(5);
/// Events between two clean-ups; as many as there are threads, where these are more: a clean-up looks at each.
const CLEAN_UP_EVERY: u64 = 1 << 16;

/// See the module.
pub(crate) struct Assembler<'a> {
    pub(crate) options: &'a Options,
    /// Of the activations that are asked for.
    pub(crate) stats: StatsByThread,
    /// Of all activations, where only a part of the trace is asked for: what is usual is so beyond that part.
    whole: Option<StatsByThread>,
    engine: Engine<'a>,
    chains: Option<Tracker>,
    events: u64,
    next_clean_up: u64,
    /// What wants each activation that ends.
    each: Option<Each<'a>>,
    /// Decides what is kept, of a stream without end; otherwise each thread's worst activations are.
    judge: Option<&'a dyn LateJudge>,
    /// What the judge had kept, since it was last taken away.
    late: Vec<Kept>,
}

/// Takes each activation as it ends, charged, without its verdict.
pub(crate) type Each<'a> = &'a mut (dyn FnMut(&Activation) + 'a);

impl<'a> Assembler<'a> {
    pub(crate) fn new(options: &'a Options, info: &TraceInfo, each: Option<Each<'a>>) -> Assembler<'a> {
        let mut engine = Engine::new(options, info);
        let chains = options.chains.clone().map(Tracker::new);
        engine.timeline.links = chains.is_some().then(Vec::new);
        Assembler {
            options,
            stats: StatsByThread::default(),
            whole: (!options.scope.is_whole()).then(StatsByThread::default),
            engine,
            chains,
            events: 0,
            next_clean_up: CLEAN_UP_EVERY,
            each,
            judge: None,
            late: Vec::new(),
        }
    }

    /// The same of a stream without end.
    pub(crate) fn judged(options: &'a Options, info: &TraceInfo, judge: &'a dyn LateJudge) -> Assembler<'a> {
        Assembler { judge: Some(judge), ..Assembler::new(options, info, None) }
    }

    /// What the judge had kept since the last call.
    pub(crate) fn take_late(&mut self) -> Vec<Kept> {
        std::mem::take(&mut self.late)
    }

    /// Ends the activations of threads that have been asleep since before `until`.
    pub(crate) fn settle(&mut self, until: Ns) {
        checkpoint::end_sleepers(&mut self.engine, until);
        self.take_ended();
    }

    /// What is known of the trace.
    pub(crate) fn timeline(&self) -> &Timeline {
        &self.engine.timeline
    }

    /// The same, for what other sources than events show.
    pub(crate) fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.engine.timeline
    }

    /// The part of the trace that is asked for; `None` where that is all of it.
    pub(crate) fn scope(&self) -> Option<&AppliedScope> {
        self.engine.scope.as_ref()
    }

    /// The stream ended; of a recording without events the scope is known only now.
    pub(crate) fn complete_scope(&mut self) {
        if self.engine.timeline.first.is_none() {
            self.engine.begins(Ns::ZERO);
        }
    }

    /// What shows what is usual for a thread.
    pub(crate) fn usual(&self, tid: Tid) -> Option<&Stats> {
        self.whole.as_ref().unwrap_or(&self.stats).get(tid)
    }

    /// Takes in the next event, which is of that `kind`.
    #[inline]
    pub(crate) fn apply(&mut self, event: &Event, kind: Kind) {
        self.events += 1;
        if self.events >= self.next_clean_up {
            let threads = self.engine.timeline.threads.len() as u64;
            self.next_clean_up = self.events + CLEAN_UP_EVERY.max(threads);
            self.clean_up(event.ts.max(self.engine.timeline.now));
        }
        self.engine.apply(event, kind);
        if self.chains.is_some() {
            self.follow_chains();
        }
        if !self.engine.ended.is_empty() {
            self.take_ended();
        }
    }

    /// Takes in what the last event shows of chains.
    fn follow_chains(&mut self) {
        let Some(links) = self.engine.timeline.links.as_mut().filter(|links| !links.is_empty()) else {
            return;
        };
        let mut taken = std::mem::take(links);
        if let Some(chains) = &mut self.chains {
            taken.drain(..).for_each(|link| chains.follow(&self.engine.timeline, link));
        }
        // Its memory serves the next ones.
        self.engine.timeline.links = Some(taken);
    }

    /// What follows about chains, once the trace is over.
    pub(crate) fn finish_chains(&mut self) -> Option<Chains> {
        let chains = self.chains.take()?;
        Some(chains.finish_all(&self.engine.timeline, |thread| self.options.selects(thread)))
    }

    /// The trace ended.
    pub(crate) fn end(&mut self) {
        self.engine.end_unseen_sleeps();
        self.follow_chains();
        self.take_ended();
        let timeline = &self.engine.timeline;
        let now = timeline.now;
        let open = timeline.threads.active_ids(|thread| thread.open.is_some());
        self.engine.timeline.is_over = true;
        self.engine.note_clock();
        for tid in open {
            let (cpus, is_text) = (&self.engine.timeline.cpus, self.engine.timeline.is_text);
            let is_unseen = |on| cpus.get(on).is_none_or(CpuTimeline::is_unseen);
            let last_row = |on| cpus.get(on).filter(|_| is_text).and_then(|cpu| cpu.last_event);
            let shows_switches = |on| cpus.get(on).is_some_and(|cpu| cpu.switches > 0);
            let not_since = |on, since| shows_switches(on) && last_row(on).is_some_and(|last| last <= since);
            let thread = self.engine.timeline.threads.get_mut(tid);
            match thread.state() {
                State::Blocked { wait, .. } if !wait.continues() && !thread.is_marked => {
                    let since = thread.since();
                    self.engine.end(tid, since, since.unwrap_or(now));
                }
                // Of that CPU the recording has nothing: it may have run there at once. Who asks for it shall see that it was woken.
                State::Queued(on) if is_unseen(on) && !self.options.selects(thread) => thread.open = None,
                // Rows of another CPU show neither that it ran on, nor that it waited.
                State::Running(on) => {
                    let seen = last_row(on).unwrap_or(now);
                    self.engine.end(tid, None, seen);
                }
                state => {
                    let seen = thread.since().unwrap_or(now);
                    let ends_there = match state {
                        State::Queued(on) => not_since(on, seen),
                        // Text is pasted in pieces: the thread is in no later one.
                        _ => state == State::Unknown && is_text,
                    };
                    self.engine.end(tid, None, if ends_there { seen } else { now });
                }
            }
            self.follow_chains();
            self.take_ended();
        }
        self.engine.timeline.windows.close_all(now);
    }

    /// Keeps an activation that another tool measured; `too_late`: by a limit of that tool.
    pub(crate) fn keep_measured(
        &mut self,
        activation: Activation,
        notes: Vec<impl Into<VerdictNote>>,
        too_late: bool,
    ) {
        let thread = self.engine.timeline.threads.get_mut(activation.tid);
        if !self.options.selects(thread) {
            return;
        }
        let out_of_scope = |scope: &AppliedScope| {
            !scope.overlaps(activation.due, activation.end) || !scope.has_cpu(activation.cpu)
        };
        if self.engine.scope.as_ref().is_some_and(out_of_scope) {
            return;
        }
        let Some(stats) = self.stats.of(activation.tid, rank(&activation)) else { return };
        thread.is_reported = true;
        let policy = thread.policy_at(activation.due);
        let notes = notes.into_iter().map(Into::into);
        let notes = notes.chain(too_late.then_some(VerdictNote::TooLate)).collect();
        let times = Times {
            latency: activation.latency(),
            response: activation.response(),
            whole: activation.is_whole(),
            is_start_or_end: activation.is_start_or_end(),
        };
        let Activation { comm, priority, .. } = activation;
        stats.identities.count(Identity { comm, policy, priority });
        stats.count(&times, &activation.ledger, self.options.deadline);
        self.each.iter_mut().for_each(|each| each(&activation));
        let number = stats.activations;
        stats.keep(Kept { activation, notes, number }, kept_of(self.options.worst));
    }

    /// The deadline that a late activation missed, where what decides on lateness knows one.
    pub(crate) fn missed_deadline(&self, tid: Tid, due: Ns) -> Option<Ns> {
        self.judge?.deadline(tid, due)
    }

    /// Charges the activations that have ended.
    fn take_ended(&mut self) {
        let mut ended = std::mem::take(&mut self.engine.ended);
        for ended in &ended {
            self.charge(ended);
            self.leave_out_of_many();
        }
        ended.clear();
        // Its memory serves the next ones.
        self.engine.ended = ended;
    }

    /// Leaves threads out before they are very many.
    fn leave_out_of_many(&mut self) {
        if self.stats.is_full() {
            self.leave_out();
        }
        if let Some(whole) = self.whole.as_mut().filter(|whole| whole.is_full()) {
            whole.leave_out();
        }
    }

    /// Leaves out all threads but those with the worst activations, where they are very many.
    pub(crate) fn leave_out(&mut self) {
        for tid in self.stats.leave_out() {
            self.engine.timeline.threads.get_mut(tid).is_reported = false;
        }
    }

    /// Forgets threads that ended: a stream without end has no use for their sums.
    fn forget_ended(&mut self) {
        let threads = &mut self.engine.timeline.threads;
        let has_ended = |tid| threads.get(tid).is_none_or(|thread| thread.ended);
        for tid in self.stats.remove_all(has_ended) {
            threads.get_mut(tid).is_reported = false;
        }
    }

    fn charge(&mut self, ended: &EndedActivation) {
        let EndedActivation { tid, ref open, done, end, in_scope, .. } = *ended;
        let Options { worst, deadline, .. } = *self.options;
        let keep = kept_of(worst);
        self.engine.timeline.threads.get_mut(tid).is_reported = true;
        let timeline = &self.engine.timeline;
        let Some(thread) = timeline.threads.get(tid) else { return };
        let is_start_or_end = ended.starts_program || ended.ends_program(thread);
        let deadline = deadline.filter(|_| !is_start_or_end);
        // What is shown of no whole period, and the start and the end of a program, are no measure of the thread's periods.
        let is_period = open.begin != Begin::TraceStart && !is_start_or_end;
        let rank = (is_period, end.since(open.due));
        let times = Times {
            // A marker is of a thread that runs.
            latency: open
                .running
                .filter(|_| is_period && open.begin != Begin::Marked && !open.came_unseen())
                .map(|running| running.since(open.due)),
            response: end.since(open.due),
            whole: done.is_some() && is_period,
            is_start_or_end,
        };
        let whole = self.whole.as_mut().and_then(|whole| whole.of(tid, rank));
        if !in_scope {
            let Some(whole) = whole else { return };
            if let Some(ledger) = charge::plain::plain(timeline, thread, open, end) {
                return whole.count(&times, &ledger, None);
            }
            let (ledger, _) = charge::ledger(timeline, thread, open, end);
            whole.count(&times, &ledger, None);
            passed_over::note(&mut self.engine.timeline, &ledger);
            return;
        }
        let Some(stats) = self.stats.of(tid, rank) else {
            self.engine.timeline.threads.get_mut(tid).is_reported = false;
            return;
        };
        let kept = match self.judge {
            Some(judge) => judge.is_late(&EndedTimes {
                tid,
                comm: thread.comm_at(end),
                due: open.due,
                running: open.running.filter(|_| open.begin != Begin::Marked),
                end,
                is_whole: times.whole,
                is_period,
                may_be_periodic: matches!(open.begin, Begin::Woken(WakeCause::Timer { .. }) | Begin::Marked),
            }),
            None => stats.would_keep(is_start_or_end, end - open.due, keep),
        };
        stats.identities.count(thread.identity_in(open.due, end));
        if !kept
            && self.each.is_none()
            && let Some(ledger) = charge::plain::plain(timeline, thread, open, end)
        {
            // Its notes are for a verdict, which it gets none of.
            debug_assert_eq!(charge::ledger(timeline, thread, open, end).0, ledger.to_vec());
            whole.into_iter().for_each(|whole| whole.count(&times, &ledger, None));
            return stats.count(&times, &ledger, deadline);
        }
        let (ledger, mut notes) = charge::ledger(timeline, thread, open, end);
        debug_assert!(charge::tiles(&ledger, open.due, end), "{ledger:?} does not tile {}..{end}", open.due);
        whole.into_iter().for_each(|whole| whole.count(&times, &ledger, None));
        stats.count(&times, &ledger, deadline);
        passed_over::note(&mut self.engine.timeline, &ledger);
        let timeline = &self.engine.timeline;
        let Some(thread) = timeline.threads.get(tid) else { return };
        let ledger = match &mut self.each {
            None => ledger,
            Some(each) => {
                let ledger = if self.options.every_segment { ledger } else { checkpoint::regroup(ledger) };
                let activation = record::without_tracks(timeline, thread, ended, ledger);
                each(&activation);
                activation.ledger
            }
        };
        if kept {
            let activation = record::record(timeline, thread, ended, checkpoint::regroup(ledger));
            notes.extend(charge::timers::longest(timeline, &activation.ledger).map(VerdictNote::Timers));
            notes.extend(charge::items::executed(timeline, &activation.ledger));
            let kept = Kept { activation, notes, number: stats.activations };
            match self.judge {
                Some(_) => self.late.push(kept),
                None => stats.keep(kept, keep),
            }
        }
    }

    /// Forgets what no activation in progress can need. It is `now`.
    fn clean_up(&mut self, now: Ns) {
        if self.judge.is_some() {
            self.forget_ended();
        }
        if self.engine.timeline.threads.are_very_many() {
            checkpoint::end_sleepers(&mut self.engine, Ns::MAX);
            self.take_ended();
        }
        if self.engine.timeline.held() > checkpoint::MUCH {
            checkpoint::checkpoint(&mut self.engine, now - LOOK_BACK);
            self.take_ended();
        }
        let oldest = self
            .engine
            .timeline
            .threads
            .active()
            .filter_map(|thread| Some((thread, thread.open.as_ref()?)))
            .filter(|(thread, _)| self.options.selects(thread))
            .map(|(_, open)| open.charged_until())
            .min();
        if let Some(chains) = &mut self.chains {
            chains.forget(now - LONGEST_CHAIN);
        }
        let in_chains = self.chains.as_ref().and_then(Tracker::needs_since);
        let oldest = oldest.unwrap_or(now).min(in_chains.unwrap_or(now)).min(now);
        self.engine.timeline.forget(oldest - LOOK_BACK);
    }
}
