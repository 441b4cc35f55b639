//! A wish becomes settings: patterns meet what the machine has.

use super::context::Place;
use super::expansion::{Expanded, Found};
use super::{groups, irqs, knobs, parameters, threads, units};
use crate::{Setting, persist};
use std::collections::HashSet;
use whylate_host::NO_LATENCY_REQUEST;
use whylate_profiles::{Aim, Wish};

/// What a wish comes to; `settled` is what a later one has settled already.
pub(super) fn expand(wish: &Wish, place: &Place<'_>, settled: &HashSet<Setting>) -> Expanded {
    match &wish.aim {
        Aim::Knob { path } => knobs::expand(path, wish.value.as_deref(), place.tree),
        Aim::ThreadPolicy { threads } => {
            threads::policies(threads, wish.value.as_deref(), place.host, settled)
        }
        Aim::ThreadCpus { threads } => threads::cpus(threads, wish.value.as_deref(), place.host, settled),
        Aim::Irqs => irqs::expand(wish.value.as_deref(), place),
        Aim::Parameter { name } => parameters::expand(name, wish.value.as_deref(), place),
        Aim::UnitActive { unit } => units::active(unit, wish.value.as_deref(), place),
        Aim::UnitEnabled { unit } => units::enabled(unit, wish.value.as_deref(), place),
        Aim::Variable { file, section, name } => {
            units::variable((file, section.as_deref(), name), wish.value.as_deref(), place)
        }
        Aim::Partition { group } => groups::expand(group, wish.value.as_deref(), place.tree),
        Aim::CpuDmaLatency => dma_latency(wish.value.as_deref(), place),
    }
}

/// The kernel keeps to the lowest of all requests: one as low is as good, whoever holds it.
fn dma_latency(value: Option<&str>, place: &Place<'_>) -> Expanded {
    let setting = Setting::CpuDmaLatency;
    let now = match place.host.cpus.dma_latency_us.need() {
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
    if now != Some(then) && persist::has_no_holder(place.tree) {
        return Expanded::left(
            setting,
            "a request lasts for as long as a process holds the file open, and systemd, which would run one, does not \
             run here: let your program open it",
        );
    }
    let text = |us: u64| us.to_string();
    Expanded::found(vec![Found::new(setting, now.map(text), Some(text(then)))])
}
