//! How often something was met in a text, and where first.

use whylate_events::Damage;

/// How often something was met, and the first one.
#[derive(Default)]
pub(crate) struct Tally {
    count: u64,
    /// How many are switches, without which nothing can be explained.
    switches: u64,
    /// How many end in `...`: a reader of the text cut them.
    cut: u64,
    first: Option<(u64, String)>,
}

impl Tally {
    /// The start of a line is enough to find it again.
    const SHOWN: usize = 60;

    pub(crate) fn add(&mut self, line: u64, text: &str) {
        self.count += 1;
        self.switches += u64::from(text.contains("sched_switch: prev_"));
        self.cut += u64::from(text.ends_with("..."));
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
        let switches = match (self.switches, self.cut) {
            (0, _) => String::new(),
            (switches, 0) => format!(" ({switches} of sched_switch)"),
            (switches, cut) => format!(" ({switches} of sched_switch; {cut} are cut, and end in `...`)"),
        };
        let count = self.count;
        Some(Damage::at(*line, format!("{what}: {count}{switches}, the first is line {line}{shown}")))
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn switches_that_were_cut_are_counted() {
        let of = |lines: &[&str]| {
            let mut tally = Tally::default();
            lines.iter().for_each(|line| tally.add(7, line));
            tally.damage("strange").map(|damage| damage.what).unwrap_or_default()
        };
        let switch = "sched:sched_switch: prev_comm=app prev_pi";
        let cut = format!("{switch}...");
        assert_eq!(of(&["cpu_idle: st..."]), "strange: 1, the first is line 7: `cpu_idle: st...`");
        assert!(of(&[switch, "other"]).starts_with("strange: 2 (1 of sched_switch), the first"));
        assert!(
            of(&[&cut]).starts_with("strange: 1 (1 of sched_switch; 1 are cut, and end in `...`), the first")
        );
    }
}
