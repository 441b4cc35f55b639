//! The values that a profile asks for, on the machines of a comparison.

use super::model::{SideValue, ValueState};
use super::side_values::SideValues;
use super::subject::ComparedSubject;
use crate::Setting;
use crate::plan::context::PlanContext;
use crate::plan::expansion::Found;
use crate::plan::{expand, links, parameters, predict};
use std::collections::HashSet;
use whylate_profiles::{DesiredSetting, DesiredState, Reasons, Selector, tunable};

/// What a profile sets. A value of the first machine counts, then that of a later one; what comes to nothing on the
/// first stands by its pattern.
pub(super) fn values(desired: &DesiredState, contexts: &[&PlanContext<'_>]) -> SideValues {
    let mut values = SideValues::default();
    for (at, context) in contexts.iter().enumerate() {
        let mut own = SideValues::default();
        for (setting, expanded) in expand::all(&desired.settings, context) {
            if expanded.found.is_empty() && !expanded.left.is_empty() && at == 0 {
                own.join(ComparedSubject::of_selector(&setting.selector), by_pattern(setting));
            }
            for found in expanded.found {
                let subject = ComparedSubject::of_setting(&found.setting, context.host);
                own.join(subject, by_setting(setting, found, context));
            }
        }
        for subject in own.subjects() {
            if let Some(value) = own.get(subject) {
                values.add(subject.clone(), value.clone());
            }
        }
    }
    if let Some(here) = contexts.first() {
        conditional(desired, here, &mut values);
    }
    values
}

/// What the profile would set if a condition were met.
fn conditional(desired: &DesiredState, context: &PlanContext<'_>, values: &mut SideValues) {
    for own in &desired.conditional {
        let under = |value: SideValue| SideValue {
            state: ValueState::Conditional,
            why: Some(own.why.clone()),
            ..value
        };
        let expanded = expand::expand(&own.setting, context, &HashSet::new());
        if expanded.found.is_empty() {
            values.add(ComparedSubject::of_selector(&own.setting.selector), under(by_pattern(&own.setting)));
        }
        for found in expanded.found {
            let subject = ComparedSubject::of_setting(&found.setting, context.host);
            values.add(subject, under(by_setting(&own.setting, found, context)));
        }
    }
}

fn by_setting(desired: &DesiredSetting, found: Found, context: &PlanContext<'_>) -> SideValue {
    let note = note(&found, context);
    let reasons = links::complete(&desired.reasons, &found.setting);
    value(desired, found.then, reasons, note)
}

fn by_pattern(desired: &DesiredSetting) -> SideValue {
    let asked = desired.value.as_deref().map(|value| match &desired.selector {
        Selector::Tunable { path } => tunable::asked(path, "", value),
        _ => value.to_owned(),
    });
    value(desired, asked, links::complete_selected(&desired.reasons, &desired.selector), None)
}

fn value(
    desired: &DesiredSetting,
    value: Option<String>,
    reasons: Reasons,
    note: Option<String>,
) -> SideValue {
    let origin = Some(desired.origin.clone());
    SideValue { origin, reasons: Some(reasons), ..SideValue::read(value, note) }
}

/// What becomes of the value on this machine, where it is known not to take effect.
fn note(found: &Found, context: &PlanContext<'_>) -> Option<String> {
    if let (Setting::Parameter { name }, Some(_)) = (&found.setting, &found.then)
        && let Some(why) = parameters::unknown(name, context.host)
    {
        return Some(why);
    }
    if found.now == found.then {
        return None;
    }
    let refusal = predict::refusal(&found.setting, found.then.as_deref(), context)?;
    Some(format!("the kernel will refuse it: {refusal}"))
}
