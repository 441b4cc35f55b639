//! Page faults of mapped files: of pages in the page cache, and of pages that a device has (major faults).

use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use whylate_base::Ns;
use whylate_sys::{MappedMemory, thread_usage};

const GROUP: &str = "page fault";
const CACHED: &str = "first read of a file page in the page cache";
pub(super) const MAJOR: &str = "major fault: first read of a file page on the device";
/// Where files lie on a device: `/tmp` is often in memory.
const DIRECTORY: &str = "/var/tmp";
const PAGES: usize = 64;
/// A device may take milliseconds for each.
const MOST_MAJOR: u32 = 4;

pub(super) fn cases<'a>(page: usize) -> Result<Vec<Case<'a>>, BenchError> {
    let failed = |tried| move |source| BenchError::File { tried, path: DIRECTORY.into(), source };
    // Without a name from the start: nothing is left, however this process ends.
    let mut file = tempfile::tempfile_in(Path::new(DIRECTORY)).map_err(failed("create a file in"))?;
    file.write_all(&vec![1; PAGES * page]).map_err(failed("write to a file in"))?;
    // Only what is on the device leaves the page cache.
    file.sync_all().map_err(failed("sync a file in"))?;
    let file = Rc::new(file);
    let same = Rc::clone(&file);
    let cached = move |pages: u32| {
        let pages = pages as usize;
        let warm = MappedMemory::file(&file, pages * page)?;
        warm.read(page);
        let mapping = MappedMemory::file(&file, pages * page)?;
        timed(|| {
            mapping.read(page);
            Ok::<(), BenchError>(())
        })
    };
    Ok(vec![
        Case::new(GROUP, CACHED, cached).at_least(PAGES as u32).at_most(PAGES as u32),
        Case::new(GROUP, MAJOR, move |pages| major(&same, pages as usize, page)).at_most(MOST_MAJOR),
    ])
}

fn major(file: &File, pages: usize, page: usize) -> Result<Ns, BenchError> {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(|errno| BenchError::io("drop a file from the page cache", errno.into()))?;
    let mapping = MappedMemory::file(file, pages * page)?;
    let before = thread_usage()?.major_faults;
    let took = timed(|| {
        mapping.read(page);
        Ok::<(), BenchError>(())
    })?;
    let faults = thread_usage()?.major_faults - before;
    if faults < pages as u64 {
        return Err(BenchError::Unavailable(format!(
            "{faults} of {pages} reads were major faults: the page cache keeps files in {DIRECTORY}, as tmpfs does"
        )));
    }
    Ok(took)
}
