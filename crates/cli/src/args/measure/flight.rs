//! Long runs, what the observer changes, and claims.

use crate::args::values::stack_period;
use clap::Args;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_investigate::measure::{SpikeStacks, Wanted};

#[derive(Debug, Args)]
pub(crate) struct FlightArgs {
    /// List and explain this many worst wake-ups, and the worst of each CPU
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub(crate) worst: u8,
    /// Sample call stacks on the measured CPUs: the explanation of a late wake-up names the line that ran
    ///
    /// A stack is taken when a measuring thread wakes while a program has its CPU, and each --stack-period while one has it. Each
    /// takes some microseconds, which the latencies then include.
    #[arg(long, conflicts_with = "no_trace")]
    pub(crate) stacks: bool,
    /// With --stacks: the interval of the samples of a CPU that a program has
    #[arg(long, value_name = "DURATION", default_value = "1ms", requires = "stacks", value_parser = stack_period)]
    pub(crate) stack_period: Ns,
    /// With --stacks: look for separate debug files (by build id) in this directory as well (repeatable)
    #[arg(long, value_name = "DIR", requires = "stacks")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Save the trace of each listed wake-up in a new directory, and the report so far as run.json every 10 s
    ///
    /// For runs of hours or days: `whylate explain` opens the traces, `whylate compare` reads run.json, also after
    /// the run was killed. At most 100 traces of 256 MiB in total are kept; those of the smallest latency are removed first.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Hold /dev/cpu_dma_latency at this many microseconds during the measurement, as cyclictest does at 0
    ///
    /// It keeps idle CPUs out of states with a longer exit latency. Without it, CPUs idle as they do under an application.
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(0..=2_000_000_000))]
    pub(crate) dma_latency: Option<u32>,
    /// Do not hold /dev/cpu_dma_latency (the default; cyclictest holds it)
    #[arg(long, conflicts_with = "dma_latency")]
    pub(crate) no_dma_latency: bool,
    /// Measure again without the trace, a quarter as long, and report the difference
    #[arg(long, conflicts_with = "no_trace")]
    pub(crate) observer: bool,
    /// Check whether the samples support a claim, and how many more it needs: 100us@1e-9 is "later than 100 us in 1e-9 of all wake-ups at most"
    #[arg(long, value_name = "LATENCY@PROBABILITY")]
    pub(crate) claim: Option<Wanted>,
    /// State that no cause exists that is rarer than the samples can show: then a fit of the tail supports a claim
    #[arg(long, requires = "claim")]
    pub(crate) assume_no_rarer_cause: bool,
}

impl FlightArgs {
    /// How call stacks are sampled, where they are.
    pub(crate) fn stacks(&self) -> Option<SpikeStacks> {
        self.stacks.then(|| SpikeStacks { period: self.stack_period, symbols: self.symbols.clone() })
    }

    /// What is claimed, with what is assumed for it.
    pub(crate) fn claim(&self) -> Option<Wanted> {
        let assumes_no_rarer_cause = self.assume_no_rarer_cause;
        self.claim.map(|wanted| Wanted { assumes_no_rarer_cause, ..wanted })
    }
}
