//! `whylate-inject`: makes one real-time thread late, in one known way, and says which.
//!
//! Each subcommand starts a periodic *victim* and the *culprits* of one fault, all of
//! bounded duration, and prints a label as JSON at the end: who took which part under
//! which thread id, and when the victim's late jobs were due, started and done, on
//! CLOCK_MONOTONIC. A recording made meanwhile with the `mono` trace clock can be held
//! against it.

mod crew;
mod fault;
mod label;
mod options;
mod periodic;
mod setup;
mod work;

use anyhow::{Context, Result};
use clap::Parser;
use std::io::Write;

fn main() -> Result<()> {
    let options = options::Options::parse();
    let setup = setup::Setup::new(&options.common)?;
    let crew = fault::start(&options.fault, &setup)?;
    let label = label::Label::new(&options.fault, &setup, crew.join()?);
    let text = serde_json::to_string(&label).context("the label cannot be written as JSON")?;
    writeln!(std::io::stdout(), "{text}").context("the label cannot be printed on standard output")
}
