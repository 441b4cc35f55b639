//! One colour per cause, the same in bars, tables, legends and timelines.
//!
//! Families of causes share a hue: the hues are told apart with any of the common colour
//! blindnesses (after Okabe and Ito, and Tol), members of a family by lightness. Colour is
//! never alone: everything drawn also has its name.

use whylate_base::Tid;
use whylate_ledger::{Activation, Cause, Culprit, Occupant};

/// How a rectangle is filled: the class name of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fill {
    Cause(Cause),
    /// A real-time thread that the ledger does not accuse.
    OtherRealtime,
    /// A SCHED_OTHER thread that the ledger does not accuse.
    OtherFair,
    Idle,
    Unknown,
}

impl Fill {
    /// The CSS class.
    pub(crate) fn class(self) -> String {
        match self {
            Fill::Cause(cause) => format!("c-{}", cause.code()),
            Fill::OtherRealtime => "c-other-rt".to_owned(),
            Fill::OtherFair => "c-other".to_owned(),
            Fill::Idle => "c-idle".to_owned(),
            Fill::Unknown => format!("c-{}", Cause::TraceLoss.code()),
        }
    }

    /// What the colour stands for in a legend.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Fill::Cause(cause) => cause.code(),
            Fill::OtherRealtime => "other real-time thread",
            Fill::OtherFair => "other thread",
            Fill::Idle => "idle",
            Fill::Unknown => "unknown",
        }
    }
}

/// The fill of whoever has a CPU: the victim in the colour of its own work, a thread that the
/// ledger accuses of having held the CPU in the colour of that cause.
pub(crate) fn of_occupant(who: &Occupant, activation: &Activation) -> Fill {
    match *who {
        Occupant::Idle => Fill::Idle,
        Occupant::Unknown => Fill::Unknown,
        Occupant::Irq { .. } => Fill::Cause(Cause::Irq),
        Occupant::Softirq { .. } => Fill::Cause(Cause::Softirq),
        Occupant::Task { tid, .. } if tid == activation.tid => Fill::Cause(Cause::OwnWork),
        Occupant::Task { tid, priority, .. } => match accusation(activation, tid) {
            Some(cause) => Fill::Cause(cause),
            None if priority.is_realtime() => Fill::OtherRealtime,
            None => Fill::OtherFair,
        },
    }
}

fn accusation(activation: &Activation, thread: Tid) -> Option<Cause> {
    let is = |by: Option<Culprit>| matches!(by, Some(Culprit::Task { tid, .. }) if tid == thread);
    let charged = |cause: Cause| activation.ledger.iter().any(|one| one.cause == cause && is(one.by));
    Cause::ALL.into_iter().filter(|&cause| holds_cpu(cause)).find(|&cause| charged(cause))
}

/// Whether the culprit of this cause has the CPU while time is charged to it. One that used
/// up a budget before has not: its slices in that colour would show the delay where it was not.
fn holds_cpu(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::DeadlineTask
            | Cause::StopTask
            | Cause::FairServer
            | Cause::ExtServer
            | Cause::IrqsDisabled
            | Cause::PreemptionDisabled
            | Cause::LockInversion
            | Cause::LockWait
            | Cause::FairQueue
            | Cause::PinnedBeforePriority
    )
}

/// The rules for every fill: background for HTML, fill for SVG, and a readable text colour.
pub(crate) fn css() -> String {
    let mut rules = String::new();
    for cause in Cause::ALL {
        let color = color(cause);
        let text = if is_light(color) { "#111" } else { "#fff" };
        let class = Fill::Cause(cause).class();
        rules.push_str(&format!(
            ".{class}{{fill:#{color:06x};background:#{color:06x}}}.timeline .t-{0}{{fill:{text}}}.chip.t-{0}{{color:{text}}}",
            cause.code()
        ));
    }
    for series in 0..8 {
        rules.push_str(&format!(".s{series}{{color:var(--s{series})}}"));
    }
    rules
}

/// The class of text on a fill.
pub(crate) fn text_class(fill: Fill) -> String {
    match fill {
        Fill::Cause(cause) => format!("t-{}", cause.code()),
        Fill::Unknown => format!("t-{}", Cause::TraceLoss.code()),
        Fill::OtherRealtime => "t-other-rt".to_owned(),
        Fill::OtherFair | Fill::Idle => "t-other".to_owned(),
    }
}

fn color(cause: Cause) -> u32 {
    match cause {
        // Vermilion: another thread, by the rules.
        Cause::HigherPriorityTask => 0xd55e00,
        Cause::EqualPriorityTask => 0xe9873f,
        Cause::DeadlineTask => 0xb04a00,
        Cause::StopTask => 0x853800,
        Cause::FairServer => 0xf0a36b,
        Cause::ExtServer => 0xf5c19b,
        Cause::FairQueue => 0xc78a62,
        // Purple: bandwidth control.
        Cause::RtThrottled => 0x9b3d8f,
        Cause::CoarseClockThrottled => 0x6f2a67,
        Cause::CgroupQuota => 0xbd77b4,
        // Amber: interrupts.
        Cause::Irq => 0xe69f00,
        Cause::Softirq => 0xf3c744,
        Cause::Nmi => 0xb27a00,
        // Brown: nobody may interrupt.
        Cause::IrqsDisabled => 0x7d5230,
        Cause::PreemptionDisabled => 0xa87b55,
        // Sky: timers, idle states, the switch itself.
        Cause::TimerLate => 0x56b4e9,
        Cause::TimerSlack => 0x97d1f3,
        Cause::IdleExit => 0x3590c4,
        Cause::Dispatch => 0x2a6f99,
        // Green: on the wrong CPU, or on none.
        Cause::WakePlacement => 0x009e73,
        Cause::Migration => 0x55c3a3,
        Cause::PinnedBeforePriority => 0x007050,
        Cause::Starved => 0x004d37,
        // Rose: locks.
        Cause::LockInversion => 0xc65b93,
        Cause::LockWait => 0xe09cc0,
        // Olive: memory and devices.
        Cause::PageFault => 0x8f8f2a,
        Cause::BlockIo => 0xbaba55,
        // Blue: itself.
        Cause::OwnWork => 0x0072b2,
        Cause::RelativeSleep => 0x4f9bcb,
        // Grey: nobody knows.
        Cause::Stolen => 0x5c6068,
        Cause::TraceLoss => 0x80858e,
        Cause::Unexplained => 0xa3a8b0,
    }
}

/// Whether dark text reads better on it (relative luminance of WCAG 2, without the gamma's tail).
fn is_light(color: u32) -> bool {
    let channel = |shift: u32| (f64::from((color >> shift) & 0xff) / 255.0).powf(2.2);
    let luminance = 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
    // Where contrast with #111 and with white is equal.
    luminance > 0.2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cause_has_a_colour_of_its_own() {
        let colors: BTreeSet<u32> = Cause::ALL.into_iter().map(color).collect();
        assert_eq!(colors.len(), Cause::ALL.len());
    }

    #[test]
    fn text_is_readable_on_every_colour() {
        let luminance = |color: u32| {
            let channel = |shift: u32| (f64::from((color >> shift) & 0xff) / 255.0).powf(2.2);
            0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
        };
        for cause in Cause::ALL {
            let fill = luminance(color(cause));
            let text = luminance(if is_light(color(cause)) { 0x111111 } else { 0xffffff });
            let contrast = (fill.max(text) + 0.05) / (fill.min(text) + 0.05);
            assert!(contrast >= 3.5, "{cause}: {contrast}");
        }
    }
}
