//! A plan, as the wire types say it.

use super::document::{
    Aim, Change, Conflict, Document, Kept, LeftOut, Machine, Pattern, Reasons, Refusal, SCHEMA, Setting,
    ThreadId, Threads, Totals, Wish, Wishes,
};
use whylate_tuning as tuning;

fn each<'a, T: 'a, U: From<&'a T>>(all: &'a [T]) -> Vec<U> {
    all.iter().map(U::from).collect()
}

impl From<&tuning::Plan> for Document {
    fn from(plan: &tuning::Plan) -> Self {
        let after_reboot = plan.changes.iter().filter(|change| change.setting.needs_reboot()).count();
        let machine = plan.machine.clone();
        Document {
            schema: SCHEMA.to_owned(),
            machine: Machine { release: machine.release, cpus: machine.cpus, boot_id: machine.boot_id },
            totals: Totals {
                changes: plan.changes.len() as u64,
                after_reboot: after_reboot as u64,
                as_wished: plan.unchanged.len() as u64,
                left_alone: plan.skipped.len() as u64,
                conflicts: plan.conflicts.len() as u64,
                refusals: plan.refusals.len() as u64,
            },
            wishes: Wishes {
                profile: plan.desired.profile.clone(),
                variables: plan
                    .desired
                    .variables
                    .iter()
                    .cloned()
                    .map(|(name, value)| [name, value])
                    .collect(),
                wishes: each(&plan.desired.settings),
                left_out: each(&plan.desired.skipped),
            },
            changes: each(&plan.changes),
            as_wished: each(&plan.unchanged),
            left_alone: each(&plan.skipped),
            conflicts: each(&plan.conflicts),
            refusals: each(&plan.refusals),
        }
    }
}

impl From<&whylate_profiles::DesiredSetting> for Wish {
    fn from(wish: &whylate_profiles::DesiredSetting) -> Self {
        Wish {
            aim: Aim::from(&wish.selector),
            value: wish.value.clone(),
            reasons: Reasons::from(&wish.reasons),
            origin: wish.origin.clone(),
            optional: wish.optional,
        }
    }
}

impl From<&whylate_profiles::Selector> for Aim {
    fn from(aim: &whylate_profiles::Selector) -> Self {
        match aim.clone() {
            whylate_profiles::Selector::Tunable { path } => Aim::Knob { path },
            whylate_profiles::Selector::ThreadPolicy { threads } => {
                Aim::ThreadPolicy { threads: Threads::from(&threads) }
            }
            whylate_profiles::Selector::ThreadCpus { threads } => {
                Aim::ThreadCpus { threads: Threads::from(&threads) }
            }
            whylate_profiles::Selector::Irqs => Aim::Irqs,
            whylate_profiles::Selector::Parameter { name } => Aim::Parameter { name },
            whylate_profiles::Selector::UnitActive { unit } => Aim::UnitActive { unit },
            whylate_profiles::Selector::UnitEnabled { unit } => Aim::UnitEnabled { unit },
            whylate_profiles::Selector::Variable { file, section, name } => {
                Aim::Variable { file, section, name }
            }
            whylate_profiles::Selector::Partition { group } => Aim::Partition { group },
            whylate_profiles::Selector::CpuDmaLatency => Aim::CpuDmaLatency,
        }
    }
}

impl From<&whylate_profiles::Threads> for Threads {
    fn from(threads: &whylate_profiles::Threads) -> Self {
        Threads { named: Pattern::from(&threads.named), except: each(&threads.except) }
    }
}

impl From<&whylate_profiles::Pattern> for Pattern {
    fn from(pattern: &whylate_profiles::Pattern) -> Self {
        match pattern.clone() {
            whylate_profiles::Pattern::Glob(glob) => Pattern::Glob(glob),
            whylate_profiles::Pattern::Regex(regex) => Pattern::Regex(regex),
        }
    }
}

impl From<&whylate_profiles::Reasons> for Reasons {
    fn from(reasons: &whylate_profiles::Reasons) -> Self {
        let whylate_profiles::Reasons { why, rule, benefit, risk } = reasons.clone();
        Reasons { why, rule, benefit, risk }
    }
}

impl From<&tuning::Change> for Change {
    fn from(change: &tuning::Change) -> Self {
        Change {
            setting: Setting::from(&change.setting),
            name: change.setting.to_string(),
            now: change.now.clone(),
            then: change.then.clone(),
            after_reboot: change.setting.needs_reboot(),
            reasons: Reasons::from(&change.reasons),
            origin: change.origin.clone(),
            note: change.note.clone(),
        }
    }
}

impl From<&tuning::Unchanged> for Kept {
    fn from(kept: &tuning::Unchanged) -> Self {
        Kept {
            setting: Setting::from(&kept.setting),
            name: kept.setting.to_string(),
            value: kept.value.clone(),
            note: kept.note.clone(),
        }
    }
}

impl From<&tuning::Setting> for Setting {
    fn from(setting: &tuning::Setting) -> Self {
        match setting.clone() {
            tuning::Setting::Tunable { path } => Setting::Knob { path },
            tuning::Setting::ThreadPolicy { thread } => {
                Setting::ThreadPolicy { thread: ThreadId::from(&thread) }
            }
            tuning::Setting::ThreadCpus { thread } => Setting::ThreadCpus { thread: ThreadId::from(&thread) },
            tuning::Setting::Parameter { name } => Setting::Parameter { name },
            tuning::Setting::UnitActive { unit } => Setting::UnitActive { unit },
            tuning::Setting::UnitEnabled { unit } => Setting::UnitEnabled { unit },
            tuning::Setting::Variable { file, section, name } => Setting::Variable { file, section, name },
            tuning::Setting::Partition { group } => Setting::Partition { group },
            tuning::Setting::CpuDmaLatency => Setting::CpuDmaLatency,
        }
    }
}

impl From<&tuning::ThreadId> for ThreadId {
    fn from(thread: &tuning::ThreadId) -> Self {
        let tuning::ThreadId { pid, tid, started, name } = thread.clone();
        ThreadId { pid, tid, started, name }
    }
}

impl From<&whylate_profiles::Skipped> for LeftOut {
    fn from(left: &whylate_profiles::Skipped) -> Self {
        let whylate_profiles::Skipped { what, why } = left.clone();
        LeftOut { what, why }
    }
}

impl From<&tuning::Conflict> for Conflict {
    fn from(conflict: &tuning::Conflict) -> Self {
        let tuning::Conflict { with, why, fix, settings } = conflict.clone();
        Conflict { with, why, fix, settings }
    }
}

impl From<&tuning::Refusal> for Refusal {
    fn from(refusal: &tuning::Refusal) -> Self {
        let tuning::Refusal { code, why, fix } = refusal.clone();
        Refusal { code, why, fix }
    }
}
