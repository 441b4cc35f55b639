//! The threads in a table, the worst few in detail.

use super::activation;
use crate::explain::facts;
use crate::explain::listed::{Listed, listed};
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Ns;
use whylate_ledger::{Activation, Explanation, Spread, TaskSummary, Trigger, is_stand_in};

/// How many threads are written in full; the others have their row in the table.
const IN_FULL: usize = 5;

pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    let listed = listed(&explanation.tasks);
    let tasks = &listed.tasks;
    if tasks.len() > 1 {
        overview(page, explanation, &listed);
    }
    for task in tasks.iter().take(IN_FULL) {
        detail(page, task, &explanation.activations);
        let profile = explanation.profiles.iter().find(|profile| profile.tid == task.tid);
        if let Some(grown) = profile.and_then(facts::grown) {
            page.gap();
            page.labelled(2, ("own work  ", Ink::Faint), &grown, Ink::Plain);
        }
    }
    if tasks.len() > IN_FULL {
        page.gap();
        let left = words::plural((tasks.len() - IN_FULL) as u64, "more thread");
        page.line(&[(&format!("{left} only in the table above: --task NAME explains one."), Ink::Faint)]);
    }
    if let Some(unlisted) = facts::unlisted(explanation) {
        page.gap();
        page.labelled(0, ("- ", Ink::Faint), &unlisted, Ink::Plain);
    }
}

fn of<'a>(task: &TaskSummary, activations: &'a [Activation]) -> impl Iterator<Item = &'a Activation> {
    let tid = task.tid;
    activations.iter().filter(move |activation| activation.tid == tid)
}

fn overview(page: &mut Page, explanation: &Explanation, listed: &Listed<'_>) {
    let wide = page.width() >= 96;
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let longest =
        |pick: fn(&Spread) -> Ns, spread: Option<Spread>| Cell::from(words::known(spread.as_ref().map(pick)));
    let mut rows = vec![vec![
        faint("thread"),
        faint("policy"),
        faint("activations"),
        faint("p99 latency"),
        faint("max latency"),
        faint("max response"),
        faint("worst cause"),
    ]];
    let by_thread = explanation.activations_by_thread();
    for task in &listed.tasks {
        let worst = by_thread.get(&task.tid).and_then(|all| all.first());
        rows.push(vec![
            Cell::new(words::thread(&task.comm, task.tid), Ink::Strong),
            words::scheduling(task.policy, task.priority).into(),
            words::count(task.activations).into(),
            longest(|spread| spread.p99, task.latency),
            longest(|spread| spread.max, task.latency),
            longest(|spread| spread.max, task.response),
            worst
                .map_or_else(String::new, |worst| match words::one_instant(worst) {
                    Some(_) => "-".to_owned(),
                    None => worst.verdict.cause.code().to_owned(),
                })
                .into(),
        ]);
    }
    for rest in &listed.rest {
        rows.push(vec![
            faint(&rest.name()),
            words::scheduling(rest.policy, rest.priority).into(),
            words::count(rest.activations).into(),
            faint(""),
            words::known(rest.latency).into(),
            words::known(rest.response).into(),
            faint(""),
        ]);
    }
    let mut aligns =
        vec![Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];
    if !wide {
        for narrow in [3, 2] {
            aligns.remove(narrow);
            rows.iter_mut().for_each(|row| drop(row.remove(narrow)));
        }
    }
    page.table(0, &aligns, &rows);
}

fn detail(page: &mut Page, task: &TaskSummary, activations: &[Activation]) {
    page.gap();
    let mut about =
        vec![words::scheduling(task.policy, task.priority), words::plural(task.activations, "activation")];
    if !is_stand_in(task.tid) {
        about.insert(0, format!("tid {}", task.tid));
    }
    page.line(&[
        (&words::clean(task.comm.as_str()), Ink::Strong),
        (if task.comm.is_empty() { "" } else { "  " }, Ink::Plain),
        (&about.join(" · "), Ink::Plain),
    ]);
    spreads(page, task);
    let mut worst = of(task, activations);
    if let Some(first) = worst.next() {
        page.gap();
        activation::write(page, "worst  ", first);
    }
    others(page, worst);
}

fn spreads(page: &mut Page, task: &TaskSummary) {
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut rows = vec![vec![faint(""), faint("min"), faint("p50"), faint("p99"), faint("max")]];
    for (name, spread) in [("latency", task.latency), ("response", task.response)] {
        // Of activations of one instant no time is known.
        let Some(spread) = spread.filter(|spread| name == "latency" || spread.max > Ns::ZERO) else {
            continue;
        };
        rows.push(vec![
            faint(name),
            spread.min.to_string().into(),
            spread.p50.to_string().into(),
            spread.p99.to_string().into(),
            Cell::new(spread.max.to_string(), Ink::Strong),
        ]);
    }
    if rows.len() > 1 {
        page.table(2, &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right], &rows);
    }
}

/// In a cell: the trace may begin too late to show it.
fn latency(activation: &Activation) -> String {
    match (activation.latency(), activation.running) {
        _ if activation.trigger == Trigger::Marker => String::new(),
        (Some(latency), _) => latency.to_string(),
        (None, Some(_)) => "not seen".to_owned(),
        (None, None) => "never ran".to_owned(),
    }
}

fn others<'a>(page: &mut Page, activations: impl Iterator<Item = &'a Activation>) {
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut rows = vec![vec![faint("next worst"), faint("latency"), faint("response"), faint("cause")]];
    for activation in activations {
        let (response, cause) = match words::one_instant(activation) {
            Some(_) => ("-".to_owned(), "-".to_owned()),
            None => (
                activation.response().to_string(),
                format!("{}{}", words::because(&activation.verdict), words::start_or_end(activation)),
            ),
        };
        rows.push(vec![
            words::instant(activation.due).into(),
            latency(activation).into(),
            response.into(),
            cause.into(),
        ]);
    }
    if rows.len() > 1 {
        page.gap();
        page.table(2, &[Align::Left, Align::Right, Align::Right, Align::Left], &rows);
    }
}
