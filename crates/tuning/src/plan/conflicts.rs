//! Programs and settings that would undo a plan or contradict it.

mod boot;
mod services;
mod subjects;

use super::context::PlanContext;
use crate::sysctl::Sysctls;
use crate::{Conflict, Plan, Setting};
use subjects::targets;
use whylate_profiles::tunable;

/// Our own drop-in has the last word among those of its directory; what comes after all of them has it still.
const OURS: &str = "whylate";

pub(super) fn of(plan: &Plan, context: &PlanContext<'_>) -> Vec<Conflict> {
    let mut conflicts = services::of(plan, context);
    conflicts.extend(sysctls(plan, context));
    conflicts.extend(boot::of(plan, context));
    conflicts
}

/// Files that give a sysctl another value at boot; one conflict for each file.
fn sysctls(plan: &Plan, context: &PlanContext<'_>) -> Vec<Conflict> {
    let wanted: Vec<(&Setting, &str, &str)> = targets(plan)
        .filter_map(|(setting, then)| match setting {
            Setting::Tunable { path } if path.starts_with("/proc/sys/") => {
                Some((setting, path.as_str(), then?))
            }
            _ => None,
        })
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let sysctls = Sysctls::read(context.tree);
    let mut conflicts: Vec<Conflict> = Vec::new();
    for (setting, path, then) in wanted {
        let Some(other) = sysctls.last(path) else { continue };
        let ours = other.file.rsplit('/').next().is_some_and(|name| name.contains(OURS));
        if ours || tunable::asked(path, then, &other.value) == then {
            continue;
        }
        let assignment = format!("{setting} = {}", other.value);
        match conflicts.iter_mut().find(|conflict| conflict.with == other.file) {
            Some(conflict) => {
                conflict.why.push_str(&format!(", {assignment}"));
                conflict.settings.push(setting.to_string());
            }
            None => conflicts.push(Conflict {
                with: other.file.clone(),
                why: format!("sets another value at boot, and whenever sysctls are loaded: {assignment}"),
                fix: "remove the lines from that file, or keep its values with a profile of your own"
                    .to_owned(),
                settings: vec![setting.to_string()],
            }),
        }
    }
    conflicts.extend(sysctls.unread.iter().map(|unread| Conflict {
        with: unread.path.clone(),
        why: format!("cannot tell whether it sets other values at boot: {}", unread.why),
        fix: "plan as root".to_owned(),
        settings: Vec::new(),
    }));
    conflicts
}
