//! Journals in /run: one file for each process that has changed something, named after it. /run ends with the boot, as the
//! changes do.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use whylate_host::ThreadStat;

/// The path of this process's journal in a directory, which is made where it does not exist.
pub(crate) fn own(directory: &Path) -> io::Result<PathBuf> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let pid = std::process::id();
    let started = started(pid).ok_or_else(|| io::Error::other("/proc/self/stat cannot be read"))?;
    Ok(directory.join(format!("{pid}-{started}.jsonl")))
}

/// The journals of processes that have ended; of other users' none, as what they wrote is not acted upon.
pub(crate) fn abandoned(directory: &Path) -> Vec<PathBuf> {
    own_ones(directory).into_iter().filter(|path| holder(path).is_none()).collect()
}

/// The processes that run and have a journal there.
pub(crate) fn holders(directory: &Path) -> Vec<u32> {
    own_ones(directory).iter().filter_map(|path| holder(path)).collect()
}

fn own_ones(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_own =
        |path: &Path| fs::metadata(path).is_ok_and(|own| own.uid() == rustix::process::geteuid().as_raw());
    let paths = entries.flatten().map(|entry| entry.path());
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    paths.filter(|path| is_journal(path) && is_own(directory) && is_own(path)).collect()
}

/// The process that wrote the journal, if it still runs. Ids are used again, start times are not. A file with another name
/// is taken to have a holder.
fn holder(path: &Path) -> Option<u32> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let named = name.split_once('-').and_then(|(pid, at)| Some((pid.parse().ok()?, at.parse::<u64>().ok()?)));
    let Some((pid, at)) = named else { return Some(0) };
    (started(pid) == Some(at)).then_some(pid)
}

/// When a process started; `None` where it has ended, even if its parent has not waited for it yet.
fn started(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = ThreadStat::parse(&text)?;
    stat.started().filter(|_| !matches!(stat.state(), Some('Z' | 'X')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_abandoned_when_its_process_has_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = own(directory.path()).expect("a path");
        fs::write(&path, "").expect("written");
        assert_eq!(abandoned(directory.path()), [] as [PathBuf; 0]);
        assert_eq!(holders(directory.path()), [std::process::id()]);
        let mut child = std::process::Command::new("/bin/true").spawn().expect("a process");
        let before = started(child.id());
        let of_child = directory.path().join(format!("{}-{}.jsonl", child.id(), before.unwrap_or(1)));
        fs::write(&of_child, "").expect("written");
        // It stays as a zombie until it is waited for.
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert_eq!(abandoned(directory.path()), [of_child]);
        child.wait().expect("it ended");
        fs::write(directory.path().join("other.jsonl"), "").expect("written");
        assert_eq!(abandoned(directory.path()).len(), 1);
    }
}
