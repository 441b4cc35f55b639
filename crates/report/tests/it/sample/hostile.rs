//! An explanation whose names and texts try to break out of their place.

use super::activations::{by_hand, culprit};
use super::section::section;
use super::story::story;
use std::sync::Arc;
use whylate_base::{Comm, Evidence, Priority, SourceLocation, Tid};
use whylate_events::{Damage, Name, Stacks};
use whylate_ledger::{Cause, Culprit, Explanation, OnCpu, Trigger};

/// [`story`] with names and texts that try to break out of their place.
pub(crate) fn hostile() -> Explanation {
    let name = Comm::from("\x1b]0;<script>&\"'");
    let text = "<script>alert(1)</script>\x1b[2J\u{202e}\"'&";
    let mut story = story();
    story.sections = section().sections;
    for section in &mut story.sections {
        section.why = text.to_owned();
        section.opened_by = Some(text.to_owned());
        section.thread = Some(culprit(name.as_str(), 1, Priority(0)));
        section.parts.iter_mut().for_each(|part| part.function = text.to_owned());
        section.gaps.iter_mut().for_each(|gap| gap.after = text.to_owned());
        section.stack = vec![text.to_owned()];
    }
    // Names of functions and files are what a program's symbols have.
    let location = SourceLocation {
        function: Some(text.to_owned()),
        file: Some(text.to_owned()),
        line: Some(1),
        module: Some(text.to_owned()),
        offset: Some(1),
    };
    let evidence =
        Evidence { location: Some(location.clone()), ..Evidence::general(format!("{text} {location}")) };
    let notes = vec![format!("{text} has no symbols")];
    story.trace.stacks = Some(Arc::new(Stacks { lost: 1, notes, ..Stacks::default() }));
    story.trace.format = text.to_owned();
    story.trace.clock = Some(text.to_owned());
    story.trace.kernel_release = Some(text.to_owned());
    story.trace.machine = Some(text.to_owned());
    story.trace.damage = vec![Damage::whole(text)];
    for task in &mut story.tasks {
        task.comm = name;
    }
    for activation in &mut story.activations {
        activation.comm = name;
        activation.trigger = Trigger::Irq { irq: 7, name: Name::from(text) };
        activation.verdict.why = text.to_owned();
        activation.verdict.fix = vec![by_hand(text)];
        activation.verdict.evidence = vec![evidence.clone()];
        activation.verdict.by = Some(Culprit::Task { tid: Tid(1), comm: name, priority: Priority(0) });
        for segment in &mut activation.ledger {
            segment.by = Some(Culprit::Irq { irq: None, name: Name::from(text) });
        }
        for slice in activation.tracks.iter_mut().flat_map(|track| &mut track.slices) {
            if let OnCpu::Task { comm, .. } = &mut slice.on_cpu {
                *comm = name;
            }
        }
    }
    for finding in &mut story.findings {
        // Beside a title of one long word, a longer code leaves no room in a narrow terminal.
        finding.code = Cause::Irq.code();
        finding.title = text.to_owned();
        finding.why = text.to_owned();
        finding.fix = vec![by_hand(text)];
        finding.evidence = vec![evidence.clone()];
    }
    story
}
