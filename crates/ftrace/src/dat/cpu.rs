//! One CPU's records in time order, out of its pages.

use super::blocks::Blocks;
use crate::page::{LostBefore, PageCursor, PageLayout, Record};
use std::ops::Range;
use whylate_base::Cpu;
use whylate_events::Damage;

/// Walks through one CPU's pages. What makes no sense is skipped and noted.
pub(super) struct CpuRecords {
    pub(super) cpu: Cpu,
    layout: PageLayout,
    page_size: usize,
    blocks: Blocks,
    /// The pages at hand.
    block: Vec<u8>,
    /// Where in the file they come from.
    block_offset: u64,
    compressed: bool,
    /// The time of the first page behind the block.
    after_block: Option<u64>,
    /// The page being read.
    page: Range<usize>,
    cursor: Option<PageCursor>,
    /// The time no event of this page may pass: the next page's.
    bound: u64,
    last: u64,
    /// How far the clock has stepped back so far: what is added to keep the order of events.
    back: u64,
    /// The time of a page that was skipped as too early, if the page before was.
    too_early: Option<u64>,
    lost: Option<LostBefore>,
    /// Sum of the counted losses.
    pub(super) lost_events: u64,
    pub(super) damage: Vec<Damage>,
    /// Damage beyond what is worth listing one by one.
    unlisted: u64,
}

/// A record's time and its bytes in the block at hand.
#[derive(Default)]
pub(super) struct CpuRecord {
    pub(super) timestamp: u64,
    bytes: Range<usize>,
}

/// Times beyond are none: they do not fit into [`whylate_base::Ns`].
const LAST_INSTANT: u64 = i64::MAX as u64;
/// Damage listed one by one, per CPU; a hundred places show what thousands do.
const MOST_DAMAGE: usize = 100;

impl CpuRecords {
    pub(super) fn new(
        cpu: Cpu,
        layout: PageLayout,
        page_size: usize,
        blocks: Blocks,
        compressed: bool,
    ) -> Self {
        CpuRecords {
            cpu,
            layout,
            page_size,
            blocks,
            block: Vec::new(),
            block_offset: 0,
            compressed,
            after_block: None,
            page: 0..0,
            cursor: None,
            bound: LAST_INSTANT,
            last: 0,
            back: 0,
            too_early: None,
            lost: None,
            lost_events: 0,
            damage: Vec::new(),
            unlisted: 0,
        }
    }

    /// The next record; its bytes stay readable until the next call.
    #[inline(always)] // A record that is returned in memory costs more than it takes to find.
    pub(super) fn next(&mut self) -> Option<CpuRecord> {
        loop {
            if let (Some(cursor), Some(page)) = (&mut self.cursor, self.block.get(self.page.clone())) {
                let record = cursor.next(page);
                if let Some(record) = &record
                    && (self.last..=self.bound).contains(&record.timestamp)
                {
                    self.last = record.timestamp;
                    let start = self.page.start;
                    let bytes = start + record.bytes.start..start + record.bytes.end;
                    return Some(CpuRecord { timestamp: record.timestamp, bytes });
                }
                self.leave_page(record);
            }
            self.next_page()?;
        }
    }

    /// The page has no further record that could be handed out: it is at its end, or damaged.
    #[cold]
    fn leave_page(&mut self, record: Option<Record>) {
        if let Some(record) = record {
            let what = "an event's time lies outside its page's: the rest of the page is skipped";
            self.skip(record.bytes.start, what);
        } else if let Some(damage) = self.cursor.as_ref().and_then(PageCursor::damage) {
            self.skip(damage.at, &format!("{}: the rest of the page is skipped", damage.what));
        }
    }

    #[inline]
    pub(super) fn bytes(&self, record: &CpuRecord) -> &[u8] {
        self.block.get(record.bytes.clone()).unwrap_or_default()
    }

    /// True when [`take_lost`](Self::take_lost) returns something: nearly never.
    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Events lost between the last record but one and the last.
    #[inline]
    pub(super) fn take_lost(&mut self) -> Option<LostBefore> {
        self.lost.take()
    }

    /// Notes damage of a record that was handed out.
    #[cold]
    pub(super) fn bad_record(&mut self, record: &CpuRecord, what: &str) {
        self.push(Damage::at(self.place(record.bytes.start), what));
    }

    /// All damage, each with its CPU.
    pub(super) fn all_damage(&self) -> impl Iterator<Item = Damage> + '_ {
        let more = (self.unlisted > 0)
            .then(|| Damage::whole(format!("CPU {}: {} more damaged places", self.cpu, self.unlisted)));
        let name =
            |damage: &Damage| Damage { what: format!("CPU {}: {}", self.cpu, damage.what), ..damage.clone() };
        self.damage.iter().map(name).chain(more)
    }

    /// Opens the next page that can be read; `None` at the end.
    #[cold]
    fn next_page(&mut self) -> Option<()> {
        loop {
            self.cursor = None;
            let start = self.page.end;
            if start >= self.block.len() {
                self.next_block()?;
                continue;
            }
            let end = start.saturating_add(self.page_size).min(self.block.len());
            self.page = start..end;
            let Some(page) = self.block.get(start..end) else { continue };
            let Some(mut cursor) = self.layout.open(page) else {
                self.skip(0, "a page is cut inside its header: skipped");
                continue;
            };
            let next = match end < self.block.len() {
                true => self.block.get(end..).and_then(|next| self.layout.timestamp(next)),
                false => self.after_block,
            };
            // A page that was never filled has no time, and no bound for this one.
            let next = next.filter(|&next| next != 0);
            if cursor.is_empty() && cursor.damage().is_none() && cursor.lost().is_none() {
                if cursor.timestamp() == 0 {
                    self.note_zeros();
                }
                continue;
            }
            self.follow_clock(cursor.timestamp(), next);
            cursor.shift(self.back);
            let next = next.map(|next| next.saturating_add(self.back));
            self.bound = next.filter(|&next| next >= self.last).unwrap_or(LAST_INSTANT).min(LAST_INSTANT);
            if cursor.timestamp() > self.bound {
                self.skip(0, "a page's time lies after the next page's: skipped");
                continue;
            }
            if cursor.timestamp() < self.last {
                self.skip(0, "a page's time lies before the last event's: skipped");
                continue;
            }
            if let Some(lost) = cursor.lost() {
                self.lose(lost);
            }
            self.cursor = Some(cursor);
            return Some(());
        }
    }

    fn next_block(&mut self) -> Option<()> {
        let noted = self.damage.len();
        let block = self.blocks.next(&mut self.block, &mut self.damage);
        if self.damage.len() > noted {
            self.lose(LostBefore { count: None });
        }
        let Some(block) = block else {
            self.block.clear();
            self.page = 0..0;
            if self.blocks.is_cut() {
                self.lose(LostBefore { count: None });
            }
            return None;
        };
        self.block_offset = block.offset;
        self.after_block = block.next.and_then(|next| self.layout.timestamp(&next));
        self.page = 0..0;
        Some(())
    }

    /// Where two pages in a row lie before the last event, the clock was set back: a single one would be
    /// damaged.
    fn follow_clock(&mut self, timestamp: u64, next: Option<u64>) {
        let seen = timestamp.saturating_add(self.back);
        let early = seen < self.last;
        let stays_back = next.is_some_and(|next| (seen..self.last).contains(&next.saturating_add(self.back)));
        let was_back = self.too_early.is_some_and(|before| before <= seen);
        self.too_early = early.then_some(seen);
        if early && (stays_back || was_back) {
            self.too_early = None;
            let step = self.last - seen;
            self.back = self.back.saturating_add(step);
            let what = format!(
                "the clock steps back by {step}: what follows is shown that much later, in the order it was recorded"
            );
            self.push(Damage::at(self.place(self.page.start), what).doubt());
        }
    }

    /// Notes damage that costs the rest of the page.
    #[cold]
    fn skip(&mut self, at_in_page: usize, what: &str) {
        self.cursor = None;
        let damage = Damage::at(self.place(self.page.start + at_in_page), what);
        let rest = self.page.len().saturating_sub(at_in_page) as u64;
        // What a page takes up of a compressed chunk is not known.
        self.push(if self.compressed { damage } else { damage.unread(rest) });
        self.lose(LostBefore { count: None });
    }

    /// Notes a page that holds nothing, together with those before it.
    fn note_zeros(&mut self) {
        const ZEROS: &str = "zeros where pages should be: their events are gone";
        let (at, size) = (self.place(self.page.start), self.page.len() as u64);
        self.lose(LostBefore { count: None });
        if let Some(Damage { offset: Some(offset), what, unread: Some(unread), .. }) = self.damage.last_mut()
            && what == ZEROS
            && *offset + *unread == at
        {
            *unread += size;
            return;
        }
        let damage = Damage::at(at, ZEROS);
        self.push(if self.compressed { damage } else { damage.unread(size) });
    }

    /// Where in the file a place of the block is; inside a compressed chunk there is none but the chunk's.
    fn place(&self, at_in_block: usize) -> u64 {
        self.block_offset + if self.compressed { 0 } else { at_in_block as u64 }
    }

    fn push(&mut self, damage: Damage) {
        match self.damage.len() < MOST_DAMAGE {
            true => self.damage.push(damage),
            false => self.unlisted += 1,
        }
    }

    /// Adds to the losses that the next record reports.
    fn lose(&mut self, more: LostBefore) {
        self.lost_events = self.lost_events.saturating_add(more.count.unwrap_or(0));
        self.lost = Some(match self.lost {
            None => more,
            // One loss that was not counted leaves the sum unknown.
            Some(lost) => {
                LostBefore { count: lost.count.zip(more.count).map(|(lost, more)| lost.saturating_add(more)) }
            }
        });
    }
}
