//! An explanation as Markdown, for an issue.

use crate::explain::listed::{Listed, listed};
use crate::explain::{facts, peer_facts, rows};
use crate::markdown::{code, escape, in_table};
use crate::words;
use whylate_base::{AdvisedFix, Evidence, Finding, Ns};
use whylate_ledger::{Activation, Candidates, CriticalSection, Explanation, Spread};

/// How many threads have their worst activation in full; the others have their row in the table.
const IN_FULL: usize = 5;
/// How many rows of a ledger are listed; the small ones are summed up.
const ROWS: usize = 10;
/// Charges of a hop of a chain.
const CHARGES: usize = 3;
/// How many observations are listed; JSON has all of them.
const OBSERVATIONS: usize = 6;

/// An explanation as Markdown: the findings, the threads, the worst activation of the first few, and the limits of the
/// recording. Ends with a line break.
pub fn render(explanation: &Explanation) -> String {
    let mut text = format!("# whylate explain: {}\n\n", escape(&facts::title(explanation)));
    let trace: Vec<String> = words::trace(&explanation.trace).iter().map(|fact| escape(fact)).collect();
    text += &format!("{}\n", trace.join(" · "));
    text += &facts::scope(explanation).map_or_else(String::new, |scope| format!("\n{}\n", escape(&scope)));
    text += &explanation.candidates.as_ref().map_or_else(String::new, candidates);
    text += &findings(&explanation.findings);
    if let Some(closing) = crate::closing::closing(explanation) {
        text += &format!("\n{}\n", escape(&closing));
    }
    text += &chains(explanation);
    explanation.sections.iter().for_each(|one| text += &section(one));
    let listed = listed(&explanation.tasks);
    text += &threads(&listed);
    for task in listed.tasks.iter().take(IN_FULL) {
        if let Some(worst) = explanation.activations.iter().find(|activation| activation.tid == task.tid) {
            let thread = code(&words::thread(&task.comm, task.tid));
            text += &format!("\n## {thread}: worst activation\n{}", activation(worst));
        }
    }
    text += &host(explanation);
    text += &peer(explanation);
    text + &limits(explanation)
}

fn host(explanation: &Explanation) -> String {
    let facts = facts::host(explanation);
    if facts.is_empty() {
        return String::new();
    }
    let lines: String = facts.iter().map(|line| format!("- {}\n", escape(line))).collect();
    format!("\n## Host\n\n{lines}")
}

/// How another machine's recording was joined, with the hops of the worst round trip.
fn peer(explanation: &Explanation) -> String {
    let Some(peer) = &explanation.peer else { return String::new() };
    let facts = peer_facts::joined(explanation);
    let lines: String = facts.iter().map(|line| format!("- {}\n", escape(line))).collect();
    let mut text = format!("\n## Peer\n\n{lines}");
    let Some(worst) = peer.worst.first() else { return text };
    text += &format!("\n{}\n", escape(&peer_facts::round_trip(worst, peer.join.error)));
    text += "\n| hop | time | usually | charged to |\n|---|--:|--:|---|\n";
    for hop in &worst.hops {
        let charges = peer_facts::charges(hop).collect::<Vec<_>>().join(", ");
        let place = in_table(&peer_facts::place(hop));
        text += &format!("| {place} | {} | {} | {} |\n", hop.time(), hop.usually, in_table(&charges));
    }
    text
}

/// Chains, each with the hops of its worst instance.
fn chains(explanation: &Explanation) -> String {
    let Some(chains) = &explanation.chains else { return String::new() };
    let mut text = "\n## Chains\n".to_owned();
    for chain in &chains.found {
        text += &format!("\n### {}\n\n{}\n", code(&chain.names().join(" -> ")), escape(&facts::chain(chain)));
        let Some(worst) = chain.worst.first() else { continue };
        text += &format!("\n{}\n", escape(&facts::chain_instance(worst)));
        text += "\n| hop | by | time | usually | charged to |\n|---|---|--:|--:|---|\n";
        for (index, hop) in worst.hops.iter().enumerate() {
            let usual = chain.usual.get(index).map_or_else(String::new, ToString::to_string);
            let charges = facts::hop_charges(hop, CHARGES).join(", ");
            let path = format!("{} -> {}", hop.from, hop.to);
            text += &format!(
                "| {} | {} | {} | {usual} | {} |\n",
                in_table(&path),
                facts::hop_by(hop),
                hop.length(),
                in_table(&charges)
            );
        }
    }
    for line in facts::chains(chains) {
        text += &format!("\n{}\n", escape(&line));
    }
    text
}

/// Findings, each with what shows it and what to do.
pub(crate) fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut text = "\n## Findings\n".to_owned();
    for finding in findings {
        text += &format!("\n### {}: {} ({})\n", finding.severity, escape(&finding.title), code(finding.code));
        if !finding.why.is_empty() {
            text += &format!("\n{}\n", escape(&finding.why));
        }
        text += &evidence(&finding.evidence);
        text += &fixes(&finding.fix);
    }
    text
}

/// One activation: when and how late, the verdict, the ledger, what shows it, what to do.
pub(crate) fn activation(activation: &Activation) -> String {
    if let Some(seen) = words::one_instant(activation) {
        return format!("\n{}\n", escape(&seen));
    }
    let verdict = &activation.verdict;
    let mut text = format!(
        "\n{} ({}); {} on CPU {}\n\n**{}**: {}\n\n{} of {} ({}), {} confidence\n",
        escape(&words::due_at(activation)),
        escape(&words::trigger(activation)),
        escape(&words::lateness(activation)),
        activation.cpu,
        verdict.cause,
        escape(&verdict.why),
        verdict.charged,
        verdict.judged,
        escape(&words::percent(verdict.share)),
        verdict.confidence,
    );
    text += &ledger(activation);
    text += &evidence(&verdict.evidence);
    text + &fixes(&verdict.fix)
}

fn ledger(activation: &Activation) -> String {
    let (rows, left, time) = rows::largest(rows::rows(activation), ROWS);
    let mut text = "\n| cause | culprit | time | share |\n|---|---|--:|--:|\n".to_owned();
    for row in &rows {
        let who = rows::who(row.by.as_ref(), row.owner.as_ref());
        let who = if who.is_empty() { who } else { in_table(&code(&who)) };
        let mark = if row.accused { "**" } else { "" };
        let share = escape(&words::percent(row.share));
        text += &format!("| {mark}{}{mark} | {who} | {} | {share} |\n", row.cause, row.total);
    }
    if left > 0 {
        let share = escape(&words::percent(time.0 as f64 / activation.response().0.max(1) as f64));
        text += &format!("| {} | | {time} | {share} |\n", words::plural(left as u64, "other"));
    }
    text
}

fn evidence(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    let mut text = "\nEvidence:\n\n".to_owned();
    for seen in evidence.iter().take(OBSERVATIONS) {
        let at = seen.at.map(|at| format!("{} ", words::instant(at))).unwrap_or_default();
        text += &format!("- {at}{}\n", escape(&words::observation(seen)));
    }
    if evidence.len() > OBSERVATIONS {
        text += &format!("- and {} more\n", evidence.len() - OBSERVATIONS);
    }
    text
}

fn fixes(fixes: &[AdvisedFix]) -> String {
    if fixes.is_empty() {
        return String::new();
    }
    let lines = fixes.iter().enumerate().map(|(at, fix)| format!("{}. {}\n", at + 1, escape(&fix.text)));
    format!("\nFix:\n\n{}", lines.collect::<String>())
}

fn section(section: &CriticalSection) -> String {
    let about: Vec<String> = words::section(section).iter().map(|part| escape(part)).collect();
    let mut text = format!("\n## Critical section\n\n{}\n\n{}\n", about.join(" · "), escape(&section.why));
    if !section.parts.is_empty() {
        let times = words::part_times(section.times);
        text += &format!("\n| function | in | calls | {times} |\n|---|---|--:|--:|\n");
        for part in &section.parts {
            let (function, calls) = (in_table(&code(&part.function)), words::count(part.calls));
            text += &format!("| {function} | {} | {calls} | {} |\n", part.within.name(), part.time);
        }
    }
    text
}

fn candidates(candidates: &Candidates) -> String {
    let [why, what, how] = facts::candidates(candidates).map(|sentence| escape(&sentence));
    let mut text = format!(
        "\n## Candidates\n\n{why} {what} {how}\n\n| thread | policy | activations | max latency | max wait | \
         explained |\n|---|---|--:|--:|--:|---|\n"
    );
    for candidate in &candidates.threads {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            in_table(&code(&words::thread(&candidate.comm, candidate.tid))),
            escape(&words::scheduling(candidate.policy, candidate.priority)),
            words::count(candidate.activations),
            words::known(candidate.latency),
            words::known(candidate.wait),
            if candidate.is_explained { "yes" } else { "no" },
        );
    }
    text
}

fn threads(listed: &Listed<'_>) -> String {
    if listed.tasks.is_empty() {
        return String::new();
    }
    let longest = |pick: fn(&Spread) -> Ns, spread: Option<Spread>| words::known(spread.as_ref().map(pick));
    let mut text =
        "\n## Threads\n\n| thread | policy | activations | p99 latency | max latency | max response |\n\
                    |---|---|--:|--:|--:|--:|\n"
            .to_owned();
    for task in &listed.tasks {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            in_table(&code(&words::thread(&task.comm, task.tid))),
            escape(&words::scheduling(task.policy, task.priority)),
            words::count(task.activations),
            longest(|spread| spread.p99, task.latency),
            longest(|spread| spread.max, task.latency),
            longest(|spread| spread.max, task.response),
        );
    }
    for rest in &listed.rest {
        text += &format!(
            "| {} | {} | {} | | {} | {} |\n",
            in_table(&escape(&rest.name())),
            escape(&words::scheduling(rest.policy, rest.priority)),
            words::count(rest.activations),
            words::known(rest.latency),
            words::known(rest.response),
        );
    }
    text
}

fn limits(explanation: &Explanation) -> String {
    let lines = facts::limits(explanation);
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {}\n", escape(line))).collect();
    format!("\n## Limits of this recording\n\n{lines}")
}
