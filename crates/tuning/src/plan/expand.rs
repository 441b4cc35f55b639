//! A wish becomes settings: patterns meet what the machine has.

use super::parameters::NextBoot;
use super::{groups, irqs, knobs, parameters, threads, units};
use crate::{Setting, persist};
use std::collections::HashSet;
use whylate_host::{NO_LATENCY_REQUEST, Snapshot, Tree, Unread};
use whylate_profiles::{Aim, LeftOut, Wish};

/// A machine to plan for.
pub(super) struct Place<'a> {
    /// Its files.
    pub(super) tree: &'a Tree,
    /// What was read of it already.
    pub(super) host: &'a Snapshot,
    /// The parameters that its next boot will have.
    pub(super) boot: NextBoot,
}

impl<'a> Place<'a> {
    pub(super) fn new(tree: &'a Tree, host: &'a Snapshot) -> Place<'a> {
        Place { tree, host, boot: NextBoot::read(tree, host) }
    }
}

/// A setting as it is and as it is wished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) setting: Setting,
    pub(super) now: Option<String>,
    pub(super) then: Option<String>,
    pub(super) note: Option<String>,
}

impl Found {
    pub(super) fn new(setting: Setting, now: Option<String>, then: Option<String>) -> Found {
        Found { setting, now, then, note: None }
    }
}

/// What became of a wish.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) found: Vec<Found>,
    pub(super) left: Vec<LeftOut>,
}

impl Expanded {
    /// Settings, and nothing left.
    pub(super) fn found(found: Vec<Found>) -> Expanded {
        Expanded { found, left: Vec::new() }
    }

    /// One thing that is left alone.
    pub(super) fn left(what: impl ToString, why: impl ToString) -> Expanded {
        let mut expanded = Expanded::default();
        expanded.leave(what, why);
        expanded
    }

    /// Leaves something alone.
    pub(super) fn leave(&mut self, what: impl ToString, why: impl ToString) {
        self.left.push(LeftOut { what: what.to_string(), why: why.to_string() });
    }

    /// Leaves alone what could not be read.
    pub(super) fn unread(&mut self, what: impl ToString, unread: &Unread) {
        let what = what.to_string();
        let why = match what == unread.path {
            true => unread.why.to_string(),
            false => unread.to_string(),
        };
        self.leave(what, why);
    }
}

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
