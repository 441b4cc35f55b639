//! A critical section: its length, its culprit, and the functions its time went to.

use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_ledger::CriticalSection;

pub(super) fn write(section: &CriticalSection) -> Markup {
    let whole = section.latency.0.max(1) as f64;
    let share = |time: Ns| words::percent(time.0 as f64 / whole);
    html! {
        section {
            h2 { "Critical section" small { (words::section(section).join(" · ")) } }
            p.why { (words::clean(&section.why)) }
            p.sure { (section.confidence) " confidence in where the time went" }
            @if !section.parts.is_empty() {
                div.wide { table {
                    thead { tr {
                        th { "function" } th { "in" } th.n { "calls" } th.n { (words::part_times(section.times)) } th.n { "share" }
                    } }
                    tbody {
                        @for part in &section.parts {
                            tr {
                                td { code { (words::clean(&part.function)) } } td { (part.within.name()) }
                                td.n { (words::count(part.calls)) } td.n { (part.time) } td.n { (share(part.time)) }
                            }
                        }
                        @for (name, time) in [("others", section.rest), ("unexplained", section.unexplained)] {
                            @if time > Ns::ZERO {
                                tr { td { (name) } td {} td {} td.n { (time) } td.n { (share(time)) } }
                            }
                        }
                    }
                    tfoot { tr { td { "in all" } td {} td {} td.n { (section.latency) } td.n { "100.0 %" } } }
                } }
            }
            @if !section.gaps.is_empty() {
                h4 { "Longest gaps between lines" }
                ul { @for gap in &section.gaps { li { (words::gap(gap)) } } }
            }
            @if !section.stack.is_empty() {
                h4 { "The stack at its end" }
                p { @for frame in &section.stack { code { (words::clean(frame)) } " " } }
            }
        }
    }
}
