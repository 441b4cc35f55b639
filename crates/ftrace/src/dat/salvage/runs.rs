//! Where one CPU's pages end and the next one's begin, without the index.

use super::counts::Counts;
use crate::bytes::Endian;
use crate::dat::lost_index::PageSection;
use crate::dat::read_at::{ReadAt, read_full};
use crate::page::PageLayout;
use whylate_events::Damage;

/// One CPU's pages.
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether all of it is there.
    pub(super) whole: bool,
}

/// Compressed pages: each CPU's begin at a page boundary with the number of their chunks.
pub(super) fn packed(
    source: &dyn ReadAt,
    endian: Endian,
    page_size: usize,
    pages: &PageSection,
    notes: &mut Vec<Damage>,
) -> Vec<Run> {
    let number = |at: u64| {
        let mut word = [0; 4];
        let there = at.checked_add(4).is_some_and(|end| end <= pages.end);
        let full = there && read_full(source, &mut word, at).is_ok_and(|count| count == 4);
        full.then(|| endian.u32(&word, 0)).flatten()
    };
    let sizes = |at: u64| {
        let (packed, unpacked) = number(at).zip(number(at + 4))?;
        let sensible = packed > 0 && unpacked > 0 && (unpacked as usize).is_multiple_of(page_size);
        Some(sensible.then_some(u64::from(packed)))
    };
    let mut runs = Vec::new();
    let mut start = pages.start.next_multiple_of(page_size as u64);
    while let Some(chunks) = number(start) {
        // Behind damage, the next CPU's pages begin where chunks do.
        if chunks == 0 || !matches!(sizes(start + 4), None | Some(Some(_))) {
            start += page_size as u64;
            continue;
        }
        let mut at = start + 4;
        let mut whole = true;
        for _ in 0..chunks {
            match sizes(at) {
                Some(Some(packed)) if at + 8 + packed <= pages.end => at += 8 + packed,
                Some(None) => {
                    let what = "a compressed chunk's sizes make no sense: the rest of this CPU's is lost";
                    notes.push(Damage::at(at, what));
                    whole = false;
                    break;
                }
                _ => {
                    (whole, at) = (false, pages.end);
                    break;
                }
            }
        }
        runs.push(Run { start, end: at, whole });
        start = at.next_multiple_of(page_size as u64);
    }
    runs
}

/// What the pages show, one by one.
struct Page {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
    events: u64,
}

fn pages_of(
    source: &dyn ReadAt,
    layout: PageLayout,
    page_size: usize,
    pages: &PageSection,
) -> impl Iterator<Item = Page> {
    let mut buffer = vec![0; page_size];
    let mut at = pages.start.next_multiple_of(page_size as u64);
    let end = pages.end;
    std::iter::from_fn(move || {
        let size = usize::try_from(end.saturating_sub(at)).unwrap_or(page_size).min(page_size);
        let count = read_full(source, &mut buffer[..size], at).unwrap_or(0);
        let page = buffer.get(..count)?;
        let mut cursor = layout.open(page)?;
        let first = cursor.timestamp();
        let mut events = 0;
        while cursor.next(page).is_some() {
            events += 1;
        }
        let start = at;
        at += count as u64;
        Some(Page { start, end: at, first, last: cursor.timestamp(), events })
    })
}

/// Pages as they are, another CPU's where the events counted for this one are complete;
/// `None` where the pages do not add up so.
pub(super) fn by_counts(
    source: &dyn ReadAt,
    layout: PageLayout,
    page_size: usize,
    pages: &PageSection,
    counts: &Counts,
) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut events, mut last) = (0, 0);
    for page in pages_of(source, layout, page_size, pages) {
        let begins = runs.last().is_none_or(|run| run.whole && page.events > 0);
        if begins {
            (events, last) = (0, 0);
            runs.push(Run { start: page.start, end: page.end, whole: false });
        }
        let counted = counts.at(runs.len() - 1)?;
        events += page.events;
        // A page without events belongs to no CPU in particular.
        if events > counted || (page.events > 0 && page.first < last) {
            return None;
        }
        last = page.last.max(last);
        let run = runs.last_mut()?;
        run.end = page.end;
        run.whole = events == counted;
    }
    // The last one may be cut; in a section that is all there it is not.
    let complete = pages.cut || runs.last().is_none_or(|run| run.whole);
    complete.then_some(runs)
}

/// Pages as they are, another CPU's where time steps back. It need not, so a run may be
/// several CPUs'.
pub(super) fn by_time(
    source: &dyn ReadAt,
    layout: PageLayout,
    page_size: usize,
    pages: &PageSection,
) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last = u64::MAX;
    for page in pages_of(source, layout, page_size, pages) {
        match runs.last_mut() {
            Some(run) if page.first >= last || page.events == 0 => run.end = page.end,
            _ => runs.push(Run { start: page.start, end: page.end, whole: false }),
        }
        if page.events > 0 {
            last = page.last;
        }
    }
    runs
}
