//! The cells and sentences of a comparison of benches, which its formats share.

use whylate_probes::bench::{BenchAnswer, BenchComparison, BenchDifference};

/// The heading of both formats.
pub(super) const HEADING: [&str; 5] = ["operation", "before", "after", "change", "more than noise?"];

/// The cells of [`HEADING`].
pub(super) fn cells(difference: &BenchDifference) -> [String; 5] {
    [
        difference.name.clone(),
        difference.before.to_string(),
        difference.after.to_string(),
        format!("{:+.1} %", difference.change * 100.0),
        answer(difference.answer).to_owned(),
    ]
}

fn answer(answer: BenchAnswer) -> &'static str {
    match answer {
        BenchAnswer::Faster => "faster",
        BenchAnswer::Slower => "slower",
        BenchAnswer::Noise => "no",
        BenchAnswer::CannotTell => "cannot tell",
    }
}

/// The first sentence.
pub(super) fn summary(comparison: &BenchComparison) -> String {
    let count = |answer| comparison.differences.iter().filter(|one| one.answer == answer).count();
    let mut text = format!(
        "Of {} operations {} are slower and {} faster by more than the noise.",
        comparison.differences.len(),
        count(BenchAnswer::Slower),
        count(BenchAnswer::Faster)
    );
    if count(BenchAnswer::CannotTell) > 0 {
        text += &format!(" Of {} it cannot be told: too few rounds.", count(BenchAnswer::CannotTell));
    }
    text
}

/// What only one of them has.
pub(super) fn missing(comparison: &BenchComparison) -> Vec<String> {
    let sentence = |names: &[String], which: &str| {
        (!names.is_empty()).then(|| format!("Only {which}: {}.", names.join(", ")))
    };
    [sentence(&comparison.only_before, "before"), sentence(&comparison.only_after, "after")]
        .into_iter()
        .flatten()
        .collect()
}
