//! The causes of several inputs together.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use whylate_base::Ns;
use whylate_report::tables::TopCause;

/// The same cause and culprit once, the most time first.
pub fn top_causes(causes: impl IntoIterator<Item = TopCause>) -> Vec<TopCause> {
    let mut sums: HashMap<(String, String), TopCause> = HashMap::new();
    for cause in causes {
        match sums.entry((cause.cause.clone(), cause.culprit.clone())) {
            Entry::Vacant(place) => drop(place.insert(cause)),
            Entry::Occupied(mut sum) => {
                let sum = sum.get_mut();
                sum.activations += cause.activations;
                sum.charged = Ns(sum.charged.0.saturating_add(cause.charged.0));
                sum.worst = sum.worst.max(cause.worst);
            }
        }
    }
    let mut causes: Vec<TopCause> = sums.into_values().collect();
    causes.sort_by(|a, b| {
        let rank = |one: &TopCause| Reverse(one.charged);
        (rank(a), &a.cause, &a.culprit).cmp(&(rank(b), &b.cause, &b.culprit))
    });
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_culprit_is_one_row() {
        let one = |culprit: &str, charged: i64| TopCause {
            cause: "irq".to_owned(),
            culprit: culprit.to_owned(),
            activations: 1,
            charged: Ns(charged),
            worst: Ns(charged),
        };
        let sums = top_causes([one("a", 5), one("b", 7), one("a", 6)]);
        assert_eq!(
            sums,
            [TopCause { activations: 2, charged: Ns(11), worst: Ns(6), ..one("a", 0) }, one("b", 7)]
        );
    }
}
