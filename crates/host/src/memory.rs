//! Memory management: what may fault, stall or move pages under a running task.

use crate::table::readings;
use crate::{BracketedChoice, FsRoot, Reading, Why};

/// The settings and the swap areas.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// `/proc/sys/vm`.
    pub vm: Vm,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub thp_enabled: Reading<BracketedChoice>,
    /// How hard huge pages are tried for.
    pub thp_defrag: Reading<BracketedChoice>,
    /// Whether khugepaged defragments.
    pub khugepaged_defrag: Reading<bool>,
    /// KSM: 0 stopped, 1 running, 2 stopped and unmerged.
    pub ksm_run: Reading<u64>,
    /// The swap areas in use.
    pub swaps: Reading<Vec<Swap>>,
    /// Whether MGLRU is on, a mask.
    pub lru_gen: Reading<String>,
    /// The sizes of huge pages, and the number reserved of each.
    pub huge_pages: Reading<Vec<HugePages>>,
}

/// Huge pages of one size (`/sys/kernel/mm/hugepages`).
#[derive(Clone, Debug, PartialEq)]
pub struct HugePages {
    /// Their size, KiB.
    pub size_kib: u64,
    /// How many are reserved.
    pub reserved: Reading<u64>,
}

/// A swap area (/proc/swaps).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub name: String,
    /// Its size, KiB.
    pub size_kib: u64,
    /// The used part, KiB.
    pub used_kib: u64,
}

readings! {
    /// `/proc/sys/vm` (Documentation/admin-guide/sysctl/vm.rst).
    pub struct Vm {
        /// How readily anonymous pages are swapped, 0 to 200.
        pub swappiness: u64 = "swappiness",
        /// 0 heuristic, 1 always, 2 never more than there is.
        pub overcommit_memory: u64 = "overcommit_memory",
        /// Seconds between updates of each CPU's counters.
        pub stat_interval: u64 = "stat_interval",
        /// Per cent of memory that may be dirty before a writer must write.
        pub dirty_ratio: u64 = "dirty_ratio",
        /// The same in bytes; 0: per cent count.
        pub dirty_bytes: u64 = "dirty_bytes",
        /// Per cent of memory from which flushing begins in the background.
        pub dirty_background_ratio: u64 = "dirty_background_ratio",
        /// The same in bytes; 0: per cent count.
        pub dirty_background_bytes: u64 = "dirty_background_bytes",
        /// Hundredths of a second between flushes.
        pub dirty_writeback_centisecs: u64 = "dirty_writeback_centisecs",
        /// Whether a node's memory is reclaimed before another node's is used.
        pub zone_reclaim_mode: u64 = "zone_reclaim_mode",
        /// Whether pages that are locked may be moved.
        pub compact_unevictable_allowed: u64 = "compact_unevictable_allowed",
        /// How much memory is compacted in the background, 0 to 100.
        pub compaction_proactiveness: u64 = "compaction_proactiveness",
        /// KiB that are kept free.
        pub min_free_kbytes: u64 = "min_free_kbytes",
        /// 1 if userfaultfd needs no privilege.
        pub unprivileged_userfaultfd: u64 = "unprivileged_userfaultfd",
        /// Huge pages that are reserved.
        pub nr_hugepages: u64 = "nr_hugepages",
    }
}

impl Memory {
    pub(crate) fn read(tree: &FsRoot) -> Memory {
        Memory {
            vm: Vm::read(tree, "/proc/sys/vm"),
            thp_enabled: tree.value("/sys/kernel/mm/transparent_hugepage/enabled"),
            thp_defrag: tree.value("/sys/kernel/mm/transparent_hugepage/defrag"),
            khugepaged_defrag: tree.value("/sys/kernel/mm/transparent_hugepage/khugepaged/defrag"),
            ksm_run: tree.value("/sys/kernel/mm/ksm/run"),
            swaps: tree.text("/proc/swaps").and_then(|text| swaps(text)),
            lru_gen: tree.value("/sys/kernel/mm/lru_gen/enabled"),
            huge_pages: huge_pages(tree),
        }
    }
}

/// A directory for each size: `hugepages-2048kB`.
fn huge_pages(tree: &FsRoot) -> Reading<Vec<HugePages>> {
    let dir = "/sys/kernel/mm/hugepages";
    tree.list(dir).and_then(|names| {
        let sizes = names.iter().filter_map(|name| {
            let size = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            Some(HugePages { size_kib: size, reserved: tree.value(&format!("{dir}/{name}/nr_hugepages")) })
        });
        Ok(sizes.collect())
    })
}

fn swaps(text: &str) -> Result<Vec<Swap>, Why> {
    // The heading is there without any area as well.
    if !text.starts_with("Filename") {
        return Err(Why::Malformed { expected: "the heading of /proc/swaps".to_owned() });
    }
    let areas = text.lines().skip(1).filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.to_owned();
        let mut numbers = words.skip(1).map(str::parse);
        Some(Swap { name, size_kib: numbers.next()?.ok()?, used_kib: numbers.next()?.ok()? })
    });
    Ok(areas.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_areas() {
        let text =
            "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/zram0   partition\t8388604\t12\t100\n";
        assert_eq!(
            swaps(text),
            Ok(vec![Swap { name: "/dev/zram0".into(), size_kib: 8_388_604, used_kib: 12 }])
        );
        assert_eq!(swaps("Filename\n"), Ok(vec![]));
        assert!(swaps("").is_err());
    }
}
