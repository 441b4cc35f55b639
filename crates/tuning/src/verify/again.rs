//! The desired settings of the applies that are in effect, planned once more: what was as desired then and is not now, and what
//! came since.

use super::findings::{Drift, Uncovered, Verification};
use super::suspects;
use crate::journal::JournalEntry;
use crate::setting::shown;
use crate::{AllowedRefusals, Change, Setting, Status, System, Target, TargetState, plan};
use std::collections::HashSet;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::DesiredState;

pub(super) fn desired(
    verified: &mut Verification,
    entries: &[JournalEntry],
    system: &dyn System,
    tree: &FsRoot,
) {
    let applied = || entries.iter().filter(|entry| entry.status() == Status::Applied);
    let plans = || applied().filter_map(|entry| Some((entry.id, entry.plan.as_ref()?)));
    // Where two desired setting for the same, the later one counts, as it was made later.
    let desired = plans().flat_map(|(_, plan)| plan.desired.settings.iter().cloned()).collect::<Vec<_>>();
    if desired.is_empty() {
        return;
    }
    let desired = DesiredState { settings: desired, ..DesiredState::default() };
    let now = plan(desired, tree, &Snapshot::read(tree), &AllowedRefusals::default());
    let made: HashSet<String> = entries.iter().flat_map(names).collect();
    for change in now.changes {
        let name = change.setting.to_string();
        // Its targets were compared, or the kernel refused it.
        if made.contains(&name) {
            continue;
        }
        let kept = plans().find_map(|(id, plan)| {
            let same_boot = plan.machine.boot_id == now.machine.boot_id;
            let kept = plan.unchanged.iter().find(|kept| kept.setting == change.setting)?;
            (!may_change_by_itself(&change.setting, same_boot)).then_some((id, kept))
        });
        match kept {
            Some((id, kept)) => verified.drifts.push(Drift {
                id,
                settings: vec![name.clone()],
                what: name,
                before: None,
                made: format!("{} (already set before the apply)", shown(kept.value.as_deref())),
                now: shown(change.now.as_deref()),
                who: who(&change, system, tree),
            }),
            None => {
                verified.uncovered.push(Uncovered { setting: name, now: change.now, desired: change.then })
            }
        }
    }
}

/// What may have changed it: of a tunable that can be known.
fn who(change: &Change, system: &dyn System, tree: &FsRoot) -> Vec<String> {
    match (&change.setting, &change.now) {
        (Setting::Tunable { path }, Some(now)) => suspects::of(
            &Target::Tunable { path: path.clone() },
            &TargetState::Value(now.clone()),
            system,
            tree,
        ),
        _ => Vec::new(),
    }
}

/// The settings that an apply has made, or tried to.
fn names(entry: &JournalEntry) -> Vec<String> {
    let planned = entry.plan.iter().flat_map(|plan| &plan.changes).map(|change| change.setting.to_string());
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    planned.chain(steps.flat_map(|taken| taken.planned.settings.clone())).collect()
}

/// A thread may set its own CPUs and policy, and in another boot an interrupt's number is another's.
fn may_change_by_itself(setting: &Setting, same_boot: bool) -> bool {
    match setting {
        Setting::ThreadPolicy { .. } | Setting::ThreadCpus { .. } => true,
        Setting::Tunable { path } => !same_boot && path.starts_with("/proc/irq/"),
        _ => false,
    }
}
