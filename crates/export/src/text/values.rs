//! Single values as text.

use whylate_base::Ns;

/// Seconds with nine decimals, as the osnoise events print a time.
pub(super) fn seconds(at: Ns) -> String {
    format!("{}.{:09}", at.0.div_euclid(1_000_000_000), at.0.rem_euclid(1_000_000_000))
}

/// Text that must not begin a new line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
