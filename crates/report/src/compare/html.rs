//! Runs side by side: the answer, what shows it, what changed, and the numbers.

use crate::compare::runs::{self, Compared, News};
use crate::html::page::page;
use crate::html::tables;
use crate::svg::plot;
use crate::words;
use maud::{Markup, html};
use whylate_investigate::compare::{CauseShift, Difference, Pair, Prepared, RunVerdict};

/// Runs side by side as one HTML file.
pub fn render(compared: &Compared) -> String {
    let comparison = &compared.comparison;
    let title = compared.title();
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        @for run in &comparison.runs { p.trace { (runs::described(run).join(" · ")) } }
    };
    let several = comparison.runs.iter().any(|run| run.run.threads.len() > 1);
    let distributions = comparison.runs.iter().map(|run| (words::clean(&run.run.label), &run.all.histogram));
    let main = html! {
        (gates(compared))
        @for pair in &comparison.pairs { (self::pair(compared, pair)) }
        section {
            h2 { "Distributions" }
            (tables::distributions("samples", distributions))
            @if let Some(plot) = plot::shift(comparison, false) { h3 { "Shift of quantiles" } (plot.figure()) }
            @if let Some(plot) = plot::ccdf(&comparison.runs, false, None) { h3 { "Latency CCDF" } (plot.figure()) }
            @if let Some(plot) = plot::histogram(&comparison.runs, None) { h3 { "Latency histogram" } (plot.figure()) }
            @if let Some(plot) = plot::multiples(&comparison.runs, None).filter(|_| several) {
                h3 { "Histogram per thread" } (plot.figure())
            }
            @if let Some(plot) = plot::time(&comparison.runs, false, false) { h3 { "Maximum over time" } (plot.figure()) }
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

/// The class of a block about a verdict.
pub(crate) fn class(verdict: RunVerdict) -> &'static str {
    match verdict {
        RunVerdict::Worse => "finding error",
        RunVerdict::Mixed | RunVerdict::CannotTell => "finding warning",
        RunVerdict::Better => "finding good",
        RunVerdict::Same => "finding",
    }
}

fn pair(compared: &Compared, pair: &Pair) -> Markup {
    let threads = runs::threads(pair);
    html! {
        section {
            div class=(class(pair.verdict)) {
                h3 { (compared.verdict(pair)) }
                @if !pair.why.is_empty() { ul { @for why in &pair.why { li { (words::clean(why)) } } } }
            }
            div.wide { table {
                (head(&compared.label(pair.before), &compared.label(pair.after)))
                tbody {
                    (rows("all", &pair.all))
                    @for (name, part) in threads.iter().flatten() { (rows(name, part)) }
                }
            } }
            @if let Err(why) = threads { p.sure { (why) } }
            @if let Some(left_out) = runs::left_out(pair) { p.sure { (left_out) } }
            (causes(&pair.causes))
            (settings(pair))
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

fn rows(name: &str, part: &Difference) -> Markup {
    html! {
        @for (at, moved) in runs::moved(part).into_iter().enumerate() {
            tr {
                td { @if at == 0 { (name) } }
                td { (moved.statistic) }
                td.n { (moved.before) } td.n { (moved.after) }
                td.n { @if moved.is_shown { b { (moved.by) } } @else { (moved.by) } }
                td.sure { (moved.chance) }
            }
        }
    }
}

fn causes(causes: &[CauseShift]) -> Markup {
    let class = |news: News| match news {
        News::Gone => "good",
        News::New => "bad",
        News::None => "",
    };
    html! {
        @if !causes.is_empty() {
            h4 { "Causes of late samples" }
            div.wide { table {
                thead { tr { th { "cause" } th { "culprit" } th { "before" } th { "now" } th {} } }
                tbody { @for cause in causes {
                    @let news = News::of(cause);
                    tr {
                        td { code { (words::clean(&cause.cause)) } }
                        td { (cause.culprit.as_deref().map(words::clean).unwrap_or_default()) }
                        td { (runs::seen(cause.before)) } td { (runs::seen(cause.after)) }
                        td { b class=(class(news)) { (news.word()) } }
                    }
                } }
            } }
            @if let Some(why) = runs::unsure(causes) { p.sure { (why) } }
        }
    }
}

fn settings(pair: &Pair) -> Markup {
    html! {
        h4 { "What changed in the machine" }
        @match runs::settings(pair) {
            Err(why) => p.sure { (why) },
            Ok(settings) => div.wide { table {
                thead { tr { th { "setting" } th { "before" } th { "now" } } }
                tbody { @for setting in settings { tr {
                    td { code { (words::clean(&setting.name)) } }
                    td { (runs::value(setting.before.as_ref())) } td { (runs::value(setting.after.as_ref())) }
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
                    @let (text, is_met) = runs::gate(&gated.judged);
                    @let (word, class) = match is_met {
                        Some(true) => ("met", "good"),
                        Some(false) => ("MISSED", "bad"),
                        None => ("cannot tell", ""),
                    };
                    li { b class=(class) { (word) } " · " (compared.label(gated.run)) ": " (text) }
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
                @for claiming in &compared.claims {
                    (tables::claim(&compared.label(claiming.run), &claiming.claimed))
                }
            }
        }
    }
}

fn notes(runs: &[Prepared]) -> Markup {
    let notes = runs::notes(runs);
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for (label, note) in notes { li { b { (label) } ": " (note) } } }
            }
        }
    }
}
