//! The kernel's clock source: which ones there are, and a change of it that is undone, also after a kill.
//!
//! [`/sys/devices/system/clocksource`](https://docs.kernel.org/timers/timekeeping.html)

use crate::bench::BenchError;
use crate::journal::Journal;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "/sys/devices/system/clocksource/clocksource0";
const JOURNAL: &str = "/run/whylate-clocksource";
const CURRENT: &str = "current_clocksource";
const AVAILABLE: &str = "available_clocksource";

/// The machine's clock sources, and where a change of them is on record.
#[derive(Clone, Debug)]
pub(super) struct ClockSources {
    directory: PathBuf,
    journal: PathBuf,
}

/// A clock source in use for a time. Dropping it restores the one before.
pub(super) struct Switched {
    sources: ClockSources,
    before: String,
    /// What this bench has set.
    set: String,
    /// `None` when all is restored.
    journal: Option<Journal>,
}

impl ClockSources {
    /// Of this machine.
    pub(super) fn of_machine() -> ClockSources {
        ClockSources { directory: DIRECTORY.into(), journal: JOURNAL.into() }
    }

    /// The one in use.
    pub(super) fn current(&self) -> Result<String, BenchError> {
        self.read(CURRENT).map(|text| text.trim().to_owned())
    }

    /// All that can be chosen.
    pub(super) fn available(&self) -> Result<Vec<String>, BenchError> {
        Ok(self.read(AVAILABLE)?.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// Restores what a killed bench left changed; gives the restored source. A source that another program has set since
    /// is left unchanged.
    pub(super) fn restore_left(&self) -> Result<Option<String>, BenchError> {
        if !self.journal.exists() {
            return Ok(None);
        }
        let (journal, left) = self.open()?;
        let Some((before, set)) = left.first().and_then(|(_, change)| change.split_once(' ')) else {
            journal.close();
            return Ok(None);
        };
        let before = before.to_owned();
        // Later lines have what was set later.
        let is_ours = |current: &str| {
            current == set || left.iter().any(|(_, change)| change.rsplit(' ').next() == Some(current))
        };
        let current = self.current()?;
        let restored = current != before && is_ours(&current);
        if restored {
            self.write(&before)?;
        }
        journal.close();
        Ok(restored.then_some(before))
    }

    /// Makes the current source one that is restored at the end.
    pub(super) fn borrow(&self) -> Result<Switched, BenchError> {
        let before = self.current()?;
        let (journal, _) = self.open()?;
        let switched =
            Switched { sources: self.clone(), set: before.clone(), before, journal: Some(journal) };
        // Without the permission nothing is changed, and the reason is known before anything is measured.
        self.write(&switched.before)?;
        Ok(switched)
    }

    fn open(&self) -> Result<(Journal, Vec<(String, String)>), BenchError> {
        match Journal::open(&self.journal) {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => Err(BenchError::Restore(format!(
                "another whylate bench changes the clock source (it has locked {}): wait for its end",
                self.journal.display()
            ))),
            Err(source) => Err(BenchError::File { tried: "write", path: self.journal.clone(), source }),
        }
    }

    fn read(&self, name: &str) -> Result<String, BenchError> {
        let path = self.directory.join(name);
        std::fs::read_to_string(&path).map_err(|source| BenchError::File { tried: "read", path, source })
    }

    fn write(&self, source: &str) -> Result<(), BenchError> {
        let path = self.directory.join(CURRENT);
        std::fs::write(&path, source).map_err(|error| BenchError::File {
            tried: "write",
            path,
            source: error,
        })
    }
}

impl Switched {
    /// Makes `source` the current one.
    ///
    /// # Errors
    /// Also where the kernel takes the name and keeps its source: one without high resolution is not used while there are
    /// high-resolution timers (`__clocksource_select`, kernel/time/clocksource.c).
    pub(super) fn to(&mut self, source: &str) -> Result<(), BenchError> {
        if let Some(journal) = &mut self.journal {
            journal.note(CURRENT, &format!("{} {source}", self.before)).map_err(|error| {
                BenchError::File { tried: "write", path: journal.path().to_owned(), source: error }
            })?;
        }
        self.sources.write(source)?;
        source.clone_into(&mut self.set);
        let current = self.sources.current()?;
        if current == source {
            return Ok(());
        }
        Err(BenchError::Unavailable(format!(
            "the kernel keeps {current}: {source} does not support high-resolution timers, or is unstable; see \
             `dmesg | grep -i clocksource`"
        )))
    }

    /// Restores the source of before.
    pub(super) fn restore(mut self) -> Result<(), BenchError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), BenchError> {
        let Some(journal) = self.journal.take() else { return Ok(()) };
        let restored = self.sources.write(&self.before).and_then(|()| self.sources.current());
        match restored {
            Ok(current) if current == self.before => {
                journal.close();
                Ok(())
            }
            // The journal stays, for the next bench.
            Ok(current) => Err(self.not_restored(&format!("the kernel keeps {current}"))),
            Err(error) => Err(self.not_restored(&error.to_string())),
        }
    }

    fn not_restored(&self, why: &str) -> BenchError {
        BenchError::Restore(format!(
            "the clock source could not be restored: {why}. Restore it by hand: echo {} > {}",
            self.before,
            self.sources.directory.join(CURRENT).display()
        ))
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        // `restore` reports failures.
        let _ = self.undo();
    }
}

/// The clock source of this machine, for messages.
pub(super) fn directory() -> &'static Path {
    Path::new(DIRECTORY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn machine(current: &str) -> (TempDir, ClockSources) {
        let root = tempfile::tempdir().expect("a directory");
        let sources =
            ClockSources { directory: root.path().to_owned(), journal: root.path().join("journal") };
        std::fs::write(root.path().join(CURRENT), format!("{current}\n")).expect("a file");
        std::fs::write(root.path().join(AVAILABLE), "tsc hpet acpi_pm \n").expect("a file");
        (root, sources)
    }

    #[test]
    fn the_source_is_restored_however_it_ends() {
        let (_root, sources) = machine("tsc");
        assert_eq!(sources.available().expect("a list"), ["tsc", "hpet", "acpi_pm"]);
        let mut switched = sources.borrow().expect("allowed");
        switched.to("hpet").expect("a source");
        assert_eq!(sources.current().expect("a source"), "hpet");
        assert!(sources.borrow().is_err(), "one at a time");
        switched.restore().expect("restored");
        assert_eq!((sources.current().expect("a source").as_str(), sources.journal.exists()), ("tsc", false));
        let mut dropped = sources.borrow().expect("allowed");
        dropped.to("acpi_pm").expect("a source");
        drop(dropped);
        assert_eq!((sources.current().expect("a source").as_str(), sources.journal.exists()), ("tsc", false));
    }

    #[test]
    fn after_a_kill_the_next_start_restores_it_once() {
        let (_root, sources) = machine("tsc");
        let mut killed = sources.borrow().expect("allowed");
        killed.to("hpet").expect("a source");
        killed.to("acpi_pm").expect("a source");
        // As a kill leaves it: unlocked, and not undone.
        killed.journal = None;
        drop(killed);
        assert_eq!(sources.current().expect("a source"), "acpi_pm");
        assert_eq!(sources.restore_left().expect("restored").as_deref(), Some("tsc"));
        assert_eq!(sources.current().expect("a source"), "tsc");
        assert_eq!(sources.restore_left().expect("nothing left"), None);
    }

    #[test]
    fn what_another_program_has_set_since_is_left_unchanged() {
        let (root, sources) = machine("tsc");
        let mut killed = sources.borrow().expect("allowed");
        killed.to("hpet").expect("a source");
        killed.journal = None;
        drop(killed);
        std::fs::write(root.path().join(CURRENT), "kvm-clock\n").expect("another program");
        assert_eq!(sources.restore_left().expect("no failure"), None);
        assert_eq!(sources.current().expect("a source"), "kvm-clock");
        assert!(!sources.journal.exists());
    }

    #[test]
    fn a_kernel_that_keeps_its_source_is_noticed() {
        let (root, sources) = machine("tsc");
        let mut switched = sources.borrow().expect("allowed");
        std::fs::remove_file(root.path().join(CURRENT)).expect("removed");
        std::os::unix::fs::symlink("/dev/null", root.path().join(CURRENT)).expect("a sink");
        assert!(switched.to("hpet").is_err());
        assert!(switched.restore().expect_err("a sink").to_string().contains("echo tsc >"));
        assert!(sources.journal.exists());
    }
}
