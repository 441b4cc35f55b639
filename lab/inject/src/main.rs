//! `whylate-inject`: makes one real-time thread late, in one known way, and labels the run.
//!
//! Each subcommand starts a periodic *victim* and the *culprits* of one fault, all of
//! bounded duration, and prints a label as JSON at the end: the part and id of each thread,
//! and when the victim's late jobs were due, started and done, on CLOCK_MONOTONIC. A
//! recording of the same time with the `mono` trace clock can be compared with it.

mod behaviours;
mod cgroup;
mod child;
mod fault;
mod label;
mod options;
mod periodic;
mod rights;
mod role;
mod setup;
mod threads;
mod work;

use anyhow::{Context, Result};
use clap::Parser;
use std::io::Write;

fn main() -> Result<()> {
    let options = options::Options::parse();
    if let Some(group) = &options.common.child.join_cgroup {
        cgroup::join(group)?;
    }
    fault::prepare(&options.fault, options.common.seed)?;
    let setup = setup::Setup::new(&options)?;
    if setup.share == role::ProcessShare::VictimOnly {
        return fault::start(&options.fault, &setup)?.join()?.iter().try_for_each(threads::ThreadLog::print);
    }
    let victim = match setup.share {
        role::ProcessShare::AllButVictim => {
            Some(child::VictimProcess::start(&setup, options.fault.victims_rights())?)
        }
        _ => None,
    };
    let mut logs = fault::start(&options.fault, &setup)?.join()?;
    logs.extend(victim.map(child::VictimProcess::join).transpose()?.flatten());
    let label = label::RunLabel::new(&options.fault, &setup, logs);
    let text = serde_json::to_string(&label).context("cannot write the label as JSON")?;
    writeln!(std::io::stdout(), "{text}").context("cannot write the label to standard output")
}
