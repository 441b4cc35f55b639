//! `whylate measure`

use crate::args::MeasureArgs;
use crate::outcome::Outcome;
use anyhow::{Result, bail};

pub(crate) fn run(_args: &MeasureArgs) -> Result<Outcome> {
    bail!("being written")
}
