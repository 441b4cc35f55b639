//! Whether a machine is as it was made: what is not, first.

use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_profiles::Skipped;
use whylate_tuning::Verification;

/// So many of what is not covered are named.
const MOST: usize = 12;

/// Whether a machine still has the settings that were applied, as text. Ends with a line break.
pub fn render(verified: &Verification, style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, verified);
    text.finish()
}

fn write(page: &mut Page, verified: &Verification) {
    if verified.applies.is_empty() {
        page.paragraph(0, "nothing is applied: see `whylate history`", Ink::Plain);
        return;
    }
    for drift in &verified.drifts {
        page.gap();
        page.led(0, ("drift: ", Ink::Yellow), &words::clean(&drift.what), Ink::Strong);
        // An apply that did not get to its end has no value that it applied.
        if !drift.made.is_empty() {
            page.labelled(2, ("applied ", Ink::Faint), &words::clean(&drift.made), Ink::Plain);
        }
        page.labelled(2, ("now     ", Ink::Faint), &words::clean(&drift.now), Ink::Plain);
        if let Some(before) = &drift.before {
            page.labelled(2, ("before  ", Ink::Faint), &words::clean(before), Ink::Plain);
        }
        for who in &drift.who {
            page.labelled(2, ("cause   ", Ink::Faint), &words::clean(who), Ink::Plain);
        }
    }
    if !verified.unknown.is_empty() {
        page.gap();
        page.line(&[("Cannot tell", Ink::Yellow)]);
        for Skipped { what, why } in &verified.unknown {
            page.led(2, (&format!("{}: ", words::clean(what)), Ink::Faint), &words::clean(why), Ink::Plain);
        }
    }
    if !verified.skipped.is_empty() {
        page.gap();
        page.line(&[("Skipped by the apply (optional, refused)", Ink::Faint)]);
        for Skipped { what, why } in &verified.skipped {
            let text = if why.contains(what.as_str()) { why.clone() } else { format!("{what}: {why}") };
            page.paragraph(2, &words::clean(&text), Ink::Plain);
        }
    }
    if !verified.pending.is_empty() {
        page.gap();
        page.line(&[("After the next reboot", Ink::Cyan)]);
        for parameter in &verified.pending {
            page.paragraph(2, &words::clean(parameter), Ink::Plain);
        }
    }
    if !verified.uncovered.is_empty() {
        page.gap();
        page.line(&[("Not covered", Ink::Cyan)]);
        for one in verified.uncovered.iter().take(MOST) {
            let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
            let text = format!("{}: {}, desired {}", one.setting, side(&one.now), side(&one.desired));
            page.paragraph(2, &words::clean(&text), Ink::Plain);
        }
        if let more @ 1.. = verified.uncovered.len().saturating_sub(MOST) {
            page.paragraph(2, &format!("and {more} more"), Ink::Plain);
        }
        let next = "they came after the apply: run `whylate plan` with the same profile to see them, `whylate apply` to set them";
        page.paragraph(2, next, Ink::Faint);
    }
    page.gap();
    let ids: Vec<String> = verified.applies.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        format!("apply {}", ids.join(", ")),
        format!("{} as set", verified.as_made),
        format!("{} drifted", verified.drifts.len()),
        format!("{} cannot tell", verified.unknown.len()),
    ];
    facts.extend((!verified.skipped.is_empty()).then(|| format!("{} skipped", verified.skipped.len())));
    facts.extend(
        (!verified.uncovered.is_empty()).then(|| format!("{} not covered", verified.uncovered.len())),
    );
    facts.extend((verified.ended > 0).then(|| format!("{} threads ended", verified.ended)));
    page.facts(&facts);
}
