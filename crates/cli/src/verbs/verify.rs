//! `whylate verify`

use super::tuning::Site;
use crate::args::PlaceArgs;
use crate::outcome::Outcome;
use crate::output;
use anyhow::Result;
use whylate_report::verify;

pub(crate) fn run(args: &PlaceArgs) -> Result<Outcome> {
    let site = Site::open(&args.place)?;
    let verified = whylate_tuning::verify(&site.store, &site.system)?;
    match args.place.json {
        true => output::print_json(&verify::json::render(&verified))?,
        false => output::print(&verify::terminal::render(&verified, &output::style()))?,
    }
    Ok(match (verified.drifts.is_empty(), verified.unknown.is_empty()) {
        (false, _) => Outcome::Found,
        (true, false) => Outcome::CannotTell,
        (true, true) => Outcome::Done,
    })
}
