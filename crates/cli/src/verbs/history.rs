//! `whylate history`

use super::tuning::Site;
use crate::args::HistoryArgs;
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::Result;
use whylate_report::history::History;

pub(crate) fn run(args: &HistoryArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<History<'_>>(&args.output, &[])?;
    let site = Site::open(&args.place)?;
    let ids = site.store.ids()?;
    let entries: Vec<_> = ids.iter().map(|&id| site.store.load(id)).collect();
    let lines = whylate_tuning::history(&entries, &ids);
    destination.write(&History(&lines))?;
    Ok(match lines.iter().any(|line| line.status.is_none()) {
        true => ExitStatus::CannotTell,
        false => ExitStatus::Done,
    })
}
