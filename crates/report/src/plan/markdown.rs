//! What tuning would change, for review in a pull request or a ticket.

use crate::markdown::{code, escape, in_table};
use crate::plan::changes;
use whylate_tuning::Plan;

/// What tuning would change as Markdown. Ends with a line break.
pub fn render(plan: &Plan) -> String {
    let mut text = format!("# whylate plan {}\n\n", escape(&changes::title(plan)));
    let facts: Vec<String> = changes::facts(plan).iter().map(|fact| escape(fact)).collect();
    text += &format!("{}\n", facts.join(" · "));
    if !plan.refusals.is_empty() {
        text += "\n## Refused\n\n";
        for refusal in &plan.refusals {
            let (why, fix) = (escape(&refusal.why), escape(&refusal.fix));
            text += &format!("- {}: {why} Fix: {fix}\n", code(&refusal.code));
        }
    }
    if !plan.conflicts.is_empty() {
        text += "\n## Conflicts\n\n";
        for conflict in &plan.conflicts {
            let (with, why, fix) = (code(&conflict.with), escape(&conflict.why), escape(&conflict.fix));
            let concerned =
                changes::concerned(&conflict.settings).map(|text| format!(" ({})", escape(&text)));
            text += &format!("- {with}: {why}{}. Fix: {fix}\n", concerned.unwrap_or_default());
        }
    }
    for section in changes::sections(plan) {
        text += &format!("\n## {}\n\n| what | now | then | why |\n|---|---|---|---|\n", section.title);
        for block in &section.blocks {
            let why = escape(&changes::reasons(block));
            for row in &block.rows {
                let (now, then) = row.values();
                let target = |text: &str| in_table(&code(text));
                text += &format!(
                    "| {} | {} | {} | {} |\n",
                    target(&row.name()),
                    target(&now),
                    target(&then),
                    why
                );
            }
        }
    }
    for (title, pairs) in [
        ("Already set for the next boot", changes::not_yet(plan)),
        ("Optional, and the kernel will refuse it", changes::predicted(plan)),
        ("Skipped", changes::by_reason(&plan.skipped)),
        ("Not supported from the profile", changes::by_reason(&plan.desired.skipped)),
    ] {
        if !pairs.is_empty() {
            text += &format!("\n## {title}\n\n");
            pairs
                .iter()
                .for_each(|(first, second)| text += &format!("- {}: {}\n", escape(first), escape(second)));
        }
    }
    text
}
