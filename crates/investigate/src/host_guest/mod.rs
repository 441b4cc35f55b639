//! A guest's recording explained with that of its host.
//!
//! ```text
//! guest.dat ─> gaps: when each CPU traced nothing ──┐
//! host.dat  ─> observe: when the CPUs' threads ─────┴> join: offset, drift, error, or a refusal
//!                       were away, and exits                    │
//! host.dat  ─> history: the host's own ledger of these threads ─┴─> ledger::add_host: stolen time, resolved
//! ```
//!
//! The host's recording is read twice: which of its threads are the guest's CPUs is known only at its end.

mod error;
mod gaps;
mod history;
mod join;
mod observe;
mod vcpu_names;

pub use error::{HostJoinError, JoinError};

use gaps::Gaps;
use history::{Delay, History};
use join::Join;
use observe::{Away, Observed, VcpuThread};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use vcpu_names::VcpuName;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Kind, KindSet};
use whylate_intake::OpenError;
use whylate_ledger::{
    Cause, Culprit, Explanation, HostDelay, HostRecording, HostStay, HostVcpu, WANTED, add_host, is_stand_in,
};

/// What the host's recording is read for.
const OF_HOST: KindSet = KindSet::of(&[Kind::Switch, Kind::Waking, Kind::Kvm, Kind::Lost]);
/// Threads that wake the guest's CPUs and are explained as well, the most frequent ones.
const WAKERS: usize = 8;
/// Guests of a host that are tried.
const MOST_GUESTS: usize = 64;
/// Culprits that are summed up.
const MOST_DELAYS: usize = 32;

/// The threads that are the CPUs of one guest.
type Vcpus = Vec<HostVcpu>;

/// Adds what the host did to the explanation of the recording `guest`: by the recording `host` of the same time, in which
/// `vcpus` are the threads of the guest's CPUs in order, or those that their names show where it is empty.
///
/// # Errors
/// [`HostJoinError`]: a recording cannot be read, or the clocks do not join. The explanation is unchanged then.
pub fn join_host(
    explanation: &mut Explanation,
    guest: &Path,
    host: &Path,
    vcpus: &[Tid],
) -> Result<(), HostJoinError> {
    let path = || host.to_owned();
    if crate::is_same_file(guest, host) {
        return Err(HostJoinError::SameFile { path: path() });
    }
    let gaps = Gaps::of(whylate_intake::open(guest, KindSet::ALL)?);
    let observed = Observed::of(whylate_intake::open(host, OF_HOST)?, vcpus);
    if observed.info.recorded.is_some_and(|kinds| !kinds.contains(Kind::Switch)) {
        return Err(HostJoinError::NoSwitches { path: path() });
    }
    let clock = |clock: &Option<String>| clock.as_deref() == Some("x86-tsc");
    let same_oscillator = clock(&explanation.trace.clock) && clock(&observed.info.clock);
    let (vcpus, join) = fit(&gaps, &observed, guests(&observed, &gaps, host, vcpus)?, host, same_oscillator)?;
    resolve(explanation, &observed, vcpus, &join, host)?;
    Ok(())
}

/// The guests of which the recording may be, by the threads of their CPUs.
fn guests(
    observed: &Observed,
    gaps: &Gaps,
    host: &Path,
    chosen: &[Tid],
) -> Result<Vec<Vcpus>, HostJoinError> {
    let path = || host.to_owned();
    let vcpu = |cpu, tid, thread: &VcpuThread| HostVcpu { cpu: Cpu(cpu), tid, comm: thread.comm };
    if !chosen.is_empty() {
        let threads = chosen.iter().zip(0..).map(|(&tid, cpu)| match observed.threads.get(&tid) {
            Some(thread) => Ok(vcpu(cpu, tid, thread)),
            None => Err(HostJoinError::NoThread { path: path(), tid }),
        });
        let chosen: Vcpus = threads.collect::<Result<_, _>>()?;
        return match gaps.cpus().find(|(cpu, _)| chosen.iter().all(|vcpu| vcpu.cpu != *cpu)) {
            Some((cpu, _)) => Err(HostJoinError::NoThreadOfCpu { path: path(), cpu }),
            None => Ok(vec![chosen]),
        };
    }
    // The threads of one guest's CPUs are made one after the other.
    let mut guests: Vec<Vcpus> = Vec::new();
    let mut in_one = false;
    for (&tid, thread) in &observed.threads {
        match thread.name {
            Some(VcpuName::Of(cpu)) => match guests.last_mut() {
                Some(guest) if guest.last().is_some_and(|last| last.cpu.0 < cpu) => {
                    guest.push(vcpu(cpu, tid, thread));
                }
                _ => guests.push(vec![vcpu(cpu, tid, thread)]),
            },
            Some(VcpuName::OfAll) => in_one = true,
            None => {}
        }
    }
    if guests.is_empty() {
        return Err(if in_one {
            HostJoinError::OneThread { path: path() }
        } else {
            HostJoinError::NoVcpus { path: path() }
        });
    }
    let lacks = |guest: &Vcpus| {
        let has = |cpu: Cpu| guest.iter().any(|vcpu| vcpu.cpu == cpu);
        gaps.cpus().map(|(cpu, _)| cpu).find(|&cpu| !has(cpu))
    };
    let missing = guests.iter().find_map(lacks);
    guests.retain(|guest| lacks(guest).is_none());
    match (guests.is_empty(), missing) {
        (true, Some(cpu)) => Err(HostJoinError::NoThreadOfCpu { path: path(), cpu }),
        _ => Ok(guests),
    }
}

/// The guest whose CPUs fit the recording.
fn fit(
    gaps: &Gaps,
    observed: &Observed,
    guests: Vec<Vcpus>,
    host: &Path,
    same_oscillator: bool,
) -> Result<(Vcpus, Join), HostJoinError> {
    let path = || host.to_owned();
    let mut fits: Vec<(Vcpus, Join)> = Vec::new();
    let mut refusal = None;
    for guest in guests.into_iter().take(MOST_GUESTS) {
        let away: Vec<(Cpu, &[Away])> = (guest.iter())
            .filter_map(|vcpu| Some((vcpu.cpu, observed.threads.get(&vcpu.tid)?.away.as_slice())))
            .collect();
        // Before and after its threads nothing shows where the guest's CPUs were.
        let seen = guest.iter().filter_map(|vcpu| observed.threads.get(&vcpu.tid)?.seen);
        let span = seen.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        match join::join(gaps, &away, span.unwrap_or_default(), same_oscillator) {
            Ok(join) => fits.push((guest, join)),
            // What another guest of the host lacks is no reason.
            Err(why) => refusal = Some(refusal.map_or(why, |before| graver(before, why))),
        }
    }
    match (fits.pop(), fits.is_empty(), refusal) {
        (Some(fit), true, _) => Ok(fit),
        (Some(_), false, _) => Err(HostJoinError::SeveralGuests { path: path() }),
        (None, _, why) => Err(HostJoinError::Join { path: path(), why: why.unwrap_or(JoinError::NoOffset) }),
    }
}

/// The reason that shows more, of two guests that do not fit.
fn graver(one: JoinError, other: JoinError) -> JoinError {
    let rank = |why: &JoinError| match why {
        JoinError::NoOffset => 0,
        JoinError::TooFew { .. } => 1,
        JoinError::Ambiguous => 2,
        JoinError::TooWide { .. } => 3,
    };
    if rank(&other) > rank(&one) { other } else { one }
}

/// Reads the host's ledger and adds it.
fn resolve(
    explanation: &mut Explanation,
    observed: &Observed,
    vcpus: Vcpus,
    join: &Join,
    host: &Path,
) -> Result<(), OpenError> {
    let windows = windows(explanation, join);
    let threads: Vec<Tid> = vcpus.iter().map(|vcpu| vcpu.tid).chain(wakers(observed, &vcpus)).collect();
    let guest = explanation.trace.span.unwrap_or((Ns::ZERO, Ns::MAX));
    let mut sums = Sums::default();
    let history = History::of(whylate_intake::open(host, WANTED)?, &threads, &windows, |tid, delay| {
        if let Some(vcpu) = vcpus.iter().find(|vcpu| vcpu.tid == tid) {
            sums.add(*vcpu, delay, join, guest);
        }
    });
    let recording = HostRecording {
        file: host.display().to_string(),
        trace: observed.info.clone(),
        join: join.summary(),
        vcpus: vcpus.clone(),
        delays: sums.finish(),
    };
    add_host(explanation, recording, &|cpu, from, to| {
        let find = || {
            let vcpu = vcpus.iter().find(|vcpu| vcpu.cpu == cpu)?;
            let exits = observed.threads.get(&vcpu.tid).map_or(&[][..], |thread| &thread.exits);
            let (from, to) = (join.to_host(from)?, join.to_host(to)?);
            let stays = history.stays((vcpu.tid, vcpu.comm), exits, from, to);
            let in_guest = stays.into_iter().filter_map(|stay| {
                let (from, to) = (join.to_guest(stay.from)?, join.to_guest(stay.to)?);
                Some(HostStay { from, to, thread: stay.thread, state: stay.state, exit: stay.exit })
            });
            Some(in_guest.collect())
        };
        find().unwrap_or_default()
    });
    Ok(())
}

/// When on the host the activations are that the report has, sorted and without overlaps.
fn windows(explanation: &Explanation, join: &Join) -> Vec<(Ns, Ns)> {
    let mut windows: Vec<(Ns, Ns)> = (explanation.activations.iter())
        .filter_map(|activation| {
            let (begin, end) = join.covers();
            // One that goes on beyond what is joined has its part.
            let from =
                join.to_host(activation.due).or_else(|| join.to_host(activation.end).map(|_| begin))?;
            Some((from, join.to_host(activation.end).unwrap_or(end)))
        })
        .filter(|(from, to)| from < to)
        .collect();
    windows.sort();
    let mut merged: Vec<(Ns, Ns)> = Vec::with_capacity(windows.len());
    for (from, to) in windows {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The threads that wake the guest's CPUs most often, apart from these themselves.
fn wakers(observed: &Observed, vcpus: &Vcpus) -> Vec<Tid> {
    let mut counts: HashMap<Tid, u64> = HashMap::new();
    for thread in vcpus.iter().filter_map(|vcpu| observed.threads.get(&vcpu.tid)) {
        for (&tid, &count) in &thread.wakers {
            *counts.entry(tid).or_default() += count;
        }
    }
    let is_other =
        |tid: Tid| tid != Tid::IDLE && !is_stand_in(tid) && vcpus.iter().all(|vcpu| vcpu.tid != tid);
    let mut wakers: Vec<(u64, Tid)> =
        counts.into_iter().filter(|&(tid, _)| is_other(tid)).map(|(tid, count)| (count, tid)).collect();
    wakers.sort_by_key(|&(count, tid)| (Reverse(count), tid));
    wakers.into_iter().take(WAKERS).map(|(_, tid)| tid).collect()
}

/// What delayed the guest's CPUs, summed up.
#[derive(Debug, Default)]
struct Sums {
    delays: HashMap<(Cause, Option<Culprit>), HostDelay>,
}

impl Sums {
    /// Adds a delay that began while the guest was recorded.
    fn add(&mut self, vcpu: HostVcpu, delay: Delay, join: &Join, guest: (Ns, Ns)) {
        let Delay { cause, by, from, to } = delay;
        let during = |at: &Ns| guest.0 <= *at && *at <= guest.1;
        let Some(at) = join.to_guest(from).filter(during) else { return };
        let length = to - from;
        let sum = self.delays.entry((cause, by)).or_insert(HostDelay {
            cause,
            by,
            total: Ns::ZERO,
            times: 0,
            longest: Ns::ZERO,
            at,
            vcpu,
        });
        sum.total += length;
        sum.times += 1;
        if length > sum.longest {
            (sum.longest, sum.at, sum.vcpu) = (length, at, vcpu);
        }
    }

    fn finish(self) -> Vec<HostDelay> {
        let mut delays: Vec<HostDelay> = self.delays.into_values().collect();
        delays.sort_by_key(|delay| (Reverse(delay.longest), delay.at, delay.cause));
        delays.truncate(MOST_DELAYS);
        delays
    }
}
