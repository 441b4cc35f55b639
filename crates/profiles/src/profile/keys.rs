//! Keys that a table has, and the error about any other.

use super::error::ProfileError;
use super::node::Node;

/// The error for an unknown key, with the known keys.
pub(super) fn unknown(node: &Node, key: &str, of: &str, keys: &[&str]) -> ProfileError {
    let close = keys.iter().find(|own| distance(own, key) <= 2);
    let meant = close.map(|own| format!(": is `{own}` meant?")).unwrap_or_default();
    node.wrong(format!("{of} has no `{key}`{meant}"), format!("it may have {}", keys.join(", ")))
}

/// How many letters two words differ by, roughly: position by position, from both ends.
fn distance(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = a.chars().count().min(b.chars().count()) - same;
    let end = a.chars().rev().zip(b.chars().rev()).take(rest).take_while(|(a, b)| a == b).count();
    a.chars().count().max(b.chars().count()) - same - end
}
