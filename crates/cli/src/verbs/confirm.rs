//! `whylate confirm`

use super::revert;
use super::tuning::{Site, answer};
use crate::args::PlaceArgs;
use crate::outcome::Outcome;
use crate::output::say;
use anyhow::Result;
use whylate_tuning::{JournalEntry, Timestamp, confirm};

pub(crate) fn run(args: &PlaceArgs) -> Result<Outcome> {
    let site = Site::open(&args.place)?;
    let lock = site.store.lock("whylate confirm")?;
    let entries = site.store.all()?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let waiting: Vec<u64> =
        entries.iter().filter(|entry| entry.is_unconfirmed()).map(|entry| entry.id).collect();
    if waiting.is_empty() {
        match entries.iter().rev().find(|entry| entry.armed.is_some()) {
            Some(JournalEntry { id, confirmed: Some(at), .. }) => {
                say!("nothing to confirm: apply {id} was confirmed at {at}");
            }
            Some(entry) => say!("nothing to confirm: apply {} is {}", entry.id, entry.status().words()),
            None => say!("nothing to confirm: no apply waits for confirmation"),
        }
        if args.place.json {
            answer(&[], &args.place)?;
        }
        return Ok(Outcome::Found);
    }
    let mut confirmed = Vec::new();
    for id in waiting {
        let mut journal = site.store.open(&lock, id)?;
        confirm(&mut journal, Timestamp::now())?;
        revert::cancel(&site.system, id);
        confirmed.push(journal.entry().clone());
    }
    answer(&confirmed, &args.place)?;
    Ok(Outcome::Done)
}
