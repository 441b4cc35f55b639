//! What a thread's own work was, by its sampled call stacks.

use super::flame;
use crate::explain::facts;
use crate::words;
use maud::{Markup, html};
use whylate_events::{ModuleKind, StackId, Stacks};
use whylate_ledger::{CpuProfile, Place};

/// Frames of a stack that are listed.
const FRAMES: usize = 48;

/// The flame graph of a thread's worst activations, below what it shows.
pub(super) fn profile(profile: &CpuProfile, stacks: &Stacks) -> Markup {
    html! {
        @if let Some(figure) = flame::figure(profile, stacks) {
            h4 { "Own work" }
            p.sure { (facts::compared(profile)) }
            @if let Some(grown) = facts::grown(profile) { p { (grown) } }
            (figure)
        }
    }
}

/// A place with its call stack folded.
pub(super) fn place(place: &Place, stacks: &Stacks) -> Markup {
    html! {
        details.calls {
            summary { (place.role.title()) ": " (words::clean(&place.location.to_string())) }
            (frames(place.stack, stacks))
        }
    }
}

fn frames(stack: StackId, stacks: &Stacks) -> Markup {
    let frames: Vec<_> = stacks.frames(stack).collect();
    let left = frames.len().saturating_sub(FRAMES);
    html! {
        ol {
            @for frame in frames.iter().take(FRAMES) {
                @let is_ours = matches!(frame.kind(), ModuleKind::Program | ModuleKind::Jit);
                li class=[(!is_ours).then_some("soft")] { (words::clean(&frame.to_string())) }
            }
            @if left > 0 { li.soft { (words::plural(left as u64, "more caller")) } }
        }
    }
}
