//! All threads and CPUs of a recording while it is read.

use super::facts::MachineFacts;
use super::tape::{Mark, State, Tape};
use super::ticks::KernelTimers;
use super::track::{Series, Track};
use crate::model::Machine;
use rustc_hash::FxHashMap;
use whylate_base::{Comm, Cpu, Ns, Priority, SchedClass, Tid};

/// No kernel supports more CPUs (`CONFIG_NR_CPUS`); a damaged recording may name any number.
const MOST_CPUS: usize = 8192;

/// See the module.
pub(super) struct Reading {
    pub(super) first: Option<Ns>,
    pub(super) now: Ns,
    pub(super) tapes: Vec<Tape>,
    by_tid: FxHashMap<Tid, usize>,
    pub(super) tracks: Vec<Track>,
    pub(super) series: Series,
    pub(super) facts: MachineFacts,
    pub(super) timers: KernelTimers,
    pub(super) preempt_rt: bool,
    /// Futexes and sleeps by the numbers of the recording's architecture.
    pub(super) calls: Option<super::calls::CallNumbers>,
    /// CPU time of which it is not known what had it.
    pub(super) unknown: Ns,
    pub(super) switches: u64,
    /// When each thread is due and runs is kept.
    pub(super) watches: bool,
}

impl Reading {
    pub(super) fn new() -> Reading {
        Reading {
            first: None,
            now: Ns::ZERO,
            tapes: Vec::new(),
            by_tid: FxHashMap::default(),
            tracks: Vec::new(),
            series: Series::default(),
            facts: MachineFacts::default(),
            timers: KernelTimers::default(),
            preempt_rt: false,
            calls: None,
            unknown: Ns::ZERO,
            switches: 0,
            watches: false,
        }
    }

    /// A CPU; `None` for one that cannot be.
    pub(super) fn track(&mut self, cpu: Cpu) -> Option<&mut Track> {
        let at = cpu.index();
        if at >= MOST_CPUS {
            return None;
        }
        let first = self.first.unwrap_or(self.now);
        while self.tracks.len() <= at {
            self.tracks.push(Track::new(first));
        }
        self.tracks.get_mut(at)
    }

    /// The index of a thread; it is made with the first event that names it.
    pub(super) fn index_of(&mut self, tid: Tid, comm: Comm) -> usize {
        if let Some(&at) = self.by_tid.get(&tid) {
            if !comm.is_empty() {
                self.tapes[at].comm = comm;
            }
            return at;
        }
        self.tapes.push(Tape::new(tid, comm));
        self.by_tid.insert(tid, self.tapes.len() - 1);
        self.tapes.len() - 1
    }

    /// A thread that is known.
    pub(super) fn known(&self, tid: Tid) -> Option<usize> {
        self.by_tid.get(&tid).copied()
    }

    /// The thread that a CPU runs.
    pub(super) fn current(&self, cpu: Cpu) -> Option<usize> {
        self.tracks.get(cpu.index()).and_then(|track| track.current)
    }

    /// Counts the time of a CPU's thread until now.
    pub(super) fn account(&mut self, cpu: Cpu) {
        let now = self.now;
        let Some(track) = self.track(cpu) else { return };
        let since = std::mem::replace(&mut track.since, now);
        let works = !track.has_frames();
        let Some(thread) = track.current.filter(|_| works) else { return };
        let length = now.since(since);
        self.tapes[thread].run(length);
        if self.watches {
            self.tapes[thread].seen_slice(since, now, cpu);
        }
        let is_realtime = |own: Priority| own.class() == SchedClass::Realtime;
        if self.tapes[thread].priority.is_some_and(is_realtime)
            && let Some(track) = self.track(cpu)
        {
            track.realtime += length;
        }
    }

    /// The CPU that a thread runs on counts its time until now.
    pub(super) fn account_thread(&mut self, thread: usize) {
        if let State::Running(cpu) = self.tapes[thread].state {
            self.account(cpu);
        }
    }

    /// True where real-time threads were passed over although they alone had used less than their bandwidth, and with the
    /// interrupts on top of them they had used it up.
    pub(super) fn interrupts_count(&self, machine: &Machine) -> bool {
        let Some(runtime) = machine.throttle() else { return false };
        let away = |used: Ns| i128::from((used - runtime).0.abs());
        let (mut alone, mut together) = (0i128, 0i128);
        for &(own, interrupts) in self.tracks.iter().flat_map(|track| &track.used_up) {
            alone += away(own);
            together += away(own + interrupts);
        }
        // Runtime is used up at a tick, and what was used beyond it counts in the next period: so much shows nothing.
        together + i128::from(2 * machine.tick.0) < alone
    }

    /// What real-time threads had used on each CPU of the period of their bandwidth that was in progress at the beginning:
    /// where they are passed over in it, they have used all of it then.
    pub(super) fn rt_used_before(&self, machine: &Machine, start: Ns) -> Vec<Ns> {
        let (Some(end), Some(runtime)) = (machine.rt_period_end, machine.throttle()) else {
            return Vec::new();
        };
        let used = |track: &Track| match track.first_passed_over {
            Some((at, realtime, interrupts)) if at - start < end => match machine.interrupts_count {
                true => runtime.since(realtime + interrupts),
                false => runtime.since(realtime),
            },
            _ => Ns::ZERO,
        };
        self.tracks.iter().map(used).collect()
    }

    /// A thread leaves its sleep.
    pub(super) fn wake_up(&mut self, thread: usize, at: Ns, by: Option<(usize, usize)>, cpu: Cpu) {
        let irq_time = self.track(cpu).map(|track| track.interrupted(at));
        let first = self.first.unwrap_or(at);
        let tape = &mut self.tapes[thread];
        if tape.state == State::Unknown {
            tape.sleep(first);
        }
        tape.state = State::Queued { since: at, woken_at_irq_time: irq_time };
        tape.pending = None;
        tape.wants = None;
        let waker = by.map(|(by, _)| by);
        let Some(sleep) = tape.last_sleep() else { return };
        sleep.woken = Some(super::tape::Woken { at, by: waker, cpu, dispatch: None });
        let (lock, since) = (sleep.lock, sleep.at);
        if let Some((by, mark)) = by {
            let made = match lock {
                Some(key) => Mark::Release { key, to: thread, since },
                None => Mark::Wake(thread),
            };
            self.tapes[by].insert(mark, made);
        }
    }
}
