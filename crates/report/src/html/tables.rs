//! What the pages of measurements and comparisons share: tables of distributions, and claims.

use crate::{claims, words};
use maud::{Markup, html};
use whylate_investigate::measure::Claimed;
use whylate_stats::{ClaimStatus, Histogram};

/// Distributions: whose each is, and its numbers.
pub(crate) fn distributions<'a>(
    samples: &str,
    rows: impl IntoIterator<Item = (String, &'a Histogram)>,
) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th {} th.n { (samples) } @for name in words::DISTRIBUTION { th.n { (name) } } } }
            tbody { @for (name, histogram) in rows {
                @let numbers = words::distribution(histogram);
                tr {
                    td { (name) }
                    @for (at, number) in numbers.iter().enumerate() {
                        td.n { @if at + 1 == numbers.len() { b { (number) } } @else { (number) } }
                    }
                }
            } }
        } }
    }
}

/// A claim, of whose run, and what it rests on.
pub(crate) fn claim(label: &str, claimed: &Claimed) -> Markup {
    let class = match claimed.answer {
        ClaimStatus::Measured => "finding good",
        ClaimStatus::Fitted | ClaimStatus::NeedsAssumption | ClaimStatus::NotYet => "finding warning",
        ClaimStatus::Contradicted => "finding error",
    };
    let sentences = claims::sentences(claimed);
    html! {
        div class=(class) {
            @for (at, sentence) in sentences.iter().enumerate() {
                @if at == 0 { h3 { (label) ": " (sentence) } } @else { p { (sentence) } }
            }
        }
    }
}
