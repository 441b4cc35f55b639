//! One colour per cause, the same in bars, tables, legends and timelines.
//!
//! The causes of a group share a hue. The hues differ for readers with any of the common colour
//! blindnesses (after Okabe and Ito, and Tol); the causes of a group differ by lightness. Colour is
//! never alone: everything drawn also has its name.

use whylate_base::Tid;
use whylate_ledger::{Activation, Cause, CauseGroup, Culprit, OnCpu};

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

/// The fill of what runs on a CPU: the victim in the colour of its own work, a thread that the
/// ledger accuses of having held the CPU in the colour of that cause.
pub(crate) fn of_on_cpu(who: &OnCpu, activation: &Activation) -> Fill {
    match *who {
        OnCpu::Idle => Fill::Idle,
        OnCpu::Unknown => Fill::Unknown,
        OnCpu::Irq { .. } => Fill::Cause(Cause::Irq),
        OnCpu::Softirq { .. } => Fill::Cause(Cause::Softirq),
        OnCpu::Task { tid, .. } if tid == activation.tid => Fill::Cause(Cause::OwnWork),
        OnCpu::Task { tid, priority, .. } => match accusation(activation, tid) {
            Some(cause) => Fill::Cause(cause),
            None if priority.is_realtime() => Fill::OtherRealtime,
            None => Fill::OtherFair,
        },
    }
}

fn accusation(activation: &Activation, thread: Tid) -> Option<Cause> {
    let is = |by: Option<Culprit>| matches!(by, Some(Culprit::Task { tid, .. }) if tid == thread);
    let charged = |cause: Cause| activation.ledger.iter().any(|one| one.cause == cause && is(one.by));
    // A culprit that used up a budget earlier has no slices where the delay was.
    Cause::ALL.into_iter().filter(|cause| cause.culprit_holds_cpu()).find(|&cause| charged(cause))
}

/// The rules for the fills that are used in `markup`: background for HTML, fill for SVG, and a readable text colour.
pub(crate) fn css(markup: &str) -> String {
    let mut rules = String::new();
    for cause in Cause::ALL {
        let class = Fill::Cause(cause).class();
        if !uses(markup, &class) {
            continue;
        }
        let color = color(cause);
        let text = if is_light(color) { "#111" } else { "#fff" };
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

/// Whether the name of a class is in `markup`, apart from longer names that begin with it.
fn uses(markup: &str, class: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    markup.match_indices(class).any(|(at, _)| !markup[at + class.len()..].starts_with(is_name))
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

/// A shade of its group's colour. A cause at the end of its group takes the next shade and changes no other.
fn color(cause: Cause) -> u32 {
    let shades = shades(cause.group());
    let place = cause.place_in_group();
    shades.get(place).copied().unwrap_or_else(|| lighter(shades[0], place))
}

/// The shades of a group's causes, in the order of [`Cause::ALL`].
fn shades(group: CauseGroup) -> &'static [u32] {
    match group {
        // Vermilion
        CauseGroup::OtherThreads => {
            &[0xd55e00, 0xe9873f, 0xb04a00, 0x853800, 0xf0a36b, 0xf5c19b, 0xc78a62, 0xdb7d4a, 0x5e2700]
        }
        // Purple
        CauseGroup::CpuTimeLimits => &[0x9b3d8f, 0x6f2a67, 0xbd77b4, 0xdaaed4, 0x84407c],
        // Amber
        CauseGroup::Interrupts => &[
            0xe69f00, 0xf3c744, 0xb27a00, 0xf7d985, 0x8a5e00, 0xd9b04a, 0xc98f2e, 0x6b4900, 0x9c7a26,
            0xfbe8b5,
        ],
        // Brown
        CauseGroup::Disabled => &[0x7d5230, 0xa87b55],
        // Sky
        CauseGroup::WakeUpPath => &[0x56b4e9, 0x97d1f3, 0x3590c4, 0x2a6f99],
        // Green
        CauseGroup::Placement => &[0x009e73, 0x55c3a3, 0x007050, 0x004d37],
        // Rose
        CauseGroup::Locks => &[0xc65b93, 0xe09cc0],
        // Olive
        CauseGroup::MemoryAndDevices => &[0x8f8f2a, 0xbaba55, 0x6b6b1a],
        // Blue
        CauseGroup::OwnProgram => &[0x0072b2, 0x4f9bcb, 0x00507c],
        // Grey
        CauseGroup::NotShown => &[0x5c6068, 0x80858e, 0xa3a8b0],
    }
}

/// A shade beyond those chosen by hand: nearer to white by a tenth for each place.
fn lighter(color: u32, place: usize) -> u32 {
    let tenths = place.min(9) as u32;
    let channel = |shift: u32| {
        let value = (color >> shift) & 0xff;
        (value + (255 - value) * tenths / 10) << shift
    };
    channel(16) | channel(8) | channel(0)
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
    fn a_cause_without_a_chosen_shade_is_a_lighter_one() {
        assert_eq!(lighter(0x000000, 5), 0x7f7f7f);
        assert_eq!(lighter(0xd55e00, 7), 0xf2ceb2);
        let chosen = CauseGroup::ALL.into_iter().map(|group| shades(group).len()).sum::<usize>();
        assert_eq!(chosen, Cause::ALL.len(), "every cause has a shade of its own today");
    }

    #[test]
    fn only_the_colours_of_the_markup_are_in_its_style() {
        let rules = css("<i class=\"c-irqs-disabled\"></i><i class=\"chip c-own-work t-own-work\"></i>");
        for (class, is_used) in [(".c-irqs-disabled{", true), (".c-own-work{", true), (".c-irq{", false)] {
            assert_eq!(rules.contains(class), is_used, "{class}");
        }
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
