//! The wishes of the applies that are in effect, planned once more: what was as wished then and is not now, and what
//! came since.

use super::findings::{Drift, Uncovered, Verified};
use super::suspects;
use crate::journal::Entry;
use crate::setting::shown;
use crate::{Cell, Change, Permits, Setting, Standing, State, System, plan};
use std::collections::HashSet;
use whylate_host::{Snapshot, Tree};
use whylate_profiles::Wishes;

pub(super) fn wishes(verified: &mut Verified, entries: &[Entry], system: &dyn System, tree: &Tree) {
    let applied = || entries.iter().filter(|entry| entry.standing() == Standing::Applied);
    let plans = || applied().filter_map(|entry| Some((entry.id, entry.plan.as_ref()?)));
    // Where two wish for the same, the later one counts, as it was made later.
    let wishes = plans().flat_map(|(_, plan)| plan.wishes.wishes.iter().cloned()).collect::<Vec<_>>();
    if wishes.is_empty() {
        return;
    }
    let wishes = Wishes { wishes, ..Wishes::default() };
    let now = plan(wishes, tree, &Snapshot::read(tree), &Permits::default());
    let made: HashSet<String> = entries.iter().flat_map(names).collect();
    for change in now.changes {
        let name = change.setting.to_string();
        // Its cells were compared, or the kernel refused it.
        if made.contains(&name) {
            continue;
        }
        let kept = plans().find_map(|(id, plan)| {
            let same_boot = plan.machine.boot_id == now.machine.boot_id;
            let kept = plan.as_wished.iter().find(|kept| kept.setting == change.setting)?;
            (!may_change_by_itself(&change.setting, same_boot)).then_some((id, kept))
        });
        match kept {
            Some((id, kept)) => verified.drifts.push(Drift {
                id,
                settings: vec![name.clone()],
                what: name,
                before: None,
                made: format!("{} (it was so already)", shown(kept.value.as_deref())),
                now: shown(change.now.as_deref()),
                who: who(&change, system, tree),
            }),
            None => {
                verified.uncovered.push(Uncovered { setting: name, now: change.now, wished: change.then })
            }
        }
    }
}

/// Who may have changed it: of a knob that can be known.
fn who(change: &Change, system: &dyn System, tree: &Tree) -> Vec<String> {
    match (&change.setting, &change.now) {
        (Setting::Knob { path }, Some(now)) => {
            suspects::of(&Cell::Knob { path: path.clone() }, &State::Value(now.clone()), system, tree)
        }
        _ => Vec::new(),
    }
}

/// The settings that an apply has made, or tried to.
fn names(entry: &Entry) -> Vec<String> {
    let planned = entry.plan.iter().flat_map(|plan| &plan.changes).map(|change| change.setting.to_string());
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    planned.chain(steps.flat_map(|taken| taken.planned.settings.clone())).collect()
}

/// A thread may set its own CPUs and policy, and in another boot an interrupt's number is another's.
fn may_change_by_itself(setting: &Setting, same_boot: bool) -> bool {
    match setting {
        Setting::ThreadPolicy { .. } | Setting::ThreadCpus { .. } => true,
        Setting::Knob { path } => !same_boot && path.starts_with("/proc/irq/"),
        _ => false,
    }
}
