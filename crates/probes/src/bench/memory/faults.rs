//! The first access to memory, and how to have it before.

use super::pages::pages;
use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use std::path::Path;
use whylate_sys::{Mapped, MappedMemory, SleepingChild, SysError};

const GROUP: &str = "page fault";
const LOCKING: &str = "locking";

pub(super) const FIRST_WRITE: &str = "first write";
pub(super) const PREFAULTED: &str = "write, prefaulted (MAP_POPULATE)";
pub(super) const LOCKED: &str = "write, locked (MAP_LOCKED)";
pub(super) const COPY_ON_WRITE: &str = "write after fork (copy on write)";
pub(super) const HUGE: &str = "first write, transparent huge page";

const HUGE_DIRECTORY: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) fn cases<'a>(page: usize) -> Vec<Case<'a>> {
    let written = move |how: Mapped| {
        move |pages: usize| {
            let mut mapping = MappedMemory::anonymous(pages * page, how)?;
            timed(|| infallible(|| mapping.write(page)))
        }
    };
    let read = move |pages: usize| {
        let mapping = MappedMemory::anonymous(pages * page, Mapped::Lazily)?;
        timed(|| infallible(|| mapping.read(page)))
    };
    let copied = move |pages: usize| {
        let mut mapping = MappedMemory::anonymous(pages * page, Mapped::Populated)?;
        let child = SleepingChild::fork().map_err(|error| BenchError::io("fork a process", error))?;
        let took = timed(|| infallible(|| mapping.write(page)));
        drop(child);
        took
    };
    let populated = move |pages: usize| {
        let mut mapping = None;
        timed(|| {
            mapping = Some(MappedMemory::anonymous(pages * page, Mapped::Populated)?);
            Ok::<(), SysError>(())
        })
    };
    let locking = move |pages: usize| {
        let mapping = MappedMemory::anonymous(pages * page, Mapped::Lazily)?;
        timed(|| mapping.lock())
    };
    let locking_again = move |pages: usize| {
        let mapping = MappedMemory::anonymous(pages * page, Mapped::Populated)?;
        timed(|| mapping.lock())
    };
    let unlocking = move |pages: usize| {
        let mapping = MappedMemory::anonymous(pages * page, Mapped::Locked)?;
        timed(|| mapping.unlock())
    };
    vec![
        pages(GROUP, FIRST_WRITE, written(Mapped::Lazily)),
        pages(GROUP, "first read (zero page)", read),
        pages(GROUP, COPY_ON_WRITE, copied),
        pages(GROUP, PREFAULTED, written(Mapped::Populated)),
        pages(GROUP, LOCKED, written(Mapped::Locked)),
        Case::new(GROUP, HUGE, move |pages| huge(pages as usize)).at_most(4),
        Case::new(GROUP, "first write, huge page of the pool (MAP_HUGETLB)", move |pages| {
            hugetlb(pages as usize)
        })
        .at_most(4),
        pages(LOCKING, "mmap with MAP_POPULATE", populated),
        pages(LOCKING, "mlock of fresh memory", locking),
        pages(LOCKING, "mlock of prefaulted memory", locking_again),
        pages(LOCKING, "munlock", unlocking),
    ]
}

/// The first writes to so many transparent huge pages. A mapping begins anywhere: with one huge page more, so many whole
/// ones lie in it.
fn huge(pages: usize) -> Result<whylate_base::Ns, BenchError> {
    let file = |name: &str| {
        let path = Path::new(HUGE_DIRECTORY).join(name);
        std::fs::read_to_string(&path).map_err(|source| BenchError::File { tried: "read", path, source })
    };
    let size = file("hpage_pmd_size")?;
    let size: usize = size
        .trim()
        .parse()
        .map_err(|_| BenchError::Unavailable(format!("{HUGE_DIRECTORY}/hpage_pmd_size holds {size:?}")))?;
    if file("enabled")?.contains("[never]") {
        let reason = format!("transparent huge pages are off ({HUGE_DIRECTORY}/enabled is never)");
        return Err(BenchError::Unavailable(reason));
    }
    let mut mapping = MappedMemory::anonymous((pages + 1) * size, Mapped::Huge)?;
    timed(|| infallible(|| mapping.write_aligned(size)))
}

fn hugetlb(pages: usize) -> Result<whylate_base::Ns, BenchError> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let size = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:")?.trim().strip_suffix(" kB"));
    let size = size.and_then(|size| size.parse::<usize>().ok()).map(|kib| kib * 1024);
    let size = size.ok_or_else(|| BenchError::Unavailable("this kernel has no hugetlbfs".to_owned()))?;
    let mut mapping = MappedMemory::anonymous(pages * size, Mapped::Hugetlb).map_err(|error| {
        BenchError::Unavailable(format!(
            "{error}: the pool has no free page; reserve some: sysctl vm.nr_hugepages=8"
        ))
    })?;
    timed(|| infallible(|| mapping.write(size)))
}

fn infallible(work: impl FnOnce()) -> Result<(), BenchError> {
    work();
    Ok(())
}
