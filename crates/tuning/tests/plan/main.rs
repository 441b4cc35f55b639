//! Plans of whole machines: changes, their order, conflicts and refusals.

mod changes;
mod comparison;
mod conflicts;
mod idempotence;
mod machine;
mod refusals;

use machine::{Files, tree};
use whylate_host::Snapshot;
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Reasons, Selector, ThreadSelector};
use whylate_tuning::{AllowedRefusals, Plan, plan};

fn desired_setting(selector: Selector, value: &str) -> DesiredSetting {
    DesiredSetting {
        selector,
        value: Some(value.to_owned()),
        reasons: Reasons::default(),
        origin: "test".to_owned(),
        optional: false,
    }
}

fn knob(path: &str, value: &str) -> DesiredSetting {
    desired_setting(Selector::Tunable { path: path.to_owned() }, value)
}

fn parameter(name: &str, value: &str) -> DesiredSetting {
    desired_setting(Selector::Parameter { name: name.to_owned() }, value)
}

fn cpus_of(named: &str, value: &str) -> DesiredSetting {
    let threads = ThreadSelector { named: Pattern::Glob(named.to_owned()), except: Vec::new() };
    desired_setting(Selector::ThreadCpus { threads }, value)
}

fn policy_of(named: &str, value: &str) -> DesiredSetting {
    let threads = ThreadSelector { named: Pattern::Glob(named.to_owned()), except: Vec::new() };
    desired_setting(Selector::ThreadPolicy { threads }, value)
}

fn desired(desired: Vec<DesiredSetting>) -> DesiredState {
    DesiredState { profile: "test".to_owned(), settings: desired, ..DesiredState::default() }
}

fn planned(files: &Files, asked: Vec<DesiredSetting>) -> Plan {
    permitted(files, asked, &[])
}

fn permitted(files: &Files, asked: Vec<DesiredSetting>, codes: &[&str]) -> Plan {
    let tree = tree(files);
    let codes: Vec<String> = codes.iter().map(|&code| code.to_owned()).collect();
    plan(desired(asked), &tree, &Snapshot::read(&tree), &AllowedRefusals::of(&codes).expect("codes"))
}

fn changes(plan: &Plan) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    plan.changes
        .iter()
        .map(|change| format!("{}: {} -> {}", change.setting, text(&change.now), text(&change.then)))
        .collect()
}

fn conflicts(plan: &Plan) -> Vec<&str> {
    plan.conflicts.iter().map(|conflict| conflict.with.as_str()).collect()
}

fn refusals(plan: &Plan) -> Vec<&str> {
    plan.refusals.iter().map(|refusal| refusal.code.as_str()).collect()
}
