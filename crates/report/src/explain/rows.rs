//! A ledger as rows: segments of one cause and one culprit are one line.

use crate::words;
use whylate_base::{Confidence, Ns};
use whylate_ledger::{Activation, Cause, Culprit, Place, Segment};

/// What one cause and one culprit took of an activation.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) cause: Cause,
    pub(crate) by: Option<Culprit>,
    /// The owner of the lock that was waited for.
    pub(crate) owner: Option<Culprit>,
    pub(crate) total: Ns,
    pub(crate) share: f64,
    pub(crate) confidence: Confidence,
    /// In time order.
    pub(crate) segments: Vec<&'a Segment>,
    /// Where in the programs it went: of each role and line one place, the most sampled first.
    pub(crate) places: Vec<&'a Place>,
    /// True for the row the verdict accuses.
    pub(crate) accused: bool,
}

/// The ledger's rows, in the order in which each first took time.
pub(crate) fn rows(activation: &Activation) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let verdict = &activation.verdict;
    for (index, segment) in activation.ledger.iter().enumerate() {
        let places = activation.places.iter().filter(|place| place.segment == index);
        let known = rows
            .iter_mut()
            .find(|row| (row.cause, row.by, row.owner) == (segment.cause, segment.by, segment.owner));
        match known {
            Some(row) => {
                row.total += segment.length();
                row.confidence = row.confidence.min(segment.confidence);
                row.segments.push(segment);
                row.places.extend(places);
            }
            None => rows.push(Row {
                cause: segment.cause,
                by: segment.by,
                owner: segment.owner,
                total: segment.length(),
                share: 0.0,
                confidence: segment.confidence,
                segments: vec![segment],
                places: places.collect(),
                accused: segment.cause == verdict.cause && segment.by == verdict.by,
            }),
        }
    }
    let whole = activation.response().0.max(1) as f64;
    for row in &mut rows {
        row.share = row.total.0 as f64 / whole;
        row.places.sort_by_key(|place| (std::cmp::Reverse(place.samples), place.segment));
        let mut seen = Vec::new();
        row.places.retain(|place| {
            let is_new = !seen.contains(&(place.role, &place.location));
            seen.push((place.role, &place.location));
            is_new
        });
    }
    rows
}

/// The `limit` largest rows, still in their order, and what was left out: how many, how much.
///
/// The accused row always stays.
pub(crate) fn largest(rows: Vec<Row<'_>>, limit: usize) -> (Vec<Row<'_>>, usize, Ns) {
    if rows.len() <= limit {
        return (rows, 0, Ns::ZERO);
    }
    let mut by_size: Vec<usize> = (0..rows.len()).collect();
    by_size.sort_by_key(|&i| std::cmp::Reverse((rows[i].accused, rows[i].total)));
    let mut keep = vec![false; rows.len()];
    by_size.iter().take(limit).for_each(|&i| keep[i] = true);
    let (mut kept, mut left, mut time) = (Vec::with_capacity(limit), 0, Ns::ZERO);
    for (row, keep) in rows.into_iter().zip(keep) {
        if keep {
            kept.push(row);
        } else {
            left += 1;
            time += row.total;
        }
    }
    (kept, left, time)
}

/// The culprit, as one cell of a table: `hog:7 (rt 20), lock of logger:9`.
pub(crate) fn who(by: Option<&Culprit>, owner: Option<&Culprit>) -> String {
    match (by, owner) {
        (Some(by), Some(owner)) if by != owner => format!("{}, lock of {}", words::culprit(by), name(owner)),
        (Some(who), _) => words::culprit(who),
        (None, Some(owner)) => format!("lock of {}", name(owner)),
        (None, None) => String::new(),
    }
}

/// The culprit, in lines of `width` columns where that can be: the lock's owner gets a line of its own
/// where there is no room, and then the priorities go.
pub(crate) fn who_lines(by: Option<&Culprit>, owner: Option<&Culprit>, width: usize) -> Vec<String> {
    let fits = |text: &String| text.chars().count() <= width;
    let whole = who(by, owner);
    if fits(&whole) {
        return vec![whole];
    }
    let mut lines = Vec::new();
    if let Some(by) = by {
        let by_whom = words::culprit(by);
        lines.push(if fits(&by_whom) { by_whom } else { name(by) });
    }
    if let Some(owner) = owner.filter(|owner| by != Some(*owner)) {
        lines.push(format!("lock of {}", name(owner)));
    }
    lines
}

/// A culprit without the priority.
fn name(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Task { tid, comm, .. } => words::thread(comm, *tid),
        other => words::culprit(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Cpu, Priority, Tid};

    fn activation(parts: &[(Cause, i64)]) -> Activation {
        let mut at = Ns::ZERO;
        let ledger = parts.iter().map(|&(cause, length)| {
            let start = at;
            at += Ns(length);
            let confidence = Confidence::High;
            Segment { cause, start, end: at, cpu: Cpu(0), by: None, owner: None, confidence }
        });
        let ledger: Vec<Segment> = ledger.collect();
        let mut activation = Activation::of(Tid(1), Comm::default(), Priority(0), Ns::ZERO, at);
        activation.ledger = ledger;
        activation.verdict.cause = Cause::TimerLate;
        activation
    }

    #[test]
    fn segments_of_one_cause_share_a_row() {
        let activation = activation(&[(Cause::OwnWork, 1), (Cause::Irq, 2), (Cause::OwnWork, 5)]);
        let rows = rows(&activation);
        let seen: Vec<_> = rows.iter().map(|row| (row.cause, row.total.0, row.segments.len())).collect();
        assert_eq!(seen, [(Cause::OwnWork, 6, 2), (Cause::Irq, 2, 1)]);
        assert_eq!(rows.iter().map(|row| row.share).sum::<f64>(), 1.0);
    }

    #[test]
    fn the_accused_and_the_largest_stay_and_nothing_is_lost() {
        let parts = [(Cause::Irq, 5), (Cause::Softirq, 5), (Cause::OwnWork, 9), (Cause::TimerLate, 1)];
        let activation = activation(&parts);
        let (kept, left, time) = largest(rows(&activation), 2);
        assert_eq!(kept.iter().map(|row| row.cause).collect::<Vec<_>>(), [Cause::OwnWork, Cause::TimerLate]);
        assert_eq!((left, time), (2, Ns(10)));
        assert_eq!(largest(rows(&activation), 4).1, 0);
    }

    #[test]
    fn a_lock_names_its_owner() {
        let task = |name: &str, tid| Culprit::Task {
            tid: Tid(tid),
            comm: Comm::from(name),
            priority: Priority::realtime(20),
        };
        let (hog, logger) = (task("hog", 7), task("logger", 9));
        assert_eq!(who(Some(&hog), Some(&logger)), "hog:7 (rt 20), lock of logger:9");
        assert_eq!(who(Some(&logger), Some(&logger)), "logger:9 (rt 20)");
        assert_eq!(who(None, Some(&logger)), "lock of logger:9");
        let lines = |width| who_lines(Some(&hog), Some(&logger), width);
        assert_eq!(lines(31), ["hog:7 (rt 20), lock of logger:9"]);
        assert_eq!(lines(30), ["hog:7 (rt 20)", "lock of logger:9"]);
        assert_eq!(lines(12), ["hog:7", "lock of logger:9"]);
        assert_eq!(who_lines(Some(&logger), Some(&logger), 10), ["logger:9"]);
        assert_eq!(who_lines(None, None, 0), [""]);
    }
}
