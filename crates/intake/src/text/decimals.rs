//! How many decimals the stamps of a text have. ftrace, trace-cmd and perf print six or nine; a stamp with seven or eight among those was
//! damaged as it was typed or copied, and no digit of it can be trusted:
//!
//! ```text
//! app-7 [004] d..2 103.010440: ...
//! app-7 [004] dNh3 103.0100459: ...
//! ```

use super::tally::Tally;

/// Texts that people type have no more rows.
const MOST_ROWS: u32 = 10_000;

/// What the rows so far had.
#[derive(Default)]
pub(super) struct Decimals {
    rows: u32,
    has_usual: bool,
    /// The rows that are left out.
    pub(super) damaged: Tally,
}

impl Decimals {
    /// True of a row whose stamp has more decimals than those before it.
    pub(super) fn are_damaged(&mut self, row: &str, body: &str) -> bool {
        if self.rows >= MOST_ROWS {
            return false;
        }
        self.rows += 1;
        let head = row.strip_suffix(body).unwrap_or(row).trim_end().trim_end_matches(':');
        let fraction = head.rsplit_once('.').map_or("", |(_, fraction)| fraction);
        let decimals = if fraction.bytes().all(|byte| byte.is_ascii_digit()) { fraction.len() } else { 0 };
        self.has_usual |= decimals == 6 || decimals == 9;
        self.has_usual && (decimals == 7 || decimals == 8)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimals;

    #[test]
    fn seven_decimals_among_six_are_damaged() {
        let mut decimals = Decimals::default();
        let mut is_damaged = |stamp: &str| {
            decimals.are_damaged(&format!("app-7 [001] d..2 {stamp}: one: x=1.2345678"), "one: x=1.2345678")
        };
        let rows = ["5.1234567", "5.123456", "5.1234567", "5.123456789", "5.12345678", "5.1", "57us"];
        assert_eq!(rows.map(&mut is_damaged), [false, false, true, false, true, false, false]);
    }
}
