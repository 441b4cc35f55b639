//! What one process has mapped as code, as far as the records show it.

/// The kernel's own default bound on the mappings of a process (`vm.max_map_count`, `Documentation/admin-guide/sysctl/vm.rst`).
const MOST_REGIONS: usize = 65_530;

/// A range of addresses with code of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: u64,
    /// The address after its last.
    pub(crate) end: u64,
    /// The file's number, `crate::files`.
    pub(crate) file: usize,
    /// What is to be subtracted from an address for the file's own; it wraps.
    pub(crate) bias: u64,
}

/// Regions that do not overlap, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    regions: Vec<Region>,
}

impl Space {
    /// Adds a region. It takes the place of whatever it overlaps: records show what is mapped, never what is unmapped.
    pub(crate) fn add(&mut self, region: Region) {
        if region.start >= region.end {
            return;
        }
        let first = self.regions.partition_point(|old| old.end <= region.start);
        let after = self.regions.partition_point(|old| old.start < region.end);
        let Some(overlapped) = self.regions.get(first..after) else { return };
        let before = overlapped.first().filter(|old| old.start < region.start);
        let before = before.map(|&old| Region { end: region.start, ..old });
        let behind = overlapped.last().filter(|old| old.end > region.end);
        let behind = behind.map(|&old| Region { start: region.end, ..old });
        let parts = before.into_iter().chain([region]).chain(behind);
        if self.regions.len() - overlapped.len() + 3 > MOST_REGIONS {
            return;
        }
        self.regions.splice(first..after, parts);
    }

    /// The region of an address.
    pub(crate) fn find(&self, address: u64) -> Option<Region> {
        let after = self.regions.partition_point(|region| region.start <= address);
        let region = self.regions.get(after.checked_sub(1)?)?;
        (address < region.end).then_some(*region)
    }

    /// All regions, by address.
    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(start: u64, end: u64, file: usize) -> Region {
        Region { start, end, file, bias: 0 }
    }

    #[test]
    fn a_later_region_takes_the_place_of_what_it_overlaps() {
        let mut space = Space::default();
        for (start, end, file) in
            [(10, 20, 1), (30, 40, 2), (15, 35, 3), (16, 18, 4), (50, 50, 5), (60, 50, 6)]
        {
            space.add(region(start, end, file));
        }
        let expected =
            [region(10, 15, 1), region(15, 16, 3), region(16, 18, 4), region(18, 35, 3), region(35, 40, 2)];
        assert_eq!(space.regions(), expected);
        space.add(region(0, 100, 7));
        assert_eq!(space.regions(), [region(0, 100, 7)]);
    }

    proptest! {
        #[test]
        fn each_address_has_the_region_that_was_added_last(added in prop::collection::vec((0u64..60, 0u64..60), 0..30)) {
            let mut space = Space::default();
            let mut files = [None; 64];
            for (file, &(start, end)) in added.iter().enumerate() {
                space.add(region(start, end, file));
                files[start.min(end) as usize..end as usize].fill(Some(file));
            }
            for (address, file) in files.iter().enumerate() {
                prop_assert_eq!(space.find(address as u64).map(|region| region.file), *file);
            }
        }
    }
}
