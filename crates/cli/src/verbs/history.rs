//! `whylate history`

use super::tuning::Site;
use crate::args::PlaceArgs;
use crate::outcome::Outcome;
use crate::output;
use anyhow::Result;
use whylate_report::history;

pub(crate) fn run(args: &PlaceArgs) -> Result<Outcome> {
    let site = Site::open(&args.place)?;
    let ids = site.store.ids()?;
    let entries: Vec<_> = ids.iter().map(|&id| site.store.load(id)).collect();
    let lines = whylate_tuning::history(&entries, &ids);
    match args.place.json {
        true => output::print_json(&history::json::render(&lines))?,
        false => output::print(&history::terminal::render(&lines, &output::style()))?,
    }
    Ok(match lines.iter().any(|line| line.status.is_none()) {
        true => Outcome::CannotTell,
        false => Outcome::Done,
    })
}
