//! `whylate verify`

use super::tuning::Site;
use crate::args::VerifyArgs;
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::Result;
use whylate_tuning::Verification;

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<Verification>(&args.output, &[])?;
    let site = Site::open(&args.place)?;
    let verified = whylate_tuning::verify(&site.store, &site.system)?;
    destination.write(&verified)?;
    Ok(match (verified.drifts.is_empty(), verified.unknown.is_empty()) {
        (false, _) => ExitStatus::Found,
        (true, false) => ExitStatus::CannotTell,
        (true, true) => ExitStatus::Done,
    })
}
