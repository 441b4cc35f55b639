//! The offset and the drift between a guest's clock and its host's.
//!
//! A guest's CPU traces events only while its thread has a CPU of the host: so each time in which that thread was away lies
//! between two of the guest's events. One pair of them leaves a range of offsets; thousands leave a few microseconds. The
//! search halves ranges of offset and drift, and drops those in which some time away has no place. What is left has the true
//! offset in it, and its width is the error; if nothing is left, or several places are, there is no join.

use super::error::JoinError;
use super::gaps::Gaps;
use super::observe::Away;
use whylate_base::{Cpu, Ns};
use whylate_ledger::ClockJoin;

/// An event's time is taken within this of what it shows: the way through the kernel's switch, a clock that is read by
/// another processor.
const BLUR: f64 = 2_000.0;
/// Clocks that are not set run apart by less (the crystal, NTP's slewing of up to 500 ppm, a guest's calibration of its TSC).
const MOST_DRIFT: f64 = 1_000e-6;
/// The first cells of the search.
const FIRST_CELL: f64 = 2e6;
/// Smaller cells are not divided.
const LAST_CELL: f64 = 2_000.0;
/// An offset that is less certain charges the wrong thread.
pub(super) const MOST_ERROR: Ns = Ns::from_us(250);
/// Times away without which there is no join.
const FEWEST: u64 = 50;
/// Cells that are left where nothing is certain.
const MOST_CELLS: usize = 8_000;
/// Comparisons of a cell with a time away before the search is given up: some seconds.
const MOST_CHECKS: usize = 200_000_000;
/// Offsets that lie so far apart are several answers.
const APART: f64 = 4.0 * MOST_ERROR.0 as f64;
/// Longer recordings are joined part by part: over minutes, clocks do not run evenly.
const PART: Ns = Ns::from_secs(30);

/// A joined clock.
#[derive(Clone, Debug)]
pub(super) struct Join {
    parts: Vec<Part>,
    pub(super) agreeing: u64,
}

/// A part of the host's time, with the cells that are left.
#[derive(Clone, Debug)]
struct Part {
    from: Ns,
    to: Ns,
    /// The middle, from which the drift counts.
    middle: Ns,
    cells: Vec<Cell>,
}

/// Offsets at the middle of a part, and drifts.
#[derive(Clone, Copy, Debug)]
struct Cell {
    offset: (f64, f64),
    drift: (f64, f64),
}

impl Cell {
    /// The offsets at `x` ns from the middle.
    fn at(&self, x: f64) -> (f64, f64) {
        let (slow, fast) = (self.drift.0 * x, self.drift.1 * x);
        (self.offset.0 + slow.min(fast), self.offset.1 + slow.max(fast))
    }
}

/// One time away, in whose place an event of the guest cannot be; relative to the middle of the part.
struct Constraint<'g> {
    from: f64,
    to: f64,
    gaps: &'g [(f64, f64)],
}

impl Constraint<'_> {
    /// Whether one of the cell's offsets puts it between two events.
    fn has_place(&self, cell: &Cell) -> bool {
        let (low, high) = cell.at(self.from);
        let behind = self.gaps.partition_point(|&(before, _)| before <= self.from - low);
        let candidates = self.gaps[..behind].iter().rev();
        candidates
            .take_while(|&&(_, after)| after >= self.to - high)
            .any(|&(before, after)| (self.to - after).max(low) <= (self.from - before).min(high))
    }
}

/// Joins the clock of a host, on which the guest's CPUs were `away`, with that of the guest's recording. `host` is the span
/// of the host's recording; `most_drift` how far apart the clocks may run.
pub(super) fn join(
    gaps: &Gaps,
    away: &[(Cpu, &[Away])],
    host: (Ns, Ns),
    same_oscillator: bool,
) -> Result<Join, JoinError> {
    let Some(guest) = gaps.span() else { return Err(JoinError::TooFew { times: 0, needed: FEWEST }) };
    let drift = if same_oscillator { 1e-6 } else { MOST_DRIFT };
    let parts = parts_of(host);
    let count = |&(from, to): &(Ns, Ns)| {
        let inside = |away: &Away| away.from >= from && away.to <= to;
        away.iter().map(|(_, all)| all.iter().filter(|&one| inside(one)).count()).sum::<usize>()
    };
    // The one with the most to go by is first; its neighbours follow from it.
    let Some(first) = (0..parts.len()).max_by_key(|&index| count(&parts[index])) else {
        return Err(JoinError::TooFew { times: 0, needed: FEWEST });
    };
    let solve = |(from, to): (Ns, Ns), offsets: (f64, f64)| {
        let middle = from + Ns((to - from).0 / 2);
        solve_part(gaps, away, guest, (from, to, middle), offsets, drift)
    };
    let (from, to) = parts[first];
    let half = |(from, to): (Ns, Ns)| (to - from).0 as f64 / 2.0;
    // At least half of the shorter of the two recordings is in the other one.
    let overlap = half((from, to)).min(half(guest));
    let least = (from - guest.1).0 as f64 + overlap;
    let most = (to - guest.0).0 as f64 - overlap;
    let (part, agreeing) = solve(parts[first], (least, most))?;
    let mut joined = Join { parts: vec![part], agreeing };
    for &next in &parts[first + 1..] {
        let Some((part, agreeing)) = joined.goes_on(next, drift).and_then(|range| solve(next, range).ok())
        else {
            break;
        };
        joined.agreeing += agreeing;
        joined.parts.push(part);
    }
    for &before in parts[..first].iter().rev() {
        let Some((part, agreeing)) =
            joined.goes_on(before, drift).and_then(|range| solve(before, range).ok())
        else {
            break;
        };
        joined.agreeing += agreeing;
        joined.parts.insert(0, part);
    }
    Ok(joined)
}

fn parts_of((from, to): (Ns, Ns)) -> Vec<(Ns, Ns)> {
    let count = ((to - from).0 / PART.0).max(1);
    let edge =
        |number: i64| from + Ns(((to - from).0 as i128 * i128::from(number) / i128::from(count)) as i64);
    (0..count).map(|number| (edge(number), edge(number + 1))).collect()
}

fn solve_part(
    gaps: &Gaps,
    away: &[(Cpu, &[Away])],
    guest: (Ns, Ns),
    (from, to, middle): (Ns, Ns, Ns),
    offsets: (f64, f64),
    drift: f64,
) -> Result<(Part, u64), JoinError> {
    // Times relative to the middle of either side, as no float has the nanoseconds of a date.
    let origin = guest.0;
    let base = (middle - origin).0 as f64;
    let relative: Vec<(Cpu, Vec<(f64, f64)>)> = (gaps.cpus())
        .map(|(cpu, of)| {
            let time = |at: Ns| (at - origin).0 as f64;
            let before = (f64::NEG_INFINITY, time(of.first));
            let after = (time(of.last), f64::INFINITY);
            let inner = of.gaps.iter().map(|&(from, to)| (time(from), time(to)));
            (cpu, std::iter::once(before).chain(inner).chain([after]).collect())
        })
        .collect();
    let mut constraints: Vec<Constraint<'_>> = Vec::new();
    for (cpu, away) in away {
        let Some((_, gaps)) = relative.iter().find(|(of, _)| of == cpu) else { continue };
        let inside = away.iter().filter(|away| away.from >= from && away.to <= to);
        constraints.extend(inside.map(|away| Constraint {
            from: (away.from - middle).0 as f64 + BLUR,
            to: (away.to - middle).0 as f64 - BLUR,
            gaps,
        }));
    }
    let times = constraints.len() as u64;
    if times < FEWEST {
        return Err(JoinError::TooFew { times, needed: FEWEST });
    }
    // The longest have the fewest places.
    constraints.sort_by(|one, other| (other.to - other.from).total_cmp(&(one.to - one.from)));
    // In relative times the offset is the true one less the difference of the origins.
    let cells =
        search(&constraints, (offsets.0 - base, offsets.1 - base), (to - from).0 as f64 / 2.0, drift)?;
    let agreeing = agreeing(&constraints, &cells);
    if agreeing < FEWEST {
        return Err(JoinError::TooFew { times: agreeing, needed: FEWEST });
    }
    let absolute = |cell: Cell| Cell { offset: (cell.offset.0 + base, cell.offset.1 + base), ..cell };
    Ok((Part { from, to, middle, cells: cells.into_iter().map(absolute).collect() }, agreeing))
}

/// The cells in which every constraint has a place.
fn search(
    constraints: &[Constraint<'_>],
    (least, most): (f64, f64),
    reach: f64,
    drift: f64,
) -> Result<Vec<Cell>, JoinError> {
    let mut left = Vec::new();
    let mut checks = 0;
    let mut first = least;
    while first < most {
        let mut open = vec![Cell { offset: (first, (first + FIRST_CELL).min(most)), drift: (-drift, drift) }];
        first += FIRST_CELL;
        while let Some(cell) = open.pop() {
            if checks > MOST_CHECKS || left.len() > MOST_CELLS {
                return Err(JoinError::Ambiguous);
            }
            let refuted = constraints.iter().position(|constraint| !constraint.has_place(&cell));
            checks += refuted.map_or(constraints.len(), |position| position + 1);
            if refuted.is_some() {
                continue;
            }
            let (width, turn) = (cell.offset.1 - cell.offset.0, (cell.drift.1 - cell.drift.0) * reach);
            if width <= LAST_CELL && turn <= LAST_CELL {
                // With nothing inside of the guest's recording nothing is refuted either.
                if agreeing(constraints, &[cell]) < FEWEST {
                    continue;
                }
                if left.first().is_some_and(|first: &Cell| cell.offset.0 - first.offset.0 > APART) {
                    return Err(JoinError::Ambiguous);
                }
                left.push(cell);
            } else if width >= turn {
                let half = (cell.offset.0 + cell.offset.1) / 2.0;
                open.push(Cell { offset: (cell.offset.0, half), ..cell });
                open.push(Cell { offset: (half, cell.offset.1), ..cell });
            } else {
                let half = (cell.drift.0 + cell.drift.1) / 2.0;
                open.push(Cell { drift: (cell.drift.0, half), ..cell });
                open.push(Cell { drift: (half, cell.drift.1), ..cell });
            }
        }
    }
    if left.is_empty() {
        return Err(JoinError::NoOffset);
    }
    // Several places, or one that is wide?
    left.sort_by(|one, other| one.offset.0.total_cmp(&other.offset.0));
    let apart = |pair: &[Cell]| pair[1].offset.0 - pair[0].offset.1 > MOST_ERROR.0 as f64;
    if left.windows(2).any(apart) {
        return Err(JoinError::Ambiguous);
    }
    let error = [-reach, 0.0, reach].map(|x| width(&left, x) / 2.0);
    let error = Ns(error.into_iter().fold(0.0, f64::max) as i64);
    match error > MOST_ERROR {
        true => Err(JoinError::TooWide { error, most: MOST_ERROR }),
        false => Ok(left),
    }
}

fn range(cells: &[Cell], x: f64) -> (f64, f64) {
    cells
        .iter()
        .map(|cell| cell.at(x))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (least, most)| {
            (low.min(least), high.max(most))
        })
}

fn width(cells: &[Cell], x: f64) -> f64 {
    let (low, high) = range(cells, x);
    high - low
}

/// How many times away lie between two events of the guest's recording, rather than before or after all of it.
fn agreeing(constraints: &[Constraint<'_>], cells: &[Cell]) -> u64 {
    let inside = |constraint: &&Constraint<'_>| {
        let (low, high) = range(cells, constraint.from);
        let offset = (low + high) / 2.0;
        let begins = constraint.gaps.first().is_some_and(|&(_, first)| constraint.from - offset > first);
        begins && constraint.gaps.last().is_some_and(|&(last, _)| constraint.to - offset < last)
    };
    constraints.iter().filter(inside).count() as u64
}

impl Join {
    /// The host's time less the guest's at an instant of the host, and its error; `None` where it is not joined.
    pub(super) fn offset_at(&self, host: Ns) -> Option<(Ns, Ns)> {
        let part = self.parts.iter().find(|part| part.from <= host && host <= part.to)?;
        let (low, high) = range(&part.cells, (host - part.middle).0 as f64);
        let offset = Ns(((low + high) / 2.0) as i64);
        Some((offset, Ns(((high - low) / 2.0) as i64 + BLUR as i64)))
    }

    /// The guest's time of an instant of the host.
    pub(super) fn to_guest(&self, host: Ns) -> Option<Ns> {
        Some(host - self.offset_at(host)?.0)
    }

    /// The host's time of an instant of the guest.
    pub(super) fn to_host(&self, guest: Ns) -> Option<Ns> {
        let (from, to) = self.covers();
        // The offset changes by a thousandth of the distance at most: two steps are exact to the nanosecond.
        let mut host = (guest + self.summary().offset).clamp(from, to);
        for _ in 0..3 {
            let exact = guest + self.offset_at(host)?.0;
            if exact < from - MOST_ERROR || exact > to + MOST_ERROR {
                return None;
            }
            host = exact.clamp(from, to);
        }
        Some(host)
    }

    /// The part of the host's time that is joined.
    pub(super) fn covers(&self) -> (Ns, Ns) {
        let first = self.parts.first().map_or(Ns::ZERO, |part| part.from);
        (first, self.parts.last().map_or(Ns::ZERO, |part| part.to))
    }

    /// What a report shows of it.
    pub(super) fn summary(&self) -> ClockJoin {
        let (from, to) = self.covers();
        let middle = from + Ns((to - from).0 / 2);
        let offset = self.offset_at(middle).map_or(Ns::ZERO, |(offset, _)| offset);
        let edges = self.parts.iter().flat_map(|part| [part.from, part.middle, part.to]);
        let error = edges.filter_map(|at| Some(self.offset_at(at)?.1)).max().unwrap_or(Ns::ZERO);
        let ends = [from, to].map(|at| self.offset_at(at).map_or(offset, |(offset, _)| offset));
        let drift = (ends[1] - ends[0]).0 as f64 / (to - from).0.max(1) as f64;
        ClockJoin {
            offset,
            drift_ppb: (drift * 1e9) as i64,
            error,
            agreeing: self.agreeing,
            covered: (from - ends[0], to - ends[1]),
        }
    }

    /// The offsets that the next part may have, by its neighbour.
    fn goes_on(&self, (from, to): (Ns, Ns), drift: f64) -> Option<(f64, f64)> {
        let (begin, end) = self.covers();
        let neighbour = if from >= end { end } else { begin };
        let (offset, error) = self.offset_at(neighbour)?;
        let reach = (to - from).0 as f64 / 2.0 * drift + error.0 as f64;
        Some((offset.0 as f64 - reach, offset.0 as f64 + reach))
    }
}

#[cfg(test)]
mod tests;
