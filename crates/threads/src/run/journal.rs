//! What was changed outside the program, written down before it is changed, so that it is restored when the program ends; or
//! at the next start of this program, where this process was killed.
//!
//! It is in /run, which ends with the boot as the changes do. The journal of `whylate apply` is for changes that stay: a run
//! has no plan, several go on at once, and each ends by itself.

use crate::journal_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use whylate_tuning::{LiveSystem, System, Target, TargetError, TargetState};

/// Where journals are.
const DIRECTORY: &str = "/run/whylate/run";

/// A run's journal.
pub(super) struct RunJournal {
    path: PathBuf,
    file: File,
    system: LiveSystem,
    changes: Vec<OutsideChange>,
}

/// A change outside the program. A control group is made, anything else has a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OutsideChange {
    target: Target,
    before: Option<String>,
    after: Option<String>,
}

impl RunJournal {
    /// A new one for this process.
    pub(super) fn create() -> io::Result<RunJournal> {
        RunJournal::create_in(Path::new(DIRECTORY))
    }

    fn create_in(directory: &Path) -> io::Result<RunJournal> {
        let path = journal_file::own(directory)?;
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        let system = LiveSystem::open(Path::new("/")).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(RunJournal { path, file, system, changes: Vec::new() })
    }

    /// Gives a target a value; it is in the journal before.
    pub(super) fn set(&mut self, target: Target, value: &str) -> Result<(), TargetError> {
        let before = match self.system.read(&target)? {
            TargetState::Value(before) if before == value => return Ok(()),
            TargetState::Value(before) => before,
            other => return Err(TargetError::new("set", &target, format!("it is {other}"))),
        };
        let change = OutsideChange { target, before: Some(before), after: Some(value.to_owned()) };
        self.note(&change)?;
        self.system.write(&change.target, &TargetState::Value(value.to_owned()))
    }

    /// Makes a control group, unless it is there; it is in the journal before.
    pub(super) fn make_group(&mut self, path: &Path) -> Result<(), TargetError> {
        let target = Target::Group { path: path.to_string_lossy().into_owned() };
        if self.system.read(&target)? != TargetState::Absent {
            return Ok(());
        }
        let change = OutsideChange { target, before: None, after: None };
        self.note(&change)?;
        self.system.write(&change.target, &TargetState::Directory { mode: 0o755, uid: 0, gid: 0 })
    }

    fn note(&mut self, change: &OutsideChange) -> Result<(), TargetError> {
        let line = serde_json::to_string(change).map_err(io::Error::other);
        let written = line.and_then(|line| writeln!(self.file, "{line}"));
        written.map_err(|error| TargetError::new("write", self.path.display(), error))?;
        self.changes.push(change.clone());
        Ok(())
    }

    /// Restores everything, last first; returns what could not be restored, and why.
    pub(super) fn restore(self) -> Vec<String> {
        let left = restore(&self.system, &self.changes);
        if left.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
        left
    }
}

/// Restores what runs have left that were killed. Returns a sentence for each of them.
pub(super) fn recover() -> Vec<String> {
    recover_in(Path::new(DIRECTORY))
}

fn recover_in(directory: &Path) -> Vec<String> {
    journal_file::abandoned(directory).iter().filter_map(|path| recovered(path)).collect()
}

fn recovered(path: &Path) -> Option<String> {
    let changes = read(path);
    let system = LiveSystem::open(Path::new("/")).ok()?;
    let left = restore(&system, &changes);
    let count = changes.len();
    if left.is_empty() {
        fs::remove_file(path).ok()?;
        let plural = if count == 1 { "" } else { "s" };
        return (count > 0).then(|| format!("restored {count} setting{plural} of a run that was killed"));
    }
    Some(format!("a run that was killed has left settings: {}; see {}", left.join("; "), path.display()))
}

/// The lines that are whole.
fn read(path: &Path) -> Vec<OutsideChange> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    lines.map_while(|line| serde_json::from_str(&line).ok()).collect()
}

/// A target that is not as the run left it belongs to another program by now, and stays.
fn restore(system: &LiveSystem, changes: &[OutsideChange]) -> Vec<String> {
    let mut left = Vec::new();
    for change in changes.iter().rev() {
        let now = match system.read(&change.target) {
            Ok(now) => now,
            Err(error) if error.gone => continue,
            Err(error) => {
                left.push(error.to_string());
                continue;
            }
        };
        let then = match (&change.before, &now) {
            (None, TargetState::Absent) => continue,
            (None, _) => TargetState::Absent,
            (Some(before), TargetState::Value(now)) if Some(now) == change.after.as_ref() => {
                TargetState::Value(before.clone())
            }
            _ => continue,
        };
        match system.write(&change.target, &then) {
            Err(error) if !error.gone => left.push(error.to_string()),
            _ => {}
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::ThreadStat;
    use whylate_testing::{Need, skip};
    use whylate_tuning::ThreadId;

    /// A thread of its own with its policy as a target.
    fn in_a_thread(test: impl FnOnce(Target) + Send + 'static) {
        let run = || {
            let (pid, tid) = (std::process::id().cast_signed(), whylate_sys::gettid().0);
            let stat = fs::read(format!("/proc/{pid}/task/{tid}/stat")).expect("own thread");
            let started = ThreadStat::parse(&stat).and_then(|stat| stat.started()).expect("fields");
            test(Target::ThreadPolicy { thread: ThreadId { pid, tid, started, name: "test".into() } });
        };
        std::thread::spawn(run).join().expect("thread");
    }

    #[test]
    fn a_change_is_restored_at_the_end_and_after_a_kill() {
        in_a_thread(|target| {
            let directory = tempfile::tempdir().expect("a directory");
            let mut journal = RunJournal::create_in(directory.path()).expect("a journal");
            let policy = |journal: &RunJournal| journal.system.read(&target).expect("read").to_string();
            let before = policy(&journal);
            journal.set(target.clone(), "batch 0").expect("needs no right");
            assert_eq!(policy(&journal), "batch 0");
            // While this process runs, no other one restores it.
            assert_eq!(recover_in(directory.path()), [] as [String; 0]);
            assert_eq!(policy(&journal), "batch 0");
            let killed = directory.path().join("2147483647-1.jsonl");
            fs::rename(&journal.path, &killed).expect("another holder");
            assert_eq!(recover_in(directory.path()).len(), 1);
            assert_eq!(policy(&journal), before);
            assert!(!killed.exists());
            // What another program changed meanwhile stays.
            journal.system.write(&target, &TargetState::Value("idle".to_owned())).expect("needs no right");
            assert_eq!(journal.restore(), [] as [String; 0]);
            assert_eq!(
                LiveSystem::open(Path::new("/"))
                    .expect("this machine")
                    .read(&target)
                    .expect("read")
                    .to_string(),
                "idle"
            );
        });
    }

    #[test]
    fn a_line_that_was_cut_off_does_not_count() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("2147483647-1.jsonl");
        fs::write(&path, "{\"target\":{\"cell\":\"kno").expect("written");
        assert_eq!(read(&path), []);
        assert_eq!(recover_in(directory.path()), [] as [String; 0]);
        assert!(!path.exists());
    }

    #[test]
    fn a_group_is_removed_again() {
        let group = Path::new("/sys/fs/cgroup/cpu/whylate-test-journal");
        if !rustix::process::geteuid().is_root() || !group.parent().is_some_and(Path::is_dir) {
            return skip(Need::Root, "and cgroup v1");
        }
        let directory = tempfile::tempdir().expect("a directory");
        let mut journal = RunJournal::create_in(directory.path()).expect("a journal");
        journal.make_group(group).expect("made");
        assert!(group.is_dir());
        assert_eq!(journal.restore(), [] as [String; 0]);
        assert!(!group.exists());
    }
}
