//! Runs side by side: the answer, what shows it, what changed, and the numbers.

use super::page;
use crate::compared::{Carried, Compared, carried, gate, known, signed};
use crate::svg::plot;
use crate::words;
use maud::{Markup, html};
use whylate_investigate::compare::{CauseShift, Pair, Part, Seen, SettingShift, Statistic, Verdict};
use whylate_stats::Run;

pub(super) fn write(compared: &Compared) -> String {
    let comparison = &compared.comparison;
    let title = compared.title();
    let tools: Vec<String> = comparison.runs.iter().map(described).collect();
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        @for run in &tools { p.trace { (run) } }
    };
    let several = comparison.runs.iter().any(|run| run.threads.len() > 1);
    let main = html! {
        (gates(compared))
        @for (at, pair) in comparison.pairs.iter().enumerate() { (self::pair(compared, at + 1, pair)) }
        section {
            h2 { "Distributions" }
            (numbers(&comparison.runs))
            @if let Some(plot) = plot::shift(comparison, false) { h3 { "How far quantiles moved" } (plot.figure()) }
            @if let Some(plot) = plot::ccdf(&comparison.runs, false, None) { h3 { "How rarely so late" } (plot.figure()) }
            @if let Some(plot) = plot::histogram(&comparison.runs, None) { h3 { "How often how late" } (plot.figure()) }
            @if let Some(plot) = plot::multiples(&comparison.runs, None).filter(|_| several) {
                h3 { "Thread by thread" } (plot.figure())
            }
            @if let Some(plot) = plot::time(&comparison.runs, false, false) { h3 { "When" } (plot.figure()) }
        }
        (claims(compared))
        (notes(&comparison.runs))
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION"))
        ". Intervals hold the truth in 95 of 100 cases; samples of one run are taken to be independent of each other."
    };
    page(&title, &header, &main, &footer)
}

fn described(run: &Run) -> String {
    let mut parts = vec![words::clean(&run.label), words::clean(&run.tool), words::clean(&run.probe)];
    parts.extend(run.elapsed.map(|elapsed| elapsed.to_string()));
    parts.extend(run.interval.map(|interval| format!("a sample every {interval}")));
    parts.push(words::plural(run.threads.len() as u64, "thread"));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn pair(compared: &Compared, at: usize, pair: &Pair) -> Markup {
    let class = match pair.verdict {
        Verdict::Worse => "finding error",
        Verdict::Mixed | Verdict::CannotTell => "finding warning",
        Verdict::Better | Verdict::Same => "finding",
    };
    let differ: Vec<&(String, Part)> = pair.threads.iter().filter(|(_, part)| part.differs()).collect();
    html! {
        section {
            div class=(class) {
                h3 { (compared.verdict(at, pair.verdict)) }
                @if !pair.why.is_empty() { ul { @for why in &pair.why { li { (words::clean(why)) } } } }
            }
            div.wide { table {
                (head(&compared.label(0), &compared.label(at)))
                tbody {
                    (rows("", &pair.all))
                    @for (name, part) in differ { (rows(name, part)) }
                }
            } }
            (causes(&pair.causes))
            (settings(pair.settings.as_deref()))
        }
    }
}

fn head(before: &str, after: &str) -> Markup {
    html! {
        thead { tr {
            th {} th { "latency" } th.n { (before) } th.n { (after) } th.n { "by" } th { "with 95 %" }
        } }
    }
}

fn rows(name: &str, part: &Part) -> Markup {
    html! {
        @for (at, shift) in part.shifts.iter().enumerate() {
            tr {
                td { @if at == 0 { (words::clean(name)) } }
                td { (Statistic::Quantile(shift.q)) }
                td.n { (shift.before) } td.n { (shift.after) }
                td.n { @if shift.is_shown() { b { (signed(shift.after - shift.before)) } } @else { (signed(shift.after - shift.before)) } }
                td.sure {
                    @match shift.least.zip(shift.most) {
                        Some((least, most)) => { (signed(least)) " to " (signed(most)) }
                        None => { "too few samples" }
                    }
                }
            }
        }
        @if let Some((before, after)) = part.max {
            tr {
                td { @if part.shifts.is_empty() { (words::clean(name)) } } td { "max" }
                td.n { (before) } td.n { (after) } td.n { (signed(after - before)) }
                td.sure { "of a maximum chance says nothing" }
            }
        }
    }
}

fn causes(causes: &[CauseShift]) -> Markup {
    let seen = |seen: Option<Seen>| match seen {
        Some(seen) => format!("{}, up to {}", words::plural(seen.count as u64, "time"), seen.worst),
        None => "-".to_owned(),
    };
    html! {
        @if !causes.is_empty() {
            h4 { "Causes of late samples" }
            div.wide { table {
                thead { tr { th { "cause" } th { "who" } th { "before" } th { "now" } th {} } }
                tbody { @for cause in causes { tr {
                    td { code { (words::clean(&cause.cause)) } }
                    td { (cause.culprit.as_deref().map(words::clean).unwrap_or_default()) }
                    td { (seen(cause.before)) } td { (seen(cause.after)) }
                    td { b {
                        @match (cause.before, cause.after) {
                            (Some(_), None) => { "gone" }
                            (None, Some(_)) => { "new" }
                            _ => {}
                        }
                    } @if !cause.is_sure { " as far as they were explained" } }
                } } }
            } }
        }
    }
}

fn settings(settings: Option<&[SettingShift]>) -> Markup {
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| "-".to_owned(), words::clean);
    html! {
        h4 { "What changed in the machine" }
        @match settings {
            None => p.sure { "How the machine was set is not known of both: it cannot be told." },
            Some([]) => p.sure { "Nothing, as far as it was read." },
            Some(settings) => div.wide { table {
                thead { tr { th { "setting" } th { "before" } th { "now" } } }
                tbody { @for setting in settings { tr {
                    td { code { (words::clean(&setting.name)) } } td { (value(&setting.before)) } td { (value(&setting.after)) }
                } } }
            } },
        }
    }
}

fn gates(compared: &Compared) -> Markup {
    html! {
        @if !compared.gates.is_empty() {
            section {
                h2 { "Gates" }
                ul { @for gated in &compared.gates {
                    @let (text, is_met) = gate(&gated.judged);
                    @let word = match is_met { Some(true) => "met", Some(false) => "MISSED", None => "cannot tell" };
                    li { b { (word) } " · " (compared.label(gated.run)) ": " (text) }
                } }
            }
        }
    }
}

fn claims(compared: &Compared) -> Markup {
    html! {
        @if !compared.claims.is_empty() {
            section {
                h2 { "Claims" }
                @for claimed in &compared.claims {
                    @let class = match carried(&claimed.claim) {
                        Carried::Measured => "finding",
                        Carried::Fitted => "finding warning",
                        Carried::No => "finding error",
                    };
                    @let sentences = compared.claim(claimed);
                    div class=(class) {
                        h3 { (compared.label(claimed.run)) ": " (sentences.first().map(String::as_str).unwrap_or_default()) }
                        ul { @for sentence in sentences.iter().skip(1) { li { (sentence) } } }
                    }
                }
            }
        }
    }
}

fn numbers(runs: &[Run]) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th {} th.n { "samples" } th.n { "min" } th.n { "mean" } th.n { "p50" } th.n { "p99" } th.n { "p99.99" } th.n { "max" }
            } }
            tbody { @for run in runs {
                @let all = run.all();
                tr {
                    td { (words::clean(&run.label)) }
                    td.n { (words::count(all.count())) }
                    td.n { (known(all.min())) }
                    td.n { (known(all.mean())) }
                    td.n { (known(all.percentile(0.5))) }
                    td.n { (known(all.tail(0.99))) }
                    td.n { (known(all.tail(0.9999))) }
                    td.n { b { (known(all.max())) } }
                }
            } }
        } }
    }
}

fn notes(runs: &[Run]) -> Markup {
    html! {
        @if runs.iter().any(|run| !run.notes.is_empty()) {
            section {
                h2 { "What to know about these numbers" }
                ul { @for run in runs { @for note in &run.notes { li { b { (words::clean(&run.label)) } ": " (words::clean(note)) } } } }
            }
        }
    }
}
