//! The values that a machine has of settings that a profile names.

use super::model::{SideValue, ValueState};
use super::side_values::SideValues;
use super::subject::ComparedSubject;
use crate::plan::context::PlanContext;
use crate::plan::expansion::Expanded;
use crate::plan::{captured, expand};
use std::collections::HashSet;
use whylate_bootloader as bootloader;
use whylate_host::NO_LATENCY_REQUEST;
use whylate_profiles::{DesiredSetting, Selector};

/// The current values.
pub(super) fn values<'s>(
    settings: impl IntoIterator<Item = &'s DesiredSetting>,
    context: &PlanContext<'_>,
) -> SideValues {
    let mut values = SideValues::default();
    let nothing = HashSet::new();
    for setting in settings {
        // Whether a request could be made there does not matter to what is requested.
        if setting.selector == Selector::CpuDmaLatency {
            values.add(ComparedSubject::CpuDmaLatency, dma_latency(context));
            continue;
        }
        let expanded = expand::expand(setting, context, &nothing);
        if expanded.found.is_empty() {
            if let Some(value) = absent(setting, &expanded, context) {
                values.add(ComparedSubject::of_selector(&setting.selector), value);
            }
            continue;
        }
        for found in expanded.found {
            let subject = ComparedSubject::of_setting(&found.setting, context.host);
            values.join(subject, SideValue::read(found.now, found.note));
        }
    }
    values
}

/// The lowest request, in us.
fn dma_latency(context: &PlanContext<'_>) -> SideValue {
    match context.host.cpus.dma_latency_us.need() {
        Ok(&us) => SideValue::read((us < NO_LATENCY_REQUEST).then(|| us.to_string()), None),
        Err(unread) => SideValue::without(ValueState::Unread, Some(captured::shortened(&unread.to_string()))),
    }
}

/// Why a machine has no value; `None`: nothing is known of it.
fn absent(setting: &DesiredSetting, expanded: &Expanded, context: &PlanContext<'_>) -> Option<SideValue> {
    if let Selector::Parameter { name } = &setting.selector
        && let Some(value) = running(name, setting, context)
    {
        return Some(value);
    }
    let mut whys: Vec<String> = Vec::new();
    for left in &expanded.left {
        let why = captured::shortened(&left.why);
        if !whys.contains(&why) {
            whys.push(why);
        }
    }
    let state = if expanded.is_unread { ValueState::Unread } else { ValueState::NotApplicable };
    (!whys.is_empty()).then(|| SideValue::without(state, Some(whys.join("; "))))
}

/// Where the next boot is unknown, the parameter of the running kernel.
fn running(name: &str, setting: &DesiredSetting, context: &PlanContext<'_>) -> Option<SideValue> {
    let running = context.host.kernel.cmdline.known()?;
    let value = bootloader::value(running, name, setting.value.as_deref());
    Some(SideValue::read(value, None))
}

/// Why parameters are those of the running kernel; `None`: they are those of the next boot, or unknown.
pub(super) fn boot_note(context: &PlanContext<'_>) -> Option<String> {
    context.host.kernel.cmdline.known()?;
    let why = match &context.boot.cmdline {
        Ok(_) if !context.boot.assumed => return None,
        Ok(_) => "the boot loader's files were not collected".to_owned(),
        Err(why) => captured::shortened(why),
    };
    Some(format!(
        "kernel parameters are those of the running kernel; those of the next boot are unknown: {why}"
    ))
}
