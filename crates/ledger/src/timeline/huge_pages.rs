//! Memory that a thread has mapped in huge pages (`MAP_HUGETLB`, mmap(2)): each page fault in it clears a whole one.

/// The latest mappings of a thread: one with more has them from a library that takes them before it works.
const KEPT: usize = 16;

/// Few threads have any.
#[derive(Clone, Debug, Default)]
pub(crate) struct HugePages(Option<Box<Mappings>>);

/// From where to where each is, the oldest first.
#[derive(Clone, Debug, Default)]
struct Mappings(Vec<(u64, u64)>);

impl HugePages {
    /// A mapping of `length` bytes is at `address` from now on, of huge pages or not.
    pub(crate) fn map(&mut self, address: u64, length: u64, huge: bool) {
        let end = address.saturating_add(length);
        if let Some(Mappings(kept)) = self.0.as_deref_mut() {
            kept.retain(|&(from, to)| to <= address || end <= from);
        }
        if huge {
            let Mappings(kept) = &mut **self.0.get_or_insert_default();
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((address, end));
        }
    }

    /// True of an address in one of them.
    pub(crate) fn contain(&self, address: u64) -> bool {
        self.0.iter().flat_map(|mappings| &mappings.0).any(|&(from, to)| (from..to).contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_mapping_takes_the_place_of_one_before() {
        const HUGE: u64 = 2 << 20;
        let mut pages = HugePages::default();
        pages.map(HUGE, 2 * HUGE, true);
        pages.map(8 * HUGE, HUGE, true);
        assert!(pages.contain(HUGE) && pages.contain(3 * HUGE - 1) && !pages.contain(3 * HUGE));
        pages.map(2 * HUGE, 4096, false);
        assert!(!pages.contain(HUGE) && pages.contain(8 * HUGE));
    }
}
