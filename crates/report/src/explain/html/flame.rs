//! The own work of a thread's worst activations as a differential flame graph: the width of a function is its CPU time in
//! them, its colour how that differs from the other activations.

use crate::words;
use maud::{Markup, html};
use std::collections::BTreeMap;
use whylate_events::Stacks;
use whylate_ledger::{CpuProfile, SampleCounts};

const WIDTH: f64 = 1136.0;
const ROW: f64 = 18.0;
/// Narrower functions are not drawn.
const NARROWEST: f64 = 1.0;
/// Width of a character of a label.
const CHARACTER: f64 = 6.4;
/// A label of fewer characters explains nothing.
const SHORTEST: usize = 4;

/// The figure; `None` without a sample in the worst activations.
pub(super) fn figure(profile: &CpuProfile, stacks: &Stacks) -> Option<Markup> {
    let root = Node::root(profile, stacks);
    let mut boxes = Vec::new();
    let scale = WIDTH / root.counts.worst as f64;
    if root.counts.worst == 0 {
        return None;
    }
    place(&root, (0.0, 0), scale, &mut boxes);
    let rows = boxes.iter().map(|one| one.depth + 1).max().unwrap_or(1);
    let height = rows as f64 * ROW;
    Some(html! {
        figure.flamed {
            div.wide {
                svg.flame viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                    aria-label="Flame graph of own work in the worst activations" {
                    @for one in &boxes {
                        // The outermost function is at the bottom.
                        @let y = height - (one.depth + 1) as f64 * ROW;
                        @let change = profile.change(one.counts);
                        rect class=(class(change)) fill-opacity=(format!("{:.2}", opacity(change))) x=(px(one.x)) y=(px(y))
                            width=(px(one.width)) height=(px(ROW - 1.0)) { title { (about(one, profile)) } }
                        @if let Some(label) = label(one) { text x=(px(one.x + 4.0)) y=(px(y + 12.5)) { (label) } }
                    }
                }
            }
            figcaption {
                span.key { i class="swatch more" {} "more CPU time per activation than in the others" }
                span.key { i class="swatch same" {} "as much, as far as the samples show" }
                span.key { i class="swatch less" {} "less" }
            }
        }
    })
}

/// A function, as it was called.
#[derive(Default)]
struct Node {
    counts: SampleCounts,
    callees: BTreeMap<String, Node>,
}

impl Node {
    fn root(profile: &CpuProfile, stacks: &Stacks) -> Node {
        let mut root = Node::default();
        for &(stack, counts) in &profile.stacks {
            let mut node = &mut root;
            node.add(counts);
            let mut frames: Vec<String> = stacks
                .frames(stack)
                .map(|frame| frame.function().map_or_else(|| frame.to_string(), str::to_owned))
                .collect();
            while let Some(name) = frames.pop() {
                node = node.callees.entry(name).or_default();
                node.add(counts);
            }
        }
        root
    }

    fn add(&mut self, counts: SampleCounts) {
        self.counts.worst += counts.worst;
        self.counts.others += counts.others;
    }
}

/// A function as a rectangle.
struct FlameBox<'a> {
    name: &'a str,
    counts: SampleCounts,
    depth: usize,
    x: f64,
    width: f64,
}

/// Rectangles for the functions that `node` calls, side by side above it.
fn place<'a>(node: &'a Node, (mut x, depth): (f64, usize), scale: f64, boxes: &mut Vec<FlameBox<'a>>) {
    for (name, callee) in &node.callees {
        let width = callee.counts.worst as f64 * scale;
        if width >= NARROWEST {
            boxes.push(FlameBox { name, counts: callee.counts, depth, x, width });
            place(callee, (x, depth + 1), scale, boxes);
        }
        x += width;
    }
}

fn class(change: f64) -> &'static str {
    match change {
        change if change > 0.0 => "more",
        change if change < 0.0 => "less",
        _ => "same",
    }
}

/// The more it differs the fuller the colour, but never too full for the text on it.
fn opacity(change: f64) -> f64 {
    if change == 0.0 { 1.0 } else { 0.25 + 0.45 * change.abs() }
}

fn label(one: &FlameBox<'_>) -> Option<String> {
    let room = ((one.width - 6.0) / CHARACTER) as usize;
    let name = words::clean(one.name);
    match name.chars().count() {
        _ if room < SHORTEST => None,
        length if length <= room => Some(name),
        _ => Some(name.chars().take(room - 1).chain(['…']).collect()),
    }
}

fn about(one: &FlameBox<'_>, profile: &CpuProfile) -> String {
    let (worst, others) = profile.mean(one.counts);
    let others = match profile.activations.others {
        0 => String::new(),
        _ => format!(", {others} in each other"),
    };
    let samples = words::plural(one.counts.worst, "sample");
    format!("{}\n{worst} in each of the worst activations ({samples}){others}", words::clean(one.name))
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}
