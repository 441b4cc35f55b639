//! How often something was met in a text, and where first.

use whylate_events::Damage;

/// How often something was met, and the first one.
#[derive(Default)]
pub(crate) struct Tally {
    count: u64,
    first: Option<(u64, String)>,
}

impl Tally {
    /// The start of a line is enough to find it again.
    const SHOWN: usize = 60;

    pub(crate) fn add(&mut self, line: u64, text: &str) {
        self.count += 1;
        // What it shows goes to terminals, which obey control characters.
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        self.first.get_or_insert_with(|| (line, text.chars().take(Self::SHOWN).map(shown).collect()));
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The damage to report; `None` when nothing was counted.
    pub(crate) fn damage(&self, what: &str) -> Option<Damage> {
        let (line, text) = self.first.as_ref()?;
        let shown = if text.is_empty() { String::new() } else { format!(": `{text}`") };
        Some(Damage::at(*line, format!("{what}: {}, the first is line {line}{shown}", self.count)))
    }
}
