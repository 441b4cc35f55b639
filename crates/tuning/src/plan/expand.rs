//! A desired setting becomes settings: patterns meet what the machine has.

use super::context::PlanContext;
use super::expansion::{Expanded, Found};
use super::threads::Placed;
use super::{groups, irqs, parameters, threads, tunables, units};
use crate::{Setting, persist};
use std::collections::HashSet;
use whylate_host::NO_LATENCY_REQUEST;
use whylate_profiles::{DesiredSetting, Selector};

/// What all desired settings come to, in their order. Of patterns that overlap the later one counts: what it settles no
/// earlier one looks at.
pub(super) fn all<'d>(
    desired: &'d [DesiredSetting],
    context: &PlanContext<'_>,
) -> Vec<(&'d DesiredSetting, Expanded)> {
    let mut settled: HashSet<Setting> = HashSet::new();
    let mut expanded: Vec<(&DesiredSetting, Expanded)> = Vec::new();
    for desired_setting in desired.iter().rev() {
        let mut one = expand(desired_setting, context, &settled);
        one.found.retain(|found| !settled.contains(&found.setting));
        settled.extend(one.found.iter().map(|found| found.setting.clone()));
        expanded.push((desired_setting, one));
    }
    expanded.reverse();
    expanded
}

/// What a desired setting comes to; `settled` is what a later one has settled already.
pub(super) fn expand(
    desired_setting: &DesiredSetting,
    context: &PlanContext<'_>,
    settled: &HashSet<Setting>,
) -> Expanded {
    match &desired_setting.selector {
        Selector::Tunable { path } => tunables::expand(path, desired_setting.value.as_deref(), context.tree),
        Selector::ThreadPolicy { threads } => {
            threads::policies(threads, desired_setting.value.as_deref(), context.host, settled)
        }
        Selector::ThreadCpus { threads } => {
            threads::cpus(threads, desired_setting.value.as_deref(), context.host, settled, Placed::Stay)
        }
        Selector::ThreadPlacement { threads } => {
            threads::cpus(threads, desired_setting.value.as_deref(), context.host, settled, Placed::Move)
        }
        Selector::Irqs => irqs::expand(desired_setting.value.as_deref(), context),
        Selector::Parameter { name } => parameters::expand(name, desired_setting.value.as_deref(), context),
        Selector::UnitActive { unit } => units::active(unit, desired_setting.value.as_deref(), context),
        Selector::UnitEnabled { unit } => units::enabled(unit, desired_setting.value.as_deref(), context),
        Selector::Variable { file, section, name } => {
            units::variable((file, section.as_deref(), name), desired_setting.value.as_deref(), context)
        }
        Selector::Partition { group } => {
            groups::expand(group, desired_setting.value.as_deref(), context.tree)
        }
        Selector::CpuDmaLatency => dma_latency(desired_setting.value.as_deref(), context),
    }
}

/// The kernel keeps to the lowest of all requests: one as low is as good, whichever program holds it.
fn dma_latency(value: Option<&str>, context: &PlanContext<'_>) -> Expanded {
    let setting = Setting::CpuDmaLatency;
    let now = match context.host.cpus.dma_latency_us.need() {
        Ok(&us) => (us < NO_LATENCY_REQUEST).then_some(us),
        Err(unread) => {
            let mut left = Expanded::default();
            left.unread(setting, &unread);
            return left;
        }
    };
    let Some(value) = value else { return Expanded::default() };
    let Ok(asked) = value.trim().parse::<u64>() else {
        return Expanded::left(setting, format!("`{value}` is no number of microseconds"));
    };
    let then = now.filter(|&now| now <= asked).unwrap_or(asked);
    if now != Some(then) && persist::has_no_holder(context.tree) {
        return Expanded::left(
            setting,
            "a request lasts only while a process holds the file open, and systemd, which would run that process, does not run on this machine: open it in your program",
        );
    }
    let text = |us: u64| us.to_string();
    Expanded::found(vec![Found::new(setting, now.map(text), Some(text(then)))])
}
