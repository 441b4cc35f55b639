//! What the threads of a guest's CPUs, and those that woke them, did on the host: by the host's own ledger.

use super::observe::Exited;
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::EventSource;
use whylate_ledger::{
    Activation, Cause, Culprit, HostState, Options, Segment, Select, Trigger, explain_each,
};

/// The activations of some threads of the host, as far as they are needed.
#[derive(Debug, Default)]
pub(super) struct History {
    threads: BTreeMap<Tid, Vec<HostActivation>>,
}

#[derive(Debug)]
struct HostActivation {
    comm: Comm,
    due: Ns,
    end: Ns,
    woken_by: Option<Tid>,
    ledger: Vec<Segment>,
}

/// A stay in the host's time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stay {
    pub(super) from: Ns,
    pub(super) to: Ns,
    pub(super) thread: (Tid, Comm),
    pub(super) state: HostState,
    pub(super) exit: Option<String>,
}

/// A delay of a thread, for sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    pub(super) cause: Cause,
    pub(super) by: Option<Culprit>,
    pub(super) from: Ns,
    pub(super) to: Ns,
}

/// True of time in which a thread wanted to run and could not; a sleep for a device or a timer is none.
fn is_delay(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::OwnWork
            | Cause::Unexplained
            | Cause::TraceLoss
            | Cause::TimerSlack
            | Cause::RelativeSleep
            | Cause::KernelSleep
            | Cause::OwnWait
            | Cause::BlockIo
    )
}

impl History {
    /// Reads a recording of the host: the ledgers of `threads` in `windows`, which are sorted; `delayed` gets every delay of
    /// a thread.
    pub(super) fn of(
        source: impl EventSource,
        threads: &[Tid],
        windows: &[(Ns, Ns)],
        mut delayed: impl FnMut(Tid, Delay),
    ) -> History {
        let tasks = threads.iter().map(|&tid| Select::Tid(tid)).collect();
        let options = Options { tasks, worst: 1, every_segment: true, ..Options::default() };
        let mut history = History::default();
        explain_each(source, &options, &mut |activation: &Activation| {
            for segment in activation.ledger.iter().filter(|segment| is_delay(segment.cause)) {
                let Segment { cause, by, start: from, end: to, .. } = *segment;
                delayed(activation.tid, Delay { cause, by, from, to });
            }
            history.keep(activation, windows);
        });
        history.threads.values_mut().for_each(|all| all.sort_by_key(|activation| activation.due));
        history
    }

    fn keep(&mut self, activation: &Activation, windows: &[(Ns, Ns)]) {
        let first = windows.partition_point(|&(_, to)| to <= activation.due);
        if windows.get(first).is_none_or(|&(from, _)| from >= activation.end) {
            return;
        }
        let in_windows = |segment: &&Segment| {
            let first = windows.partition_point(|&(_, to)| to <= segment.start);
            windows.get(first).is_some_and(|&(from, _)| from < segment.end)
        };
        let woken_by = match activation.trigger {
            Trigger::Thread { tid, .. } | Trigger::Upon { tid, .. } => Some(tid),
            _ => None,
        };
        let kept = HostActivation {
            comm: activation.comm,
            due: activation.due,
            end: activation.end,
            woken_by,
            ledger: activation.ledger.iter().filter(in_windows).copied().collect(),
        };
        self.threads.entry(activation.tid).or_default().push(kept);
    }

    /// What the thread of a guest's CPU did from `from` to `to`, in time order: both are in one of the windows.
    pub(super) fn stays(&self, vcpu: (Tid, Comm), exits: &[Exited], from: Ns, to: Ns) -> Vec<Stay> {
        let mut stays = Vec::new();
        let mut at = from;
        let all = self.threads.get(&vcpu.0).map_or(&[][..], Vec::as_slice);
        // Activations of one thread do not overlap, but one may be due before the one before it is done.
        let first = all.partition_point(|activation| activation.end <= from);
        for activation in all[first..].iter().take_while(|activation| activation.due < to) {
            if activation.due > at {
                self.sleep(vcpu, activation.woken_by, (at, activation.due.min(to)), &mut stays);
                at = activation.due.min(to);
            }
            for segment in &activation.ledger {
                let (start, end) = (segment.start.max(at), segment.end.min(to));
                if start < end {
                    let Segment { cause, by, cpu, .. } = *segment;
                    let state = state(cause, by, cpu);
                    stays.extend(state.map(|state| Stay {
                        from: start,
                        to: end,
                        thread: vcpu,
                        state,
                        exit: None,
                    }));
                    at = end;
                }
            }
        }
        // Behind the last activation that was seen nothing shows whether it slept.
        let mut split = Vec::with_capacity(stays.len());
        stays.into_iter().for_each(|stay| with_exits(stay, exits, &mut split));
        split
    }

    /// A sleep, and what kept the thread that ended it from doing so earlier.
    fn sleep(&self, vcpu: (Tid, Comm), waker: Option<Tid>, (from, to): (Ns, Ns), stays: &mut Vec<Stay>) {
        let asleep = |from, to| Stay { from, to, thread: vcpu, state: HostState::Asleep, exit: None };
        let mut at = from;
        // The activation in which it woke the CPU, with what delayed it since it was due.
        let waking = waker.and_then(|tid| {
            let all = self.threads.get(&tid)?;
            Some((tid, all.iter().find(|activation| activation.due <= to && to <= activation.end)?))
        });
        for segment in waking.iter().flat_map(|(_, waking)| &waking.ledger) {
            let (start, end) = (segment.start.max(at), segment.end.min(to));
            if start >= end || !is_delay(segment.cause) {
                continue;
            }
            let Some((tid, waking)) = waking else { continue };
            if start > at {
                stays.push(asleep(at, start));
            }
            let Segment { cause, by, cpu, .. } = *segment;
            let state = HostState::WakerDelayed { cause, by, cpu };
            stays.push(Stay { from: start, to: end, thread: (tid, waking.comm), state, exit: None });
            at = end;
        }
        if at < to {
            stays.push(asleep(at, to));
        }
    }
}

/// What a segment of the host's ledger shows; `None` where it does not.
fn state(cause: Cause, by: Option<Culprit>, cpu: Cpu) -> Option<HostState> {
    match cause {
        Cause::OwnWork => Some(HostState::Ran),
        Cause::Unexplained | Cause::TraceLoss => None,
        _ if is_delay(cause) => Some(HostState::Delayed { cause, by, cpu }),
        _ => Some(HostState::Asleep),
    }
}

/// A stay, divided where the CPU left its guest's code and came back to it.
fn with_exits(stay: Stay, exits: &[Exited], split: &mut Vec<Stay>) {
    let first = exits.partition_point(|exit| exit.to <= stay.from);
    let inside = exits[first..].iter().take_while(|exit| exit.from < stay.to);
    if stay.state != HostState::Ran {
        // It left the guest's code before it was taken off the CPU, or fell asleep.
        let exit = inside.map(|exit| exit.reason.name().into_owned()).next();
        split.push(Stay { exit, ..stay });
        return;
    }
    let mut at = stay.from;
    for exit in inside {
        let (from, to) = (exit.from.max(at), exit.to.min(stay.to));
        if from >= to {
            continue;
        }
        if from > at {
            split.push(Stay { from: at, to: from, ..stay.clone() });
        }
        split.push(Stay { from, to, exit: Some(exit.reason.name().into_owned()), ..stay.clone() });
        at = to;
    }
    if at < stay.to {
        split.push(Stay { from: at, ..stay });
    }
}

#[cfg(test)]
mod tests;
