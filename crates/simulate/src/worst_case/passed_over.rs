//! Throttling and the fair server, where the recording's real-time threads may use so much that they count.

use super::sources::{InterferingSource, Victim};
use crate::bounds::Interference;
use crate::model::AccountingClock;
use crate::recording::{Recording, SourceKey, Watched};
use whylate_base::Ns;
use whylate_ledger::Cause;

/// What passes over real-time threads, with the cause by which it is charged.
pub(super) fn of(
    recording: &Recording,
    watched: &Watched,
    victim: &Victim<'_>,
    sources: &[InterferingSource],
    once: &Ns,
) -> Vec<(Cause, Interference)> {
    let machine = &recording.model.machine;
    let period = machine.rt_period;
    let own = own_use(recording, watched, victim, period).max(*once);
    let threads = sources.iter().filter(|source| matches!(source.key, SourceKey::Thread(_)));
    let threads: Ns = threads.map(|source| source.curve.within(period)).sum();
    let mut all = Vec::new();
    let tick = machine.tick;
    if let Some(runtime) = machine.throttle()
        && (own + threads > runtime
            || machine.clock == AccountingClock::Tick && own + threads > runtime_by_ticks(runtime))
    {
        let cost = (period - runtime + Ns(2 * tick.0)).min(period);
        let cost = if machine.clock == AccountingClock::Tick { period } else { cost };
        all.push((Cause::RtThrottled, Interference { cost, period, jitter: cost }));
    }
    let interrupts: Ns = sources.iter().map(|source| source.curve.within(period)).sum::<Ns>() - threads;
    if let Some(server) = machine.server()
        // What is left of a period serves SCHED_OTHER threads before the server has to.
        && own + threads + interrupts > server.period - Ns(2 * server.runtime.0)
    {
        let cost = server.runtime + tick;
        all.push((Cause::FairServer, Interference { cost, period: server.period, jitter: cost }));
    }
    all
}

/// A clock that only ticks may count so much more than was used.
fn runtime_by_ticks(runtime: Ns) -> Ns {
    Ns(runtime.0 / 20)
}

/// What the thread itself uses of any window at most.
fn own_use(recording: &Recording, watched: &Watched, victim: &Victim<'_>, window: Ns) -> Ns {
    let thread = recording.threads.iter().position(|thread| thread.tid == victim.tid);
    let Some(seen) = thread.and_then(|thread| watched.threads.get(thread)) else { return Ns::ZERO };
    let slices = seen.slices.iter().filter(|slice| slice.priority.is_realtime());
    let ran = slices.map(|slice| (slice.start, slice.end)).collect();
    let arrivals = seen.jobs.iter().map(|job| (job.due, job.work)).collect();
    super::curve::DemandCurve::new(ran, arrivals, Ns::ZERO).within(window)
}

/// True where a charged cause is a part of that one.
pub(super) fn is_same(bounded: Cause, charged: Cause) -> bool {
    match bounded {
        Cause::RtThrottled => matches!(charged, Cause::RtThrottled | Cause::CoarseClockThrottled),
        _ => charged == bounded,
    }
}
