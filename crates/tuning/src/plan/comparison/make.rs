//! A comparison from two sides and a machine.

use super::model::{
    Agreement, ComparedSetting, ComparedSide, SettingsComparison, SideKind, SideValue, ValueState,
};
use super::side_values::SideValues;
use super::subject::ComparedSubject;
use super::{catalog, machine, profile};
use crate::plan::captured;
use crate::plan::context::PlanContext;
use crate::plan::model::MachineIdentity;
use whylate_base::CpuSet;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredSetting, DesiredState, Skipped};

/// One side of a comparison.
#[derive(Clone, Copy)]
pub enum SideSource<'a> {
    /// What a profile asks for, resolved for the machine of the comparison.
    Profile(&'a DesiredState),
    /// A machine's state.
    Machine {
        /// Its file or directory.
        name: &'a str,
        /// Its files.
        tree: &'a FsRoot,
        /// What was read of it.
        host: &'a Snapshot,
    },
}

/// Compares two sides. A machine is compared by the settings of the other side and by kernel parameters that a check
/// reads; two machines by what built-in profiles set. `root` is where the files of `tree` are; `/`: of this machine.
pub fn compare_settings(
    a: SideSource<'_>,
    b: SideSource<'_>,
    (root, tree, host): (&str, &FsRoot, &Snapshot),
) -> SettingsComparison {
    let here = PlanContext::new(tree, host);
    let [context_a, context_b] = [a, b].map(context_of);
    let contexts: Vec<&PlanContext<'_>> =
        [Some(&here), context_a.as_ref(), context_b.as_ref()].into_iter().flatten().collect();
    let named = named(a, b, &contexts);
    let values = |side: SideSource<'_>, context: Option<&PlanContext<'_>>| match (side, context) {
        (SideSource::Profile(desired), _) => profile::values(desired, &contexts),
        (SideSource::Machine { .. }, Some(context)) => machine::values(&named, context),
        (SideSource::Machine { .. }, None) => SideValues::default(),
    };
    let (values_a, values_b) = (values(a, context_a.as_ref()), values(b, context_b.as_ref()));
    let values_here = machine::values(&named, &here);
    let mut settings: Vec<ComparedSetting> = Vec::new();
    let only_b = values_b.subjects().filter(|subject| values_a.get(subject).is_none());
    for subject in values_a.subjects().chain(only_b) {
        let value_of = |side: SideSource<'_>, values: &SideValues| match side {
            SideSource::Profile(_) => values.get(subject).cloned().unwrap_or_else(SideValue::not_set),
            SideSource::Machine { .. } => of_machine(subject, values),
        };
        let (a_has, b_has) = (value_of(a, &values_a), value_of(b, &values_b));
        if is_of_interest(subject, (a, &a_has), (b, &b_has)) {
            settings.push(ComparedSetting {
                name: subject.to_string(),
                subject: subject.clone(),
                agreement: agreement(subject, &a_has, &b_has),
                a: a_has,
                b: b_has,
                here: of_machine(subject, &values_here),
            });
        }
    }
    SettingsComparison {
        machine: MachineIdentity::read(tree, host),
        root: root.to_owned(),
        a: side(a, boot_notes(&settings, context_a.as_ref())),
        b: side(b, boot_notes(&settings, context_b.as_ref())),
        notes: boot_notes(&settings, Some(&here)),
        settings,
    }
}

fn context_of(side: SideSource<'_>) -> Option<PlanContext<'_>> {
    match side {
        SideSource::Profile(_) => None,
        SideSource::Machine { tree, host, .. } => Some(PlanContext::new(tree, host)),
    }
}

/// The settings that machines are read for.
fn named(a: SideSource<'_>, b: SideSource<'_>, contexts: &[&PlanContext<'_>]) -> Vec<DesiredSetting> {
    let mut named: Vec<DesiredSetting> = Vec::new();
    let mut has_profile = false;
    for side in [a, b] {
        if let SideSource::Profile(desired) = side {
            has_profile = true;
            named.extend(desired.settings.iter().cloned());
            named.extend(desired.conditional.iter().map(|own| own.setting.clone()));
        }
    }
    if !has_profile {
        named.extend(contexts.iter().flat_map(|context| catalog::settings(context)));
    }
    if matches!(a, SideSource::Machine { .. }) || matches!(b, SideSource::Machine { .. }) {
        named.extend(catalog::parameters());
    }
    let mut kept: Vec<DesiredSetting> = Vec::with_capacity(named.len());
    for setting in named {
        // The same setting with another value is read once more: which of a choice is there does not depend on it, the
        // CPUs of an interrupt do.
        if !kept.iter().any(|own| own.selector == setting.selector && own.value == setting.value) {
            kept.push(setting);
        }
    }
    kept
}

fn boot_notes(settings: &[ComparedSetting], context: Option<&PlanContext<'_>>) -> Vec<String> {
    let is_parameter =
        |setting: &ComparedSetting| matches!(setting.subject, ComparedSubject::Parameter { .. });
    let context = context.filter(|_| settings.iter().any(is_parameter));
    context.and_then(machine::boot_note).into_iter().collect()
}

fn side(side: SideSource<'_>, notes: Vec<String>) -> ComparedSide {
    match side {
        SideSource::Profile(desired) => {
            let is_tuned = desired.profile.starts_with("tuned:");
            let short = |skipped: &Skipped| Skipped {
                what: skipped.what.clone(),
                why: captured::shortened(&skipped.why),
            };
            ComparedSide {
                kind: if is_tuned { SideKind::Tuned } else { SideKind::Profile },
                name: desired.profile.clone(),
                variables: desired.variables.clone(),
                machine: None,
                notes,
                skipped: desired.unsupported().map(short).collect(),
            }
        }
        SideSource::Machine { name, tree, host } => ComparedSide {
            kind: SideKind::Machine,
            name: name.to_owned(),
            variables: Vec::new(),
            machine: Some(MachineIdentity::read(tree, host)),
            skipped: Vec::new(),
            notes,
        },
    }
}

/// What a machine has of a setting.
fn of_machine(subject: &ComparedSubject, values: &SideValues) -> SideValue {
    let known = values.get(subject).or_else(|| values.of_pattern(subject)).cloned();
    known.unwrap_or_else(|| {
        let why = match subject {
            ComparedSubject::ThreadPolicy { .. } | ComparedSubject::ThreadCpus { .. } => {
                "no thread that this applies to has such a name now"
            }
            ComparedSubject::InterruptCpus { .. } => "no interrupt that can be moved has this name",
            ComparedSubject::Tunable { .. } => "this kernel has no such file",
            _ => "this machine does not have it",
        };
        SideValue::without(ValueState::NotApplicable, Some(why.to_owned()))
    })
}

/// A machine has a value of everything: one that a profile does not set is no difference, unless it is a kernel parameter
/// that was given. Of two machines' threads only real-time ones are compared.
fn is_of_interest(
    subject: &ComparedSubject,
    (a, a_has): (SideSource<'_>, &SideValue),
    (b, b_has): (SideSource<'_>, &SideValue),
) -> bool {
    let is_given = |value: &SideValue| value.values.iter().any(Option::is_some);
    let is_realtime = |value: &SideValue| {
        let values = value.values.iter().flatten();
        values
            .into_iter()
            .any(|value| ["fifo ", "rr ", "deadline"].iter().any(|name| value.starts_with(name)))
    };
    let is_machine = |side: SideSource<'_>| matches!(side, SideSource::Machine { .. });
    let set = |value: &SideValue| value.state == ValueState::Known;
    match (is_machine(a), is_machine(b)) {
        (false, false) => true,
        (true, true) => match subject {
            ComparedSubject::ThreadPolicy { .. } => is_realtime(a_has) || is_realtime(b_has),
            ComparedSubject::Parameter { .. } => is_given(a_has) || is_given(b_has),
            _ => [a_has, b_has].iter().any(|value| value.state != ValueState::NotApplicable),
        },
        (a_is_machine, _) => {
            let (profile, machine) = if a_is_machine { (b_has, a_has) } else { (a_has, b_has) };
            let is_parameter = matches!(subject, ComparedSubject::Parameter { .. });
            set(profile) || (is_parameter && is_given(machine))
        }
    }
}

fn agreement(subject: &ComparedSubject, a: &SideValue, b: &SideValue) -> Agreement {
    if [a, b].iter().any(|value| value.state == ValueState::Unread) {
        return Agreement::CannotTell;
    }
    let is_same = a.state == b.state
        && match a.state {
            ValueState::NotApplicable | ValueState::NotSet => true,
            ValueState::Known | ValueState::Conditional | ValueState::Unread => {
                a.why == b.why && are_same(subject, &a.values, &b.values)
            }
        };
    if is_same { Agreement::Same } else { Agreement::Different }
}

/// `2,3` and `2-3` are the same CPUs.
fn are_same(subject: &ComparedSubject, a: &[Option<String>], b: &[Option<String>]) -> bool {
    if a == b {
        return true;
    }
    let takes_cpus = matches!(subject, ComparedSubject::Parameter { .. } | ComparedSubject::Variable { .. });
    let ([Some(a), Some(b)], true) = ([a, b].map(cpus), takes_cpus) else { return false };
    a == b
}

fn cpus(values: &[Option<String>]) -> Option<CpuSet> {
    let [Some(value)] = values else { return None };
    let list = value.split_ascii_whitespace().collect::<Vec<_>>().join(",");
    list.parse().ok().filter(|cpus: &CpuSet| !cpus.is_empty())
}
