//! What a round measures, whatever changes the machine between two of them.

use crate::error::ProveError;
use crate::options::ProveOptions;
use crate::round::{Round, RoundState};
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

    /// Measures a round beside its command, which must run. With what a reader must know of it.
    pub(crate) fn measure(
        &self,
        state: RoundState,
        mut command: Option<Loads>,
        others: &[WatchRule],
    ) -> Result<(Round, Vec<String>), ProveError> {
        if let Some(died) = command.as_mut().and_then(died) {
            return Err(ProveError::Command(died));
        }
        let (measured, throughput) = self.beside_throughput(others)?;
        let died = command.as_mut().and_then(died);
        let ended =
            died.map(|died| format!("the command ended during a round: {died}; choose a shorter --round"));
        let notes = ended.into_iter().chain(measured.notes).collect();
        Ok((Round { state, run: measured.run, others: measured.others, throughput }, notes))
    }

    /// Measures, and times the throughput command meanwhile.
    fn beside_throughput(&self, others: &[WatchRule]) -> Result<(MeasuredRound, Vec<Ns>), ProveError> {
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
fn died(command: &mut Loads) -> Option<String> {
    command.check().into_iter().find_map(|load| load.died)
}
