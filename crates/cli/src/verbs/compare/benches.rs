//! Two documents of `whylate bench`, compared.

use crate::args::{CompareArgs, FailOnWorse};
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Context, Result, anyhow, bail};
use std::io::Read;
use std::path::{Path, PathBuf};
use whylate_probes::bench::{BenchAnswer, BenchComparison, BenchReport};
use whylate_report::{Render, bench};

/// A document has some 100 KB.
const MOST_BYTES: u64 = 8 << 20;

/// Compares, if the first file is a bench; `None`: it is none.
pub(super) fn compare(args: &CompareArgs, files: &[PathBuf]) -> Result<Option<ExitStatus>> {
    let Some(before) = files.first().map(|file| read(file)).transpose()?.flatten() else { return Ok(None) };
    let [_, second] = files else {
        bail!("benches are compared two at a time: give one before and one after");
    };
    if !args.gate.is_empty() || !args.claims.is_empty() || !args.cpus.is_empty() {
        bail!("--gate, --claim and --cpus are about measurements of latency, not about benches");
    }
    let format = args.output.format();
    if !BenchComparison::FORMATS.contains(&format) {
        let known: Vec<&str> = BenchComparison::FORMATS.iter().map(|format| format.name()).collect();
        bail!("a comparison of benches has no format {}: choose one of {}", format.name(), known.join(", "));
    }
    let destination = Destination::of::<BenchComparison>(&args.output, files)?;
    let after = read(second)?
        .ok_or_else(|| anyhow!("{}: it is no document of whylate bench --json", second.display()))?;
    let comparison = BenchComparison::of(&before, &after)
        .with_context(|| format!("a bench of {} is not compared with one of {}", before.kind, after.kind))?;
    destination.write(&comparison)?;
    Ok(Some(outcome(&comparison, args.fail_on)))
}

fn read(path: &Path) -> Result<Option<BenchReport>> {
    // What cannot be read, and what is longer, is left to the reader of measurements.
    let Ok(file) = std::fs::File::open(path) else { return Ok(None) };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    if file.take(MOST_BYTES).read_to_end(&mut bytes).is_err() {
        return Ok(None);
    }
    let document = bench::json::bench(&bytes).transpose();
    document.map_err(|why| {
        let schema = bench::json::document::SCHEMA;
        anyhow!("{}: its schema is {schema}, but it cannot be read as such: {why}", path.display())
    })
}

fn outcome(comparison: &BenchComparison, fail_on: FailOnWorse) -> ExitStatus {
    let (slower, faster) = (comparison.has(BenchAnswer::Slower), comparison.has(BenchAnswer::Faster));
    let is_found = match fail_on {
        FailOnWorse::Mixed => slower,
        FailOnWorse::Worse => slower && !faster,
        FailOnWorse::Never => false,
    };
    let nothing = comparison.differences.is_empty() || comparison.has(BenchAnswer::CannotTell);
    match (is_found, nothing) {
        (true, _) => ExitStatus::Found,
        (false, true) => ExitStatus::CannotTell,
        (false, false) => ExitStatus::Done,
    }
}
