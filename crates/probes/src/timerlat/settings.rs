//! The settings that all users of timerlat and osnoise share: changed for the time of a measurement, and put back.

use crate::journal::{Entry, Journal};
use crate::{ProbeError, Workload};
use std::io;
use std::path::Path;
use whylate_base::{CpuSet, Ns};
use whylate_ftrace::tracefs::{Tracefs, TracefsError};

const JOURNAL: &str = "/run/whylate-timerlat";
/// Since Linux 6.3; before, all workloads are the kernel's.
const OPTIONS: &str = "osnoise/options";
const KERNEL_WORKLOAD: &str = "OSNOISE_WORKLOAD";
const USER_WORKLOAD: &str = "NO_OSNOISE_WORKLOAD";

/// The changed settings. Dropping it puts them back.
pub(super) struct Settings {
    tracefs: Tracefs,
    /// In the order of the changes.
    before: Vec<Entry>,
    /// `None` when all is as it was.
    journal: Option<Journal>,
}

/// Checks that no other program uses osnoise or timerlat.
///
/// # Errors
/// [`ProbeError::TimerlatInUse`], and when that cannot be read.
pub(super) fn no_other_user(tracefs: &Tracefs) -> Result<(), ProbeError> {
    let directory = tracefs.root().join("instances");
    let refused = |e: io::Error| ProbeError::Tracing(format!("cannot read {}: {e}", directory.display()));
    let instances = std::fs::read_dir(&directory).map_err(refused)?;
    let names = instances.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let files = names.map(|name| format!("instances/{name}/current_tracer"));
    for file in std::iter::once("current_tracer".to_owned()).chain(files) {
        let tracer = match tracefs.read(&file) {
            Ok(tracer) => tracer.trim().to_owned(),
            // An instance that has just been removed.
            Err(TracefsError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        if matches!(tracer.as_str(), "osnoise" | "timerlat") {
            return Err(ProbeError::TimerlatInUse { tracer, file });
        }
    }
    Ok(())
}

impl Settings {
    /// Restores what a killed probe left changed, then sets what this one needs.
    ///
    /// # Errors
    /// When a setting cannot be read, put on record, or changed. Then all is as it was.
    pub(super) fn change(
        tracefs: &Tracefs,
        workload: Workload,
        cpus: &CpuSet,
        period: Ns,
    ) -> Result<Settings, ProbeError> {
        Settings::with_journal(Path::new(JOURNAL), tracefs, workload, cpus, period)
    }

    fn with_journal(
        journal: &Path,
        tracefs: &Tracefs,
        workload: Workload,
        cpus: &CpuSet,
        period: Ns,
    ) -> Result<Settings, ProbeError> {
        let unrecorded = |error| unrecorded(journal, &error);
        let Some((opened, left)) = Journal::open(journal).map_err(unrecorded)? else {
            let locked = format!("another whylate measures by it (it has locked {})", journal.display());
            return Err(ProbeError::Tracing(locked));
        };
        let mut settings = Settings { tracefs: tracefs.clone(), before: left, journal: Some(opened) };
        if !settings.before.is_empty() {
            settings.undo().map_err(|why| settings.not_restored(why))?;
            return Settings::with_journal(journal, tracefs, workload, cpus, period);
        }
        let period_us = (period.0 / 1_000).to_string();
        settings.set_workload(workload)?;
        if workload == Workload::Kernel {
            settings.set("osnoise/cpus", &cpus.to_string())?;
        }
        settings.set("osnoise/timerlat_period_us", &period_us)?;
        // What others had it stop at, or write down, would end or change what is measured.
        for file in ["osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us", "osnoise/print_stack"] {
            if settings.has(file) {
                settings.set(file, "0")?;
            }
        }
        Ok(settings)
    }

    fn has(&self, file: &str) -> bool {
        self.tracefs.root().join(file).exists()
    }

    fn set_workload(&mut self, workload: Workload) -> Result<(), ProbeError> {
        if !self.has(OPTIONS) {
            return Ok(());
        }
        let wanted = match workload {
            Workload::User => USER_WORKLOAD,
            Workload::Kernel => KERNEL_WORKLOAD,
        };
        let options = self.tracefs.read(OPTIONS)?;
        let mut words = options.split_ascii_whitespace();
        match words.find(|word| [KERNEL_WORKLOAD, USER_WORKLOAD].contains(word)) {
            Some(before) if before != wanted => self.replace(OPTIONS, before, wanted),
            _ => Ok(()),
        }
    }

    fn set(&mut self, file: &str, value: &str) -> Result<(), ProbeError> {
        let text = self.tracefs.read(file)?;
        let before = text.trim_end();
        if before == value { Ok(()) } else { self.replace(file, before, value) }
    }

    fn replace(&mut self, file: &str, before: &str, value: &str) -> Result<(), ProbeError> {
        // What cannot be written as it was read (a list of CPUs beyond 255 letters) is not to be changed.
        self.write(file, before)?;
        if let Some(journal) = &mut self.journal {
            journal.note(file, before).map_err(|error| unrecorded(journal.path(), &error))?;
        }
        self.before.push((file.to_owned(), before.to_owned()));
        Ok(self.write(file, value)?)
    }

    /// With its end: some kernels read on behind a text without one.
    fn write(&self, file: &str, value: &str) -> Result<(), TracefsError> {
        self.tracefs.write(file, &format!("{value}\n"))
    }

    /// Puts everything back, as far as the kernel lets it.
    fn undo(&mut self) -> Result<(), String> {
        let Some(journal) = self.journal.take() else { return Ok(()) };
        let before = std::mem::take(&mut self.before);
        let mut refused = None;
        for (file, value) in before.into_iter().rev() {
            if let Err(error) = self.write(&file, &value) {
                refused.get_or_insert(ProbeError::from(error).to_string());
                self.before.insert(0, (file, value));
            }
        }
        match refused {
            None => {
                journal.close();
                Ok(())
            }
            // The journal stays, for the next probe.
            Some(why) => Err(why),
        }
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// [`ProbeError::NotRestored`].
    pub(super) fn restore(mut self) -> Result<(), ProbeError> {
        self.undo().map_err(|why| self.not_restored(why))
    }

    /// Leaves them as they are, for the next probe to put back.
    pub(super) fn leave(mut self, why: String) -> ProbeError {
        self.journal = None;
        self.not_restored(why)
    }

    fn not_restored(&self, why: String) -> ProbeError {
        let commands: Vec<String> =
            self.before.iter().rev().map(|(file, value)| format!("echo {value} > {file}")).collect();
        let directory = self.tracefs.root().to_owned();
        ProbeError::NotRestored { why, directory, remedy: commands.join("; ") }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        // `restore` reports failures.
        let _ = self.undo();
    }
}

fn unrecorded(journal: &Path, error: &io::Error) -> ProbeError {
    ProbeError::Tracing(format!(
        "{}, which is to say how osnoise/ was set in case of a kill, cannot be written: {error}",
        journal.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use tempfile::TempDir;

    const FILES: [(&str, &str); 6] = [
        ("options", "NO_DEFAULTS OSNOISE_WORKLOAD PANIC_ON_STOP \n"),
        ("cpus", "0-3\n"),
        ("timerlat_period_us", "500\n"),
        ("stop_tracing_us", "0\n"),
        ("stop_tracing_total_us", "77\n"),
        ("print_stack", "9\n"),
    ];

    struct Machine(TempDir);

    impl Machine {
        fn new(without: &[&str]) -> Machine {
            let machine = Machine(tempfile::tempdir().expect("a directory"));
            let root = machine.0.path();
            fs::create_dir(root.join("osnoise")).expect("a directory");
            fs::create_dir_all(root.join("instances/other")).expect("a directory");
            for (file, text) in FILES.iter().filter(|(file, _)| !without.contains(file)) {
                fs::write(root.join("osnoise").join(file), text).expect("a file");
            }
            fs::write(root.join("current_tracer"), "nop\n").expect("a file");
            fs::write(root.join("instances/other/current_tracer"), "nop\n").expect("a file");
            machine
        }

        fn tracefs(&self) -> Tracefs {
            Tracefs::at(self.0.path())
        }

        fn change(&self, workload: Workload) -> Result<Settings, ProbeError> {
            let cpus = "1".parse().expect("a list");
            Settings::with_journal(&self.journal(), &self.tracefs(), workload, &cpus, Ns::from_ms(1))
        }

        fn journal(&self) -> std::path::PathBuf {
            self.0.path().join("journal")
        }

        /// What is set, without the ends of lines. The options are not a file of their own here.
        fn set(&self) -> BTreeMap<String, String> {
            let files = fs::read_dir(self.0.path().join("osnoise")).expect("files").flatten();
            let text = |file: &fs::DirEntry| fs::read_to_string(file.path()).expect("text").trim().to_owned();
            files.map(|file| (file.file_name().into_string().expect("a name"), text(&file))).collect()
        }
    }

    fn values(set: &BTreeMap<String, String>, files: [&str; 5]) -> [String; 5] {
        files.map(|file| set[file].clone())
    }

    const PLAIN: [&str; 5] =
        ["cpus", "timerlat_period_us", "stop_tracing_us", "stop_tracing_total_us", "print_stack"];

    #[test]
    fn what_is_changed_is_put_back_however_it_ends() {
        let machine = Machine::new(&["options"]);
        let before = machine.set();
        let settings = machine.change(Workload::Kernel).expect("changed");
        assert_eq!(values(&machine.set(), PLAIN), ["1", "1000", "0", "0", "0"]);
        assert!(machine.journal().exists());
        settings.restore().expect("restored");
        assert_eq!((machine.set(), machine.journal().exists()), (before.clone(), false));
        drop(machine.change(Workload::Kernel).expect("changed"));
        assert_eq!((machine.set(), machine.journal().exists()), (before, false));
    }

    #[test]
    fn after_a_kill_the_next_one_puts_it_back() {
        let machine = Machine::new(&["options"]);
        let before = machine.set();
        let left = machine.change(Workload::Kernel).expect("changed").leave("stuck".to_owned());
        assert_ne!(machine.set(), before);
        for word in ["stuck", "echo 0-3 > osnoise/cpus", "echo 77 > osnoise/stop_tracing_total_us"] {
            assert!(left.to_string().contains(word), "{left}");
        }
        // The next one needs less changed, and leaves what was there before the first.
        machine.change(Workload::User).expect("changed").restore().expect("restored");
        assert_eq!(machine.set(), before);
    }

    #[test]
    fn options_are_words_of_which_one_is_ours() {
        let machine = Machine::new(&[]);
        let settings = machine.change(Workload::User).expect("changed");
        assert_eq!(machine.set()["options"], USER_WORKLOAD);
        assert_eq!(machine.set()["cpus"], "0-3", "threads of ours are where we put them");
        drop(settings);
        assert_eq!(machine.set()["options"], KERNEL_WORKLOAD, "the kernel takes a word and keeps the others");
    }

    #[test]
    fn a_setting_that_cannot_be_changed_leaves_the_others_as_they_were() {
        let machine = Machine::new(&["options", "timerlat_period_us"]);
        let before = machine.set();
        assert!(matches!(machine.change(Workload::Kernel).map(drop), Err(ProbeError::Tracing(_))));
        assert_eq!(machine.set(), before);
    }

    #[test]
    fn others_who_measure_are_noticed() {
        let machine = Machine::new(&[]);
        assert_eq!(no_other_user(&machine.tracefs()), Ok(()));
        let _one = machine.change(Workload::User).expect("changed");
        let second = machine.change(Workload::User).map(drop).expect_err("one at a time").to_string();
        assert!(second.contains("another whylate"), "{second}");
        fs::write(machine.0.path().join("instances/other/current_tracer"), "osnoise\n").expect("a file");
        let other = no_other_user(&machine.tracefs()).expect_err("osnoise").to_string();
        assert!(other.contains("osnoise is in use") && other.contains("instances/other"), "{other}");
    }
}
