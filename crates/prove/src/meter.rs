//! What a round measures, whatever changes the machine between two of them.

use crate::error::ProveError;
use crate::merge::merged;
use crate::options::ProveOptions;
use crate::report::{RoundSummary, StateSummary};
use crate::round::{Round, RoundState, worst_hundredth};
use crate::subject::MeasuredRound;
use crate::throughput;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::{Ns, Tid};
use whylate_investigate::watch::WatchRule;
use whylate_probes::load::Loads;
use whylate_sys::Clock;

/// How often a signal is looked for.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The measuring of one round.
pub(crate) struct Meter<'a> {
    pub(crate) options: &'a ProveOptions,
    pub(crate) stop: &'a Arc<AtomicBool>,
}

impl Meter<'_> {
    /// Starts the command of a round, where there is one.
    pub(crate) fn start_command(&self) -> Result<Option<Loads>, ProveError> {
        let Some(loading) = &self.options.command else { return Ok(None) };
        let cpus = match &loading.cpus {
            Some(cpus) => cpus.clone(),
            None => whylate_sys::getaffinity(Tid(0)).map_err(|error| {
                ProveError::Command(format!("the CPUs of this process cannot be read: {error}"))
            })?,
        };
        Ok(Some(Loads::start(&loading.loads, &cpus, &loading.launcher)?))
    }

    /// Waits as long as the options have it.
    pub(crate) fn settle(&self) {
        let until = whylate_sys::now(Clock::Monotonic) + self.options.settle;
        while !self.stop.load(Ordering::Acquire) {
            let left = until - whylate_sys::now(Clock::Monotonic);
            if left <= Ns::ZERO {
                return;
            }
            std::thread::sleep(LOOK.min(Duration::from_nanos(left.0.unsigned_abs())));
        }
    }

    /// Measures, and times the throughput command meanwhile.
    pub(crate) fn beside_throughput(
        &self,
        others: &[WatchRule],
    ) -> Result<(MeasuredRound, Vec<Ns>), ProveError> {
        let measure = || self.options.subject.measure(self.options.round, others, self.stop);
        let Some(command) = &self.options.throughput else { return Ok((measure()?, Vec::new())) };
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| throughput::repeat(command, &over));
            let measured = measure();
            over.store(true, Ordering::Release);
            let took = runs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((measured?, took.map_err(|why| ProveError::Command(format!("--throughput: {why}")))?))
        })
    }
}

/// Why the command does not run any more.
pub(crate) fn died(command: &mut Loads) -> Option<String> {
    command.check().into_iter().find_map(|load| load.died)
}

/// A round as reports have it.
pub(crate) fn summary(number: usize, round: &Round) -> RoundSummary {
    let histogram = round.samples();
    RoundSummary {
        number,
        state: round.state,
        samples: histogram.count(),
        median: histogram.median(),
        worst_hundredth: worst_hundredth(&histogram),
        max: histogram.max(),
    }
}

/// All rounds of a state.
pub(crate) fn state_summary(rounds: &[Round], state: RoundState, deadline: Option<Ns>) -> StateSummary {
    let histogram = merged(rounds, state).all();
    StateSummary {
        rounds: rounds.iter().filter(|round| round.state == state).count(),
        worst_hundredth: worst_hundredth(&histogram),
        late: deadline.map(|deadline| histogram.beyond(deadline)),
        histogram,
    }
}
