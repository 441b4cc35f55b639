//! The interface of all sources of files, and what they share.

use crate::Why;
use std::io;

/// No rule reads a longer file.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// A source of files. Paths are absolute and have no `..`.
pub(super) trait Source {
    /// The first `limit` bytes of a file.
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why>;
    /// The names in a directory, sorted.
    fn list(&self, path: &str) -> Result<Vec<String>, Why>;
    /// The target of a symbolic link, as written.
    fn link(&self, path: &str) -> Result<String, Why>;
    /// The permission bits of a file. A capture does not have them.
    fn mode(&self, _path: &str) -> Result<u32, Why> {
        Err(Why::NotCollected)
    }
    /// The processes that have a file open, by id (proc_pid_fd(5)). A process that was found counts, even if others
    /// were refused; the absence of any is only known if every process could be read.
    fn holders(&self, path: &str) -> Result<Vec<i32>, Why> {
        let mut pids: Vec<i32> = self.list("/proc")?.iter().filter_map(|name| name.parse().ok()).collect();
        pids.sort_unstable();
        let (mut holders, mut refused) = (Vec::new(), None);
        for pid in &pids {
            let directory = format!("/proc/{pid}/fd");
            match self.list(&directory) {
                Ok(numbers) => {
                    let leads = |number: &String| self.link(&format!("{directory}/{number}"));
                    if numbers.iter().any(|number| leads(number).is_ok_and(|target| target == path)) {
                        holders.push(*pid);
                    }
                }
                // The process ended meanwhile.
                Err(Why::Missing) => {}
                Err(why) => refused = Some(why),
            }
        }
        match refused {
            Some(why) if holders.is_empty() => Err(why),
            _ if pids.is_empty() => Err(Why::NotCollected),
            _ => Ok(holders),
        }
    }
}

/// The reason for an I/O error of this process.
pub(super) fn why(error: &io::Error) -> Why {
    why_for(error, rustix::process::geteuid().is_root())
}

fn why_for(error: &io::Error, is_root: bool) -> Why {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::Missing,
        // Advice to run as root is wrong for a process that is root.
        io::ErrorKind::PermissionDenied if is_root => Why::DeniedToRoot,
        io::ErrorKind::PermissionDenied => Why::Denied,
        _ => Why::Io { error: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_refusal_advises_root_only_to_other_users() {
        for errno in [Errno::PERM, Errno::ACCESS] {
            let error = io::Error::from(errno);
            assert!(why_for(&error, false).to_string().contains("run as root"));
            let as_root = why_for(&error, true).to_string();
            assert!(as_root.contains("lockdown") && !as_root.contains("run as root"), "{as_root}");
        }
        assert_eq!(why_for(&Errno::NOENT.into(), true), Why::Missing);
    }
}
