//! Which tables of a text are of one run. rtla prints its table again and again, and no number of a row that it counts up or
//! keeps the largest of ever falls: where one does, or the duration, another run has begun.

use std::collections::BTreeMap;
use whylate_base::Ns;

/// What a line of a table shows of its run.
pub(super) enum RunLine {
    /// A line above the rows, with the duration where it has that.
    Head(Option<Ns>),
    /// A row: its CPU, and numbers that do not fall within a run.
    Row(u32, Vec<u64>),
}

/// A text, cut before the table with which another run begins.
pub(super) fn runs(text: &str, mut of: impl FnMut(&str) -> Option<RunLine>) -> Vec<&str> {
    let (mut cuts, mut at) = (Vec::new(), 0);
    let (mut run, mut table) = (Shown::default(), Shown::default());
    for line in text.split_inclusive('\n') {
        match of(line.trim()) {
            Some(RunLine::Head(elapsed)) => {
                if !table.rows.is_empty() {
                    cuts.extend(run.take(std::mem::take(&mut table)));
                    table.start = at;
                }
                table.elapsed = elapsed.or(table.elapsed);
            }
            Some(RunLine::Row(cpu, numbers)) => {
                // The head of a table may be missing.
                if table.rows.contains_key(&cpu) {
                    let elapsed = table.elapsed;
                    cuts.extend(run.take(std::mem::take(&mut table)));
                    (table.start, table.elapsed) = (at, elapsed);
                }
                table.rows.insert(cpu, numbers);
            }
            None => {}
        }
        at += line.len();
    }
    cuts.extend(run.take(table));
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([text.len()]);
    starts.zip(ends).filter_map(|(start, end)| text.get(start..end)).collect()
}

/// What a table shows; of a run, what its latest tables do.
#[derive(Default)]
struct Shown {
    /// Where its first line begins.
    start: usize,
    elapsed: Option<Ns>,
    rows: BTreeMap<u32, Vec<u64>>,
}

impl Shown {
    /// Takes the next table; where it begins, if it is the first one of another run.
    fn take(&mut self, table: Shown) -> Option<usize> {
        if table.rows.is_empty() {
            return None;
        }
        if self.rows.is_empty() {
            *self = table;
            return None;
        }
        if !self.goes_on(&table) {
            let start = table.start;
            *self = table;
            return Some(start);
        }
        self.elapsed = table.elapsed.or(self.elapsed);
        self.rows.extend(table.rows);
        None
    }

    /// True of a later table of the same run, from which rows may have been left out, but not all of them.
    fn goes_on(&self, later: &Shown) -> bool {
        let is_shorter = self.elapsed.zip(later.elapsed).is_some_and(|(before, now)| now < before);
        let mut pairs =
            later.rows.iter().filter_map(|(cpu, now)| Some((self.rows.get(cpu)?, now))).peekable();
        let has_pairs = pairs.peek().is_some();
        let mut numbers = pairs.flat_map(|(before, now)| before.iter().zip(now));
        !is_shorter && has_pairs && numbers.all(|(before, now)| now >= before)
    }
}

#[cfg(test)]
mod tests {
    use super::{RunLine, runs};
    use whylate_base::Ns;

    /// `t 9` is a head with the duration, `0 4 7` a row.
    fn line(line: &str) -> Option<RunLine> {
        if let Some(time) = line.strip_prefix("t ") {
            return Some(RunLine::Head(time.parse().ok().map(Ns)));
        }
        let mut words = line.split(' ').map(|word| word.parse::<u64>().ok());
        Some(RunLine::Row(words.next()??.try_into().ok()?, words.collect::<Option<_>>()?))
    }

    #[test]
    fn a_run_ends_where_a_number_or_the_duration_falls() {
        for (text, expected) in [
            ("", 1),
            ("t 9\n0 4 7\n1 4 2\n", 1),
            ("t 9\n0 4 7\n1 4 2\nt 10\n0 5 7\n1 4 3\n", 1),
            // The same table twice; without heads; with a row that was left out, or one more.
            ("t 9\n0 4 7\nt 9\n0 4 7\n", 1),
            ("0 4 7\n1 4 2\n0 5 7\n1 5 2\n", 1),
            ("t 9\n0 4 7\n1 4 2\nt 10\n1 5 2\n2 1 1\n", 1),
            ("t 9\n0 4 7\nand then\nt 8\n0 5 9\n", 2),
            ("t 9\n0 4 7\nt 9\n0 3 9\n", 2),
            ("t 9\n0 4 7\nt 11\n0 5 6\n", 2),
            ("0 4 7\n1 4 2\n0 5 7\n1 3 2\n", 2),
            // Other CPUs.
            ("t 9\n0 4 7\nt 10\n1 5 9\n", 2),
            ("t 9\n0 4 7\nt 8\n0 3 1\nt 9\n0 4 1\nt 1\n0 1 1\n", 3),
        ] {
            let cut = runs(text, line);
            assert_eq!(cut.len(), expected, "{text}");
            assert_eq!(cut.concat(), text);
        }
        assert_eq!(runs("t 9\n0 4 7\nand then\nt 8\n0 5 9\n", line)[1], "t 8\n0 5 9\n");
    }
}
