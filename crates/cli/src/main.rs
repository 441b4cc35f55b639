//! The binary `whylate`: arguments, exit codes, glue.
//!
//! Exit codes: 0 nothing found, or done; 1 findings at or above `--fail-on`; 2 could not do it;
//! 3 cannot tell. `whylate run` has those of env(1).

mod args;
mod atomic_file;
mod exit_status;
mod exports;
mod live;
mod notify;
mod output;
mod output_errors;
mod own_tables;
#[cfg(feature = "png")]
mod raster;
mod report;
mod serve;
mod signals;
mod verbs;

use args::{Cli, Verb};
use exit_status::ExitStatus;
use output::message;
use std::process::ExitCode;

fn main() -> ExitCode {
    signals::take_limits_as_errors();
    let cli = Cli::read();
    let result = match &cli.verb {
        Verb::Explain(args) => verbs::explain::run(args),
        Verb::Convert(args) => verbs::convert::run(args),
        Verb::Doctor(args) => verbs::doctor::run(args),
        Verb::Run(args) => verbs::run::run(args),
        Verb::Ps(args) => verbs::ps::run(args),
        Verb::Guard(args) => verbs::guard::run(args),
        Verb::GuardWatchdog(args) => verbs::guard::watch(args),
        Verb::Record(args) => verbs::record::run(args),
        Verb::Measure(args) => verbs::measure::run(args),
        Verb::Watch(args) => verbs::watch::run(args),
        Verb::Compare(args) => verbs::compare::run(args),
        Verb::Bench(args) => verbs::bench::run(args),
        Verb::Prove(args) => verbs::prove::run(args),
        Verb::ProveWatchdog(args) => verbs::prove::watch(args),
        Verb::ProveResume => verbs::prove::reboots::resume(),
        Verb::Simulate(args) => verbs::simulate::run(args),
        Verb::Plot(args) => verbs::plot::run(args),
        Verb::Tables(args) => verbs::tables::run(args),
        Verb::Lab(verb) => verbs::lab::run(verb),
        Verb::Check(args) => verbs::check::run(args),
        Verb::Snapshot(args) => verbs::snapshot::run(args),
        Verb::Bundle(args) => verbs::bundle::run(args),
        Verb::HoldLatency(args) => verbs::hold::run(args),
        Verb::LoadWorker(args) => verbs::load_worker::run(args),
        Verb::Plan(args) => verbs::plan::run(args),
        Verb::Apply(args) => verbs::apply::run(args),
        Verb::Confirm(args) => verbs::confirm::run(args),
        Verb::Verify(args) => verbs::verify::run(args),
        Verb::Rollback(args) => verbs::rollback::run(args),
        Verb::History(args) => verbs::history::run(args),
        Verb::Completions(args) => verbs::completions::run(args),
        Verb::ManPages(args) => verbs::man_pages::run(args),
    };
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            message!("whylate: {error:#}");
            match &cli.verb {
                Verb::Run(_) => ExitStatus::Program(exit_status::NOT_STARTED).into(),
                _ => ExitStatus::Failed.into(),
            }
        }
    }
}
