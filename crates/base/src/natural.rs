//! The order in which people count: `cpu2` before `cpu10`.

use std::cmp::Ordering;

/// Compares texts, numbers in them by their value.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (first, rest_left) = part(left);
        let (second, rest_right) = part(right);
        let order = match (number(first), number(second)) {
            (Some(one), Some(other)) => one.len().cmp(&other.len()).then_with(|| one.cmp(other)),
            _ => first.cmp(second),
        };
        // `01` and `1` are of one value, and not the same.
        match order {
            Ordering::Equal if rest_left.is_empty() && rest_right.is_empty() => return a.cmp(b),
            Ordering::Equal => (left, right) = (rest_left, rest_right),
            order => return order,
        }
    }
}

/// The leading digits, or what is before the next ones.
fn part(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
    text.split_at(end)
}

/// Digits without leading zeros.
fn number(part: &str) -> Option<&str> {
    part.starts_with(|c: char| c.is_ascii_digit()).then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_count() {
        let mut paths = ["cpu10/x", "cpu2/y", "cpu2/x", "cpu", "a", "cpu02/x", "cpu2"];
        paths.sort_by(|a, b| natural(a, b));
        assert_eq!(paths, ["a", "cpu", "cpu2", "cpu02/x", "cpu2/x", "cpu2/y", "cpu10/x"]);
        for (less, more) in [("x-6.12.9-1", "x-6.12.10-1"), ("a-6.1", "a-6.1-rt"), ("a", "b")] {
            assert_eq!(natural(less, more), Ordering::Less, "{less} {more}");
        }
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[a0-1/]{0,6}", b in "[a0-1/]{0,6}", c in "[a0-1/]{0,6}") {
            prop_assert_eq!(natural(&a, &b), natural(&b, &a).reverse());
            prop_assert_eq!(natural(&a, &b) == Ordering::Equal, a == b);
            if natural(&a, &b) == Ordering::Less && natural(&b, &c) == Ordering::Less {
                prop_assert_eq!(natural(&a, &c), Ordering::Less);
            }
        }
    }
}
