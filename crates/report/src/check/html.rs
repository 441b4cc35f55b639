//! The results of the checks of a machine: failed, cannot tell, passed.

use crate::check::answers::{Groups, facts, way_out};
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use whylate_checks::{CannotTell, CheckReport, CheckedRule, Fix, RuleOutcome};

/// The answers about a machine as one HTML file.
pub fn render(report: &CheckReport) -> String {
    let groups = Groups::of(report);
    let title = groups.title();
    let header = html! {
        p.brand { "whylate check" }
        h1 { (title) }
        p.trace { (facts(report).join(" · ")) }
    };
    let main = html! {
        @if !groups.failed.is_empty() {
            section {
                h2 { "Failed" }
                @for (answered, answer) in &groups.failed { (failure(answered, answer)) }
            }
        }
        @if !groups.unknown.is_empty() {
            section {
                h2 { "Cannot tell" small { "what could not be read is never reported as fine" } }
                (unknown(&groups.unknown))
            }
        }
        (listed("Passed", &groups.passed))
        (listed("Not applicable", &groups.beside))
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION")) ". " code { "whylate check --explain CODE" }
        " shows the page of each rule."
    };
    page(&title, &header, &main, &footer)
}

fn failure(answered: &CheckedRule, answer: &RuleOutcome) -> Markup {
    html! {
        div class={ "finding " (answered.severity()) } id=(answered.rule.code) {
            h3 {
                span.severity { (answered.severity()) }
                (words::clean(&answer.what))
                code { (answered.rule.code) }
            }
            p { (words::clean(&answer.why)) }
            @if !answer.evidence.is_empty() {
                table.evidence {
                    @for proof in &answer.evidence {
                        tr { td { code { (words::clean(&proof.path)) } } td { (words::clean(&proof.value)) } }
                    }
                }
            }
            @match answer.fixes.as_slice() {
                [] => {}
                [only] => p.fix { (steps(only)) }
                several => ol.fix { @for fix in several { li { (steps(fix)) } } }
            }
            @if !answer.choices.is_empty() {
                table.evidence {
                    @for choice in &answer.choices { tr { td { (words::clean(&choice.name)) } td { (words::clean(&choice.here)) } } }
                }
            }
            p.sure { "Sources: " (answered.rule.sources.join("; ")) }
        }
    }
}

fn steps(fix: &Fix) -> Markup {
    html! {
        @for (i, (label, text)) in way_out(fix).enumerate() {
            @if i > 0 { br; }
            (label) (text)
        }
    }
}

fn unknown(unknown: &[(&CheckedRule, &CannotTell)]) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "rule" } th { "unknown value" } th { "reason" } } }
            tbody {
                @for (answered, unknown) in unknown {
                    tr {
                        td { code { (answered.rule.code) } }
                        td { (words::clean(&unknown.path)) }
                        td { (words::clean(&unknown.why)) }
                    }
                }
            }
        } }
    }
}

fn listed(title: &str, answers: &[(&CheckedRule, &RuleOutcome)]) -> Markup {
    html! {
        @if !answers.is_empty() {
            section {
                h2 { (title) }
                div.wide { table { tbody {
                    @for (answered, answer) in answers {
                        tr { td { code { (answered.rule.code) } } td { (words::clean(&answer.what)) } }
                    }
                } } }
            }
        }
    }
}
