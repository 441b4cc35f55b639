//! Kernel parameters: they count from the boot after the apply on. Until then it is what the boot loader will pass that
//! has to be as it was made.

use super::findings::{Drift, Verification};
use crate::Setting;
use crate::journal::{JournalEntry, StepProgress};
use std::cell::LazyCell;
use std::collections::BTreeSet;
use whylate_host::{Cmdline, FsRoot};
use whylate_profiles::Skipped;

/// What a later apply sets is for that one to answer.
pub(super) fn compare(
    verified: &mut Verification,
    entry: &JournalEntry,
    later: &[&JournalEntry],
    boot: Option<&str>,
    tree: &FsRoot,
) {
    let again: BTreeSet<&str> = later.iter().flat_map(|entry| planned(entry)).map(|(name, _)| name).collect();
    let mut wanted = planned(entry).filter(|(name, _)| !again.contains(name)).peekable();
    if wanted.peek().is_none() {
        return;
    }
    let applied_in_this_boot = entry.sessions.first().is_some_and(|session| session.is_of(boot));
    let running = tree.value::<Cmdline>("/proc/cmdline");
    let running = match running.need() {
        Ok(running) => running,
        Err(unread) => {
            return verified
                .unknown
                .push(Skipped { what: "kernel parameters".to_owned(), why: unread.to_string() });
        }
    };
    let next = LazyCell::new(|| whylate_bootloader::configured(tree));
    for (name, then) in wanted {
        let drift = |now: String, who: String| Drift {
            id: entry.id,
            what: format!("kernel parameter {name}"),
            settings: vec![format!("kernel parameter {name}")],
            before: None,
            made: shown(name, then),
            now,
            who: vec![who],
        };
        if is_so(running, name, then) {
            verified.as_made += 1;
        } else if !applied_in_this_boot {
            let who = "this boot used another menu entry, or a menu that was changed";
            verified.drifts.push(drift(running.show(name), who.to_owned()));
        } else {
            match next.need() {
                Ok(next) if is_so(next, name, then) => verified.pending.push(shown(name, then)),
                Ok(found) => {
                    let now = format!("{} for the next boot, by {}", found.show(name), next.path);
                    verified.drifts.push(drift(now, why_not(entry)));
                }
                Err(unread) => {
                    let what = format!("kernel parameter {} at the next boot", shown(name, then));
                    verified.unknown.push(Skipped { what, why: unread.to_string() });
                }
            }
        }
    }
}

fn planned(entry: &JournalEntry) -> impl Iterator<Item = (&str, Option<&str>)> {
    let changes = entry.plan.iter().flat_map(|plan| &plan.changes);
    changes.filter_map(|change| match &change.setting {
        Setting::Parameter { name } => Some((name.as_str(), change.then.as_deref())),
        _ => None,
    })
}

fn is_so(cmdline: &Cmdline, name: &str, then: Option<&str>) -> bool {
    match then {
        Some(value) => cmdline.all(name).any(|now| now == value),
        None => !cmdline.has(name),
    }
}

fn shown(name: &str, then: Option<&str>) -> String {
    match then {
        Some("") => name.to_owned(),
        Some(value) => format!("{name}={value}"),
        None => format!("no {name}"),
    }
}

/// Why the boot loader does not have what was configured: the command that makes its menu was not run, as in another
/// system's root, or another program has changed it since.
fn why_not(entry: &JournalEntry) -> String {
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let mut made = steps.filter(|taken| taken.planned.then.command().is_some());
    let not_run = made.find_map(|taken| match &taken.progress {
        StepProgress::Gone => taken.why.clone(),
        _ => None,
    });
    not_run.unwrap_or_else(|| "another program has changed the boot loader's files since".to_owned())
}
