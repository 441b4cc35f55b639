//! Runs side by side, for the comment on a pull request.

use crate::compare::runs::{self, Compared, Gated, News};
use crate::markdown::{code, escape, in_table};
use crate::{claims, words};
use whylate_investigate::compare::{CauseShift, Difference, Pair, Prepared};

/// Rows of settings, and of causes, that are written; the JSON has all.
const ROWS: usize = 20;

/// Runs side by side as Markdown: better or worse and why, what moved, causes, settings, gates and claims. Ends with a
/// line break.
pub fn render(compared: &Compared) -> String {
    let mut text = format!("# whylate compare: {}\n", escape(&compared.title()));
    text += &gates(compared);
    for one in &compared.comparison.pairs {
        text += &pair(compared, one);
    }
    if !compared.claims.is_empty() {
        text += "\n## Claims\n\n";
    }
    for claiming in &compared.claims {
        let sentences = claims::sentences(&claiming.claimed);
        for (at, sentence) in sentences.iter().enumerate() {
            text += &match at {
                0 => format!("- {}: {}\n", code(&compared.label(claiming.run)), escape(sentence)),
                _ => format!("  - {}\n", escape(sentence)),
            };
        }
    }
    text + &distributions(&compared.comparison.runs)
}

fn gates(compared: &Compared) -> String {
    if compared.gates.is_empty() {
        return String::new();
    }
    let row = |gated: &Gated| {
        let (answer, is_met) = runs::gate(&gated.judged);
        let word = match is_met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "cannot tell",
        };
        format!("| {word} | {} | {} |\n", in_table(&code(&compared.label(gated.run))), escape(&answer))
    };
    let rows: String = compared.gates.iter().map(row).collect();
    format!("\n| gate | run | |\n|---|---|---|\n{rows}")
}

fn pair(compared: &Compared, pair: &Pair) -> String {
    let mut text = "\n".to_owned();
    // The title names a single pair.
    if compared.comparison.pairs.len() > 1 {
        text += &format!("## {}\n\n", escape(&compared.verdict(pair)));
    }
    pair.why.iter().for_each(|why| text += &format!("- {}\n", escape(why)));
    let columns =
        ["latency".to_owned(), code(&compared.label(pair.before)), code(&compared.label(pair.after))];
    let columns = format!("{} | by | with 95 % |", columns.map(|column| in_table(&column)).join(" | "));
    let head = format!("\n| | {columns}\n|---|---|--:|--:|--:|---|\n");
    text += &format!("{head}{}", moved("all", &pair.all));
    match runs::threads(pair) {
        Err(why) => text += &format!("\n{why}\n"),
        Ok(threads) if threads.is_empty() => {}
        Ok(threads) => {
            let rows: String = threads.iter().map(|(name, part)| moved(name, part)).collect();
            let title = format!("Threads that differ on their own: {}", threads.len());
            let left_out = runs::left_out(pair).map(|left_out| format!("\n{}\n", escape(&left_out)));
            let left_out = left_out.unwrap_or_default();
            text += &format!("\n<details><summary>{title}</summary>\n{head}{rows}{left_out}\n</details>\n");
        }
    }
    text + &causes(&pair.causes) + &settings(pair)
}

fn moved(name: &str, part: &Difference) -> String {
    let mut own = escape(name);
    let row = |moved: runs::Moved| {
        let by = if moved.is_shown { format!("**{}**", moved.by) } else { moved.by };
        format!(
            "| {} | {} | {} | {} | {by} | {} |\n",
            std::mem::take(&mut own),
            moved.statistic,
            moved.before,
            moved.after,
            moved.chance
        )
    };
    runs::moved(part).into_iter().map(row).collect()
}

fn causes(causes: &[CauseShift]) -> String {
    if causes.is_empty() {
        return String::new();
    }
    let row = |cause: &CauseShift| {
        let news = News::of(cause);
        let word = if news == News::None { String::new() } else { format!("**{}**", news.word()) };
        let who = cause.culprit.as_deref().map(escape).unwrap_or_default();
        let (before, after) = (runs::seen(cause.before), runs::seen(cause.after));
        format!("| {} | {who} | {before} | {after} | {word} |\n", in_table(&code(&cause.cause)))
    };
    let rows: String = causes.iter().take(ROWS).map(row).collect();
    let unsure = runs::unsure(causes).map(|why| format!("\n{why}\n")).unwrap_or_default();
    format!(
        "\n### Causes of late samples\n\n| cause | culprit | before | now | |\n|---|---|---|---|---|\n{rows}{}{unsure}",
        more(causes.len())
    )
}

fn settings(pair: &Pair) -> String {
    let settings = match runs::settings(pair) {
        Err(why) => return format!("\n{why}\n"),
        Ok(settings) => settings,
    };
    let cell = |value: Option<&String>| in_table(&code(&runs::value(value)));
    let rows: String = settings
        .iter()
        .take(ROWS)
        .map(|setting| {
            let (before, after) = (cell(setting.before.as_ref()), cell(setting.after.as_ref()));
            format!("| {} | {before} | {after} |\n", in_table(&code(&setting.name)))
        })
        .collect();
    format!(
        "\n### What changed in the machine\n\n| setting | before | now |\n|---|---|---|\n{rows}{}",
        more(settings.len())
    )
}

fn more(all: usize) -> String {
    if all > ROWS { format!("\nand {} more\n", all - ROWS) } else { String::new() }
}

/// The runs themselves, folded, and what must be known of their numbers.
fn distributions(runs: &[Prepared]) -> String {
    let mut text = "\n<details><summary>Distributions</summary>\n\n| run | samples |".to_owned();
    words::DISTRIBUTION.iter().for_each(|name| text += &format!(" {name} |"));
    text += "\n|---|";
    text += &"--:|".repeat(words::DISTRIBUTION.len() + 1);
    for run in runs {
        let numbers = words::distribution(&run.all.histogram).join(" | ");
        text += &format!("\n| {} | {numbers} |", escape(&runs::described(run).join(" · ")));
    }
    text += "\n";
    for (at, (label, note)) in runs::notes(runs).into_iter().enumerate() {
        text += if at == 0 { "\n" } else { "" };
        text += &format!("- {}: {}\n", code(&label), escape(&note));
    }
    text + "\n</details>\n"
}
