//! A plan from what a profile asks for and what a machine is like.

use super::context::PlanContext;
use super::expansion::Found;
use super::model::{Change, MachineIdentity, Plan, PredictedRefusal, Unchanged};
use super::refusals::AllowedRefusals;
use super::{captured, conflicts, expand, image_based, links, parameters, predict, refusals, tunables};
use crate::Setting;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredSetting, DesiredState, Selector, Skipped, profile};

/// Makes a plan for a machine. Of equal machines and desired settings it is equal, to the order.
pub fn plan(desired: DesiredState, tree: &FsRoot, snapshot: &Snapshot, allowed: &AllowedRefusals) -> Plan {
    let context = PlanContext::new(tree, snapshot);
    let mut plan = Plan { machine: MachineIdentity::read(tree, snapshot), ..Plan::default() };
    let mut found: Vec<(&DesiredSetting, Found)> = Vec::new();
    for (desired_setting, one) in expand::all(&desired.settings, &context) {
        plan.skipped.extend(one.left);
        found.extend(one.found.into_iter().map(|found| (desired_setting, found)));
    }
    for (desired_setting, found) in found {
        let Found { setting, now, then, note } = found;
        if now == then {
            plan.unchanged.push(Unchanged { setting, value: now, note });
            continue;
        }
        if let (Setting::Parameter { name }, Some(_)) = (&setting, &then)
            && let Some(why) = parameters::unknown(name, snapshot)
        {
            plan.skipped.push(Skipped { what: setting.to_string(), why });
            continue;
        }
        let (origin, optional) = (desired_setting.origin.clone(), desired_setting.optional);
        let prediction = predict::refusal(&setting, then.as_deref(), &context);
        if let (Some(why), true) = (&prediction, optional) {
            plan.predicted.push(PredictedRefusal { setting, now, then, why: why.clone(), origin });
            continue;
        }
        let reasons = links::complete(&desired_setting.reasons, &setting);
        plan.changes.push(Change { setting, now, then, reasons, origin, optional, prediction, note });
    }
    let is_parameter =
        |desired_setting: &DesiredSetting| matches!(desired_setting.selector, Selector::Parameter { .. });
    if context.boot.assumed && desired.settings.iter().any(is_parameter) {
        let why = "it was not collected; kernel parameters are compared with those of the running kernel";
        plan.skipped
            .push(Skipped { what: "the boot loader's configuration".to_owned(), why: why.to_owned() });
    }
    plan.skipped.extend(image_based::command(&desired.settings, &context));
    plan.desired = desired;
    say_once_that_it_is_captured(&mut plan);
    plan.conflicts = conflicts::of(&plan, &context);
    plan.refusals = refusals::of(&plan, &context, allowed);
    plan
}

/// Reads every file of the kernel that a built-in profile may set: so a capture has them, and a plan can be made of it.
pub fn look(tree: &FsRoot, snapshot: &Snapshot) {
    let cpus = snapshot.cpus.present.known().cloned().unwrap_or_default();
    for pattern in profile::files(&cpus) {
        tunables::read(&pattern, tree);
    }
}

/// A captured machine lacks files, and for each that is wanted the reading shows how to capture it: that is the same for
/// all of them, and `whylate snapshot` takes less than what profiles may name.
fn say_once_that_it_is_captured(plan: &mut Plan) {
    let mut lacks = false;
    for left in plan.skipped.iter_mut().chain(&mut plan.desired.skipped) {
        if let Some(short) = captured::short(&left.why) {
            left.why = short;
            lacks = true;
        }
    }
    if lacks {
        let why = "an archive of `whylate snapshot` has what the checks read and the kernel files that built-in profiles set; everything else was not collected; run `whylate plan` on the machine itself to plan the rest and the boot loader's files";
        let what = "captured machine".to_owned();
        plan.skipped.insert(0, Skipped { what, why: why.to_owned() });
    }
}
