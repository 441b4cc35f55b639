//! `whylate snapshot`

use crate::args::SnapshotArgs;
use crate::atomic_file;
use crate::exit_status::ExitStatus;
use crate::output;
use crate::output::message;
use anyhow::Result;
use std::path::Path;
use whylate_base::printable;
use whylate_host::{Capture, FsRoot, Redaction, Snapshot};
use whylate_threads::ps::PsSample;

pub(crate) fn run(args: &SnapshotArgs) -> Result<ExitStatus> {
    let capture = taken(&args.root, args.redact)?;
    if args.list {
        output::print(&list(&capture))?;
    }
    if let Some(path) = &args.output {
        atomic_file::write(path, |out| Ok(capture.write(out)?))?;
        let (taken, all) =
            (capture.paths().filter(|(_, value)| value.is_ok()).count(), capture.paths().count());
        message!("snapshot: {}: {taken} of {all} paths could be read", path.display());
    }
    Ok(ExitStatus::Done)
}

/// All that the verbs read of a machine.
pub(super) fn taken(root: &Path, redact: bool) -> Result<Capture> {
    let tree = FsRoot::open(root)?.noting();
    // What is read is what is taken: nothing more, and nothing less.
    let host = Snapshot::read(&tree);
    whylate_tuning::look(&tree, &host);
    PsSample::complete(&tree, host.threads.each.clone(), host.irqs.clone());
    let redaction = redact.then(|| Redaction::of(&tree));
    let capture = tree.into_notes();
    Ok(match redaction {
        Some(redaction) => redaction.apply(capture),
        None => capture,
    })
}

fn list(capture: &Capture) -> String {
    let line = |(path, value): (&str, Result<usize, _>)| match value {
        Ok(bytes) => format!("{bytes:>8} {}\n", printable(path)),
        Err(why) => format!("       - {}\n", printable(&format!("{path}: {why}"))),
    };
    capture.paths().map(line).collect()
}
