//! What getdelays prints of the kernel's delay accounting (`tools/accounting/getdelays.c`): sums of what a thread or a process waited for.
//!
//! ```text
//! TGID    227
//! CPU   count  real total  virtual total  delay total  delay average  delay max  delay min
//!          46   188000000      192348334      4098012        0.089ms 0.429260ms 0.051205ms
//! ```
//!
//! The totals are in nanoseconds. Older versions print no maxima, and the oldest no averages.

use whylate_base::Ns;

/// The sections, and what is waited for in each.
const SECTIONS: [(&str, &str); 8] = [
    ("CPU", "for a CPU"),
    ("IO", "for storage"),
    ("SWAP", "for pages in swap"),
    ("RECLAIM", "in the reclaim of memory"),
    ("THRASHING", "for pages that memory had just lost"),
    ("COMPACT", "in the compaction of memory"),
    ("WPCOPY", "for copies of pages that it wrote to"),
    ("IRQ", "for interrupts over it"),
];

/// A section with delays.
#[derive(Clone, Debug, PartialEq)]
struct DelaySection {
    waited: &'static str,
    count: u64,
    mean: Ns,
    max: Option<Ns>,
    owner: Option<String>,
}

/// The title of a section, of which the numbers follow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SectionTitle {
    waited: &'static str,
    is_of_cpu: bool,
    has_max: bool,
}

/// The sections of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DelayAccounts {
    /// `process 227`
    owner: Option<String>,
    title: Option<SectionTitle>,
    sections: Vec<DelaySection>,
}

/// More sections are not kept.
const MOST: usize = 64;
/// So many are shown.
const MOST_SHOWN: usize = 8;

impl DelayAccounts {
    /// Sections that begin with this line.
    pub(super) fn beginning(line: &str) -> Option<DelayAccounts> {
        let mut accounts = DelayAccounts { owner: owner(line), ..DelayAccounts::default() };
        accounts.line(line);
        accounts.title.is_some().then_some(accounts)
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(title) = title(line) {
            self.title = Some(title);
            return;
        }
        self.owner = owner(line).or(self.owner.take());
        if line.trim().is_empty() {
            return;
        }
        let section = self.title.take().and_then(|title| section(title, line, self.owner.clone()));
        if let Some(section) = section.filter(|_| self.sections.len() < MOST) {
            self.sections.push(section);
        }
    }

    /// What they show; `None` where nothing was waited for.
    pub(super) fn known(&self) -> Option<String> {
        let shown = |one: &DelaySection| {
            let owner = one.owner.as_deref().unwrap_or("the thread or process");
            let times = if one.count == 1 { "once".to_owned() } else { format!("{} times", one.count) };
            let max = one.max.map(|max| format!(", and {max} at most")).unwrap_or_default();
            format!("{owner} waited {} {times}, {} on average{max}", one.waited, one.mean)
        };
        let all: Vec<String> = self.sections.iter().take(MOST_SHOWN).map(shown).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// `PID 227`, `TGID    227`
fn owner(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let kind = match words.next()? {
        "PID" => "thread",
        "TGID" => "process",
        _ => return None,
    };
    let number: u64 = words.next()?.parse().ok()?;
    words.next().is_none().then(|| format!("{kind} {number}"))
}

fn title(line: &str) -> Option<SectionTitle> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let &(_, waited) = SECTIONS.iter().find(|(section, _)| *section == name)?;
    let is_title = words.next() == Some("count") && line.contains("delay total");
    is_title.then(|| SectionTitle { waited, is_of_cpu: name == "CPU", has_max: line.contains("delay max") })
}

fn section(title: SectionTitle, line: &str, owner: Option<String>) -> Option<DelaySection> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let count: u64 = words.first()?.parse().ok().filter(|count| *count > 0)?;
    let total_at = if title.is_of_cpu { 3 } else { 1 };
    let total: u64 = words.get(total_at)?.parse().ok()?;
    let mean = i64::try_from(total.checked_div(count)?).ok().map(Ns)?;
    let max = words.get(total_at + 2).filter(|_| title.has_max);
    let max = max.and_then(|max| max.strip_suffix("ms")?.parse::<f64>().ok());
    let max = max.filter(|ms| (0.0..1e9).contains(ms)).map(|ms| Ns((ms * 1e6).round() as i64));
    Some(DelaySection { waited: title.waited, count, mean, max, owner })
}

#[cfg(test)]
mod tests {
    use super::DelayAccounts;

    fn known(text: &str) -> Option<String> {
        let mut lines = text.lines();
        let mut accounts = lines.find_map(DelayAccounts::beginning)?;
        lines.for_each(|line| accounts.line(line));
        accounts.known()
    }

    #[test]
    fn sections_with_delays_are_shown() {
        let new = "CPU         count     real total  virtual total    delay total  delay average      delay max      delay min\n\
                   \u{20}              50      188000000      192348334        4098000          0.082ms     0.429260ms     0.051205ms\n\
                   IO          count    delay total  delay average      delay max      delay min\n\
                   \u{20}               0              0          0.000ms     0.000000ms     0.000000ms\n\
                   SWAP        count    delay total  delay average\n                1        3000000          3.000ms\n";
        assert_eq!(
            known(new).as_deref(),
            Some(
                "the thread or process waited for a CPU 50 times, 81.96 us on average, and 429.3 us at most; the thread or process waited for pages in swap once, 3.00 ms on average"
            )
        );
        let old = "PID\t31\n\nCPU count real total virtual total delay total\n 10 9 9 5000\n";
        assert_eq!(
            known(old).as_deref(),
            Some("the thread or process waited for a CPU 10 times, 500 ns on average")
        );
        assert_eq!(known("CPU count of the machine\n 7"), None);
    }
}
