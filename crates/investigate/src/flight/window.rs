//! The rolling window over one CPU's ring-buffer pages, and what is taken from it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use whylate_base::{Cpu, Ns};

/// A page as the kernel gave it, with the time it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Counts the CPU's pages as they were read: a hole in the numbers is one in the trace.
    number: u64,
    start: Ns,
    bytes: Box<[u8]>,
}

impl Page {
    /// The page's time is its first word, in the machine's byte order (`events/header_page`);
    /// `None` for a page too short to have one.
    pub(super) fn new(bytes: &[u8]) -> Option<Page> {
        let stamp = u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
        Some(Page { number: 0, start: Ns(i64::try_from(stamp).ok()?), bytes: bytes.into() })
    }

    /// True when nothing was read between `earlier` and this one.
    pub(super) fn follows(&self, earlier: &Page) -> bool {
        self.number == earlier.number + 1
    }

    pub(super) fn start(&self) -> Ns {
        self.start
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The latest pages of one CPU, oldest first, up to a number of bytes.
#[derive(Debug)]
pub struct Window {
    pages: VecDeque<Arc<Page>>,
    bytes: usize,
    capacity: usize,
    pushed: u64,
}

impl Window {
    /// No pages yet, and never more than `capacity` bytes of them, or one.
    pub fn new(capacity: usize) -> Self {
        Window { pages: VecDeque::new(), bytes: 0, capacity, pushed: 0 }
    }

    /// Adds a copy of the next page and forgets the oldest that no longer fit. What is no page is left out.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if let Some(page) = Page::new(bytes) {
            self.push(page);
        }
    }

    fn push(&mut self, mut page: Page) {
        page.number = self.pushed;
        self.pushed += 1;
        self.bytes += page.bytes.len();
        self.pages.push_back(Arc::new(page));
        while self.bytes > self.capacity && self.pages.len() > 1 {
            self.bytes -= self.pages.pop_front().map_or(0, |page| page.bytes.len());
        }
    }

    /// The pages that hold the events from `from` to `to`. A page ends where the next begins.
    pub fn cover(&self, cpu: Cpu, from: Ns, to: Ns) -> CpuCapture {
        let end = self.pages.partition_point(|page| page.start <= to);
        let begun = self.pages.partition_point(|page| page.start <= from);
        // The last page that begins at or before `from` is the one that holds it.
        let pages: Vec<_> = self.pages.range(begun.saturating_sub(1).min(end)..end).cloned().collect();
        CpuCapture { cpu, pages }
    }
}

impl Window {
    /// The pages from this number on, whether the one of that number is gone, and the number of the next one to come.
    pub(super) fn since(&self, cpu: Cpu, number: u64) -> (CpuCapture, bool, u64) {
        let from = self.pages.partition_point(|page| page.number < number);
        let pages: Vec<_> = self.pages.range(from..).cloned().collect();
        let has_hole = pages.first().is_some_and(|first| first.number > number);
        (CpuCapture { cpu, pages }, has_hole, self.pushed)
    }
}

/// One CPU's part of a [`Capture`]. Pages are shared with other captures that overlap it.
#[derive(Clone, Debug)]
pub struct CpuCapture {
    /// The CPU.
    pub cpu: Cpu,
    pages: Vec<Arc<Page>>,
}

impl CpuCapture {
    pub(super) fn new(cpu: Cpu, pages: Vec<Arc<Page>>) -> CpuCapture {
        CpuCapture { cpu, pages }
    }
    /// When the first page begins: what happened here before is not known.
    pub fn begins(&self) -> Option<Ns> {
        self.pages.first().map(|page| page.start)
    }

    pub(super) fn pages(&self) -> &[Arc<Page>] {
        &self.pages
    }
}

/// Up to which page a stream has been read, by CPU.
#[derive(Clone, Debug, Default)]
pub struct StreamPosition(pub(super) Vec<u64>);

/// What all CPUs did from one instant to another: pages that cover at least that.
#[derive(Clone, Debug)]
pub struct Capture {
    /// From here ...
    pub from: Ns,
    /// ... to here, on the trace clock.
    pub to: Ns,
    /// By CPU, ascending.
    pub cpus: Vec<CpuCapture>,
}

impl Capture {
    /// Bytes of those of its pages that are not `seen` yet; they are afterwards.
    pub fn unseen_bytes(&self, seen: &mut HashSet<(Cpu, u64)>) -> usize {
        let pages = self.cpus.iter().flat_map(|part| part.pages.iter().map(|page| (part.cpu, page)));
        pages.filter(|&(cpu, page)| seen.insert((cpu, page.number))).map(|(_, page)| page.bytes.len()).sum()
    }

    /// When the earliest of its pages begins; where there is none, `from`.
    pub fn begins(&self) -> Ns {
        self.cpus.iter().filter_map(CpuCapture::begins).min().unwrap_or(self.from)
    }

    /// Adds another capture of the same recorder, one that begins no earlier.
    pub fn extend(&mut self, later: &Capture) {
        self.to = self.to.max(later.to);
        for (part, more) in self.cpus.iter_mut().zip(&later.cpus) {
            // Both are stretches of one sequence of pages: what is new comes after what is known.
            let known = part.pages.last().map(|page| page.number);
            part.pages.extend(
                more.pages.iter().filter(|page| known.is_none_or(|known| page.number > known)).cloned(),
            );
        }
    }

    /// The part of one CPU.
    pub fn cpu(&self, cpu: Cpu) -> Option<&CpuCapture> {
        self.cpus.iter().find(|part| part.cpu == cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(start: i64) -> Page {
        let mut bytes = vec![0; 64];
        bytes[..8].copy_from_slice(&(start as u64).to_ne_bytes());
        Page::new(&bytes).expect("a page")
    }

    fn window(capacity_pages: usize, starts: &[i64]) -> Window {
        let mut window = Window::new(capacity_pages * 64);
        starts.iter().for_each(|&start| window.push(page(start)));
        window
    }

    fn covered(window: &Window, from: i64, to: i64) -> Vec<i64> {
        window.cover(Cpu(0), Ns(from), Ns(to)).pages.iter().map(|page| page.start.0).collect()
    }

    #[test]
    fn the_page_that_holds_the_beginning_is_the_one_before_it() {
        let window = window(10, &[100, 200, 300, 400]);
        assert_eq!(covered(&window, 250, 350), [200, 300]);
        assert_eq!(covered(&window, 200, 400), [200, 300, 400]);
        assert_eq!(covered(&window, 500, 600), [400], "an idle CPU's last page may still be in use");
        assert_eq!(covered(&window, 50, 120), [100], "what was before the first page is not there");
        assert!(covered(&window, 10, 90).is_empty());
    }

    #[test]
    fn an_empty_window_covers_nothing() {
        let capture = Window::new(1024).cover(Cpu(3), Ns(0), Ns::MAX);
        assert_eq!((capture.begins(), capture.pages().len()), (None, 0));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        assert_eq!(Page::new(&[0; 7]), None);
        assert_eq!(Page::new(&[0xff; 64]), None, "no clock shows 584 years");
    }

    proptest! {
        #[test]
        fn memory_stays_bounded_and_the_newest_pages_stay(
            capacity in 1usize..20,
            count in 0usize..100,
        ) {
            let starts: Vec<i64> = (0..count as i64).collect();
            let window = window(capacity, &starts);
            prop_assert!(window.bytes <= capacity * 64);
            prop_assert_eq!(window.bytes, window.pages.len() * 64);
            prop_assert_eq!(covered(&window, 0, i64::MAX), &starts[count - count.min(capacity)..]);
        }

        #[test]
        fn a_cover_holds_every_event_of_its_span_and_no_page_outside(
            mut starts in prop::collection::vec(0i64..1_000, 1..30),
            from in 0i64..1_000,
            length in 0i64..300,
        ) {
            starts.sort_unstable();
            starts.dedup();
            let got = covered(&window(100, &starts), from, from + length);
            // A page holds [its start, the next page's start).
            for (i, &start) in starts.iter().enumerate() {
                let next = starts.get(i + 1).copied().unwrap_or(i64::MAX);
                let touches = start <= from + length && next > from;
                prop_assert_eq!(got.contains(&start), touches, "page {} to {}", start, next);
            }
        }

        #[test]
        fn a_stream_has_each_page_once_and_reports_what_is_gone(
            pushes in prop::collection::vec(0usize..12, 1..20),
            capacity in 1usize..8,
        ) {
            let mut window = window(capacity, &[]);
            let (mut next, mut at) = (0, 0);
            for pushed in pushes {
                for _ in 0..pushed {
                    window.push(page(at));
                    at += 1;
                }
                let (fresh, hole, after) = window.since(Cpu(0), next);
                prop_assert_eq!(fresh.pages.len(), pushed.min(capacity));
                prop_assert_eq!(hole, pushed > capacity);
                prop_assert_eq!(fresh.pages.last().map(|page| page.start.0), (pushed > 0).then_some(at - 1));
                next = after;
            }
        }

        #[test]
        fn captures_together_have_each_page_once_in_order(
            mut starts in prop::collection::vec(0i64..1_000, 1..30),
            mut spans in prop::collection::vec((0i64..1_000, 0i64..200), 1..5),
        ) {
            starts.sort_unstable();
            spans.sort_unstable();
            let window = window(100, &starts);
            let capture = |&(from, length): &(i64, i64)| {
                let (from, to) = (Ns(from), Ns(from + length));
                Capture { from, to, cpus: vec![window.cover(Cpu(0), from, to)] }
            };
            let captures: Vec<Capture> = spans.iter().map(capture).collect();
            let mut all = captures[0].clone();
            captures[1..].iter().for_each(|later| all.extend(later));
            let numbers = |capture: &Capture| capture.cpus[0].pages.iter().map(|page| page.number).collect::<Vec<_>>();
            let mut expected: Vec<u64> = captures.iter().flat_map(numbers).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(numbers(&all), expected);
            let mut seen = HashSet::new();
            let bytes: usize = captures.iter().map(|capture| capture.unseen_bytes(&mut seen)).sum();
            prop_assert_eq!(bytes, numbers(&all).len() * 64);
        }
    }
}
