//! What became of the starving threads.

use std::collections::HashMap;

/// The line that `starve.c` prints.
#[derive(Debug, PartialEq)]
pub(super) struct Rescue {
    hog: u32,
    victim: String,
    count: u32,
    /// Seconds until the first of the starving threads ran, and until the last one did.
    ran_after: Option<(f64, f64)>,
    helped: u32,
    /// The part of the CPU that they had.
    share: f64,
    /// The longest time that the busy loop was without its CPU, and all of it, in ms.
    hog_away: (f64, f64),
    /// CPU time of the guard, in ms.
    guard: f64,
    /// Threads whose policy or priority is another one afterwards.
    changed: u32,
}

impl Rescue {
    pub(super) const HEAD: &str = "| kernel | guard | hog | starving | helped | first after | last after | their share | hog without CPU, longest | in all | guard's CPU time | left changed |\n|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|";

    /// The line among what a guest printed.
    pub(super) fn parse(text: &str) -> Option<Rescue> {
        let line = text.lines().find(|line| line.starts_with("hog="))?;
        let fields: HashMap<&str, &str> =
            line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let number = |name: &str| fields.get(name)?.parse::<f64>().ok();
        let count = |name: &str| fields.get(name)?.parse::<u32>().ok();
        Some(Rescue {
            hog: count("hog")?,
            victim: (*fields.get("victim")?).to_owned(),
            count: count("count")?,
            ran_after: number("first_s").zip(number("last_s")),
            helped: count("helped")?,
            share: number("share")?,
            hog_away: (number("hog_gap_ms")?, number("hog_lost_ms")?),
            guard: number("guard_ms")?,
            changed: count("changed")?,
        })
    }

    /// The cells behind kernel and guard.
    pub(super) fn row(&self) -> String {
        let seconds =
            |time: Option<f64>| time.map_or_else(|| "never".to_owned(), |time| format!("{time:.1} s"));
        format!(
            "| {} | {} {} | {} | {} | {} | {:.1} % | {:.1} ms | {:.1} ms | {:.0} ms | {} |",
            self.hog,
            self.count,
            self.victim,
            self.helped,
            seconds(self.ran_after.map(|(first, _)| first)),
            seconds(self.ran_after.map(|(_, last)| last)),
            self.share * 100.0,
            self.hog_away.0,
            self.hog_away.1,
            self.guard,
            self.changed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_and_shown() {
        let text = "boot\nhog=50 victim=other count=2 first_s=3.25 last_s=none helped=0 share=0.0123 hog_gap_ms=1.5 \
                    hog_lost_ms=20.1 guard_ms=12.0 changed=0\n";
        let rescue = Rescue::parse(text).expect("a line");
        assert_eq!(rescue.ran_after, None, "a time that is not there");
        assert_eq!(
            rescue.row(),
            "| 50 | 2 other | 0 | never | never | 1.2 % | 1.5 ms | 20.1 ms | 12 ms | 0 |"
        );
        assert_eq!(Rescue::parse("hog=50 victim=other"), None);
        assert_eq!(Rescue::parse(""), None);
    }
}
