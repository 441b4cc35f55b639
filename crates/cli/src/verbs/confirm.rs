//! `whylate confirm`

use super::revert;
use super::tuning::Site;
use crate::args::ConfirmArgs;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use anyhow::Result;
use whylate_report::apply::Applies;
use whylate_tuning::{JournalEntry, Timestamp, confirm};

pub(crate) fn run(args: &ConfirmArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<Applies<'_>>(&args.output, &[])?;
    let site = Site::open(&args.place)?;
    let lock = site.store.lock("whylate confirm")?;
    let journals = site.store.readable()?;
    site.report_unreadable(&journals.unreadable);
    let entries = journals.entries;
    let waiting: Vec<u64> =
        entries.iter().filter(|entry| entry.is_unconfirmed()).map(|entry| entry.id).collect();
    if waiting.is_empty() {
        match entries.iter().rev().find(|entry| entry.armed.is_some()) {
            Some(JournalEntry { id, confirmed: Some(at), .. }) => {
                message!("nothing to confirm: apply {id} was confirmed at {at}");
            }
            Some(entry) => message!("nothing to confirm: apply {} is {}", entry.id, entry.status().words()),
            None => message!("nothing to confirm: no apply waits for confirmation"),
        }
        destination.write(&Applies(&[]))?;
        return Ok(if journals.unreadable.is_empty() { ExitStatus::Found } else { ExitStatus::CannotTell });
    }
    let mut confirmed = Vec::new();
    for id in waiting {
        let mut journal = site.store.open(&lock, id)?;
        confirm(&mut journal, Timestamp::now())?;
        revert::cancel(&site.system, id);
        confirmed.push(journal.entry().clone());
    }
    destination.write(&Applies(&confirmed))?;
    Ok(ExitStatus::Done)
}
