//! One boot, from QEMU's start to the resulting files, for guests with a disk and without.

use crate::LabError;
use crate::console::{CONSOLE_LINES, tail};
use crate::cpio::{EntryKind, Reader};
use crate::guest::RESULTS_DISK;
use crate::job::{JobReport, REPORT_NAME};
use crate::qemu::{Drive, Keeps, Qemu, QemuSetup};
use crate::scratch::Scratch;
use crate::visit::Visited;
use std::fs::{File, Permissions};
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The interval of checks of the machine.
const LOOK: Duration = Duration::from_millis(10);
/// The time for the messages of a panic. Not every kernel ends QEMU then: a distribution's halts.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// After its limit a guest is interrupted this often, and has this time to write its results.
const INTERRUPTS: u32 = 3;
const GRACE: Duration = Duration::from_secs(30);
/// The interval at which a guest loses time.
const STOP_EVERY: Duration = Duration::from_millis(400);

/// A directory of this host for the files of a boot.
#[derive(Debug)]
pub(crate) struct Session {
    directory: Scratch,
    start: Instant,
}

/// The limits and disturbances of a boot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    /// Host time after which it is ended.
    pub(crate) limit: Duration,
    /// Its programs are interrupted at the limit, and it is ended some time later.
    pub(crate) interrupt: bool,
    /// The host stops it for this long, about each 400 ms once it is up.
    pub(crate) freeze: Option<Duration>,
    /// The boot is ended when this becomes true.
    pub(crate) stop: &'a AtomicBool,
    /// So it is when this does: the other guest of two has failed.
    pub(crate) other_failed: Option<&'a AtomicBool>,
    /// When this becomes true the limit has come: the other guest has done its job.
    pub(crate) other_done: Option<&'a AtomicBool>,
}

/// How a boot ended.
#[derive(Clone, Debug)]
pub enum Booted {
    /// Its job was done, and it was shut down.
    Done(Box<Visited>),
    /// A [`GuestStep::Cut`](crate::job::GuestStep::Cut) was reached: QEMU was killed. No files come back.
    Cut {
        /// The exit code of the step before.
        code: Option<i32>,
        /// The text of the console.
        console: String,
    },
}

impl Session {
    /// Begins with a new directory, in that of this machine for temporary files.
    pub(crate) fn new() -> Result<Session, LabError> {
        let parent = std::env::temp_dir();
        let directory = Scratch::new_in(&parent).map_err(LabError::file("create a directory in", &parent))?;
        Ok(Session { directory, start: Instant::now() })
    }

    /// A file of the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Boots, waits for the end, and unpacks the results into `out`. The disk for them is the last after the
    /// setup's own.
    pub(crate) fn run(
        &self,
        setup: &QemuSetup<'_>,
        watch: &Watch<'_>,
        out: &Path,
    ) -> Result<Booted, LabError> {
        let (results, log) = (self.path("results"), self.path("log"));
        // Sparse: the files are in the guest's memory, so more is never needed.
        let size = (u64::from(setup.memory_mib) + 64) << 20;
        let made = File::create(&results).and_then(|file| file.set_len(size));
        made.map_err(LabError::file("create", &results))?;
        let last = Drive { path: &results, serial: RESULTS_DISK, keeps: Keeps::Nothing };
        let drives = [setup.drives, &[last]].concat();
        let mut qemu = Qemu::start(&QemuSetup { drives: &drives, ..*setup }, &log)?;
        let booted = Instant::now();
        let (status, interrupted) = watch.wait(&mut qemu, booted)?;
        let (console, mark) = (qemu.console(), qemu.mark());
        if let Some(cut) = mark.cut {
            return Ok(Booted::Cut { code: cut.code, console });
        }
        let Some(ready) = mark.ready else {
            return Err(never_up(status, &log, &console));
        };
        let Some(done) = mark.done else {
            let reason = format!("QEMU ended with {status}");
            return Err(LabError::Died { reason, console: tail(&console, CONSOLE_LINES) });
        };
        unpack_or_keep(&results, out)?;
        let report = read_report(&out.join(REPORT_NAME))?;
        Ok(Booted::Done(Box::new(Visited {
            report,
            console,
            time: setup.time,
            interrupted,
            notes: Vec::new(),
            boot: ready.duration_since(booted),
            run: done.duration_since(ready),
            total: self.start.elapsed(),
        })))
    }
}

impl Watch<'_> {
    /// Waits for QEMU's end, or for the moment to end it. An error ends it too. Also whether its programs were
    /// interrupted, as it came to its limit.
    fn wait(&self, qemu: &mut Qemu, booted: Instant) -> Result<(ExitStatus, bool), LabError> {
        let (mut next_freeze, mut interrupts, mut limit) = (None, 0, self.limit);
        let is_set = |flag: Option<&AtomicBool>| flag.is_some_and(|flag| flag.load(Ordering::Acquire));
        loop {
            if let Some(status) = qemu.ended()? {
                return Ok((status, interrupts > 0));
            }
            let mark = qemu.mark();
            if mark.cut.is_some() {
                return Ok((qemu.kill()?, interrupts > 0));
            }
            if mark.panicked.is_some_and(|panicked| panicked.elapsed() > LAST_WORDS) {
                let reason = "its kernel panicked".to_owned();
                return Err(LabError::Died { reason, console: tail(&qemu.console(), CONSOLE_LINES) });
            }
            if self.stop.load(Ordering::Acquire) || is_set(self.other_failed) {
                return Err(LabError::Stopped);
            }
            if is_set(self.other_done) {
                limit = limit.min(booted.elapsed());
            }
            // A program that ignores the first may come to its end by the third, as `whylate record` does.
            let due = limit + GRACE / INTERRUPTS * interrupts;
            let runs = self.interrupt && mark.ready.is_some();
            if runs && mark.done.is_none() && interrupts < INTERRUPTS && booted.elapsed() > due {
                qemu.interrupt();
                interrupts += 1;
            }
            let grace = if runs { GRACE } else { Duration::ZERO };
            if booted.elapsed() > limit + grace {
                let console = tail(&qemu.console(), CONSOLE_LINES);
                return Err(LabError::Limit { limit, console });
            }
            if let (Some(length), Some(ready)) = (self.freeze, mark.ready) {
                let due = *next_freeze.get_or_insert(ready + STOP_EVERY);
                if Instant::now() >= due {
                    qemu.freeze(true);
                    std::thread::sleep(length);
                    qemu.freeze(false);
                    next_freeze = Some(Instant::now() + STOP_EVERY);
                }
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// QEMU's own error, if any; otherwise the kernel's.
fn never_up(status: ExitStatus, log: &Path, console: &str) -> LabError {
    let errors = std::fs::read_to_string(log).unwrap_or_default();
    if !status.success() || console.trim().is_empty() {
        return LabError::Qemu { status: status.to_string(), stderr: tail(&errors, CONSOLE_LINES) };
    }
    let reason = "before its first step".to_owned();
    LabError::Died { reason, console: tail(console, CONSOLE_LINES) }
}

fn read_report(path: &Path) -> Result<JobReport, LabError> {
    let text = std::fs::read(path).map_err(LabError::file("read", path))?;
    serde_json::from_slice(&text).map_err(io::Error::from).map_err(LabError::file("read", path))
}

/// Unpacks the results' disk into `out`; where there is no room, the disk is kept, and the error names it.
fn unpack_or_keep(disk: &Path, out: &Path) -> Result<(), LabError> {
    let (path, source) = match unpack(disk, out) {
        // A disk that cannot be read has no results.
        Err(LabError::File { path, source, .. })
            if path != disk && source.kind() != io::ErrorKind::InvalidData =>
        {
            (path, source)
        }
        other => return other,
    };
    let name = tempfile::Builder::new().prefix("whylate-results-").suffix(".cpio").tempfile();
    let kept = name.and_then(|kept| {
        std::fs::rename(disk, kept.path()).or_else(|_| std::fs::copy(disk, kept.path()).map(drop))?;
        Ok(kept.keep()?.1)
    });
    Err(LabError::NotUnpacked { out: path, kept: kept.ok(), source })
}

/// Unpacks the results' disk into `out`.
fn unpack(disk: &Path, out: &Path) -> Result<(), LabError> {
    std::fs::create_dir_all(out).map_err(LabError::file("create", out))?;
    let file = File::open(disk).map_err(LabError::file("read", disk))?;
    let mut archive = Reader::new(BufReader::with_capacity(1 << 20, file));
    let put = |archive: &mut Reader<_>| {
        archive.next(|entry, content| match place(out, &entry.name) {
            Some(path) if entry.kind == EntryKind::File => {
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                io::copy(content, &mut File::create(&path)?)?;
                std::fs::set_permissions(&path, Permissions::from_mode(entry.permissions & 0o777 | 0o600))
            }
            _ => Ok(()),
        })
    };
    while put(&mut archive).map_err(LabError::file("unpack the guest's results into", out))?.is_some() {}
    Ok(())
}

/// Where a file of the guest goes; None for a name that leads out of `out`.
fn place(out: &Path, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let inside = !name.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)));
    inside.then(|| out.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpio::Writer;

    #[test]
    fn results_stay_inside_their_directory() {
        let host = tempfile::tempdir().expect("temporary directory");
        let (disk, out) = (host.path().join("disk"), host.path().join("new/out"));
        let mut archive = Writer::new(File::create(&disk).expect("file"));
        for name in ["files/a", "../outside", "/tmp/absolute", "files/../../outside", "b"] {
            archive.file(name, 0o4000, name.as_bytes(), name.len() as u64).expect("written");
        }
        // The disk goes on after the archive.
        archive.finish().and_then(|file| file.set_len(1 << 20)).expect("written");
        unpack(&disk, &out).expect("whole");
        assert_eq!(std::fs::read_to_string(out.join("files/a")).expect("there"), "files/a");
        assert_eq!(std::fs::read_to_string(out.join("b")).expect("there"), "b");
        assert!(!host.path().join("outside").exists() && !host.path().join("new/outside").exists());
        let files = std::fs::read_dir(&out).expect("there").count();
        assert_eq!(files, 2);
        // The user of the guest may read the files, and a second run may overwrite them.
        let mode = std::fs::metadata(out.join("b")).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        unpack_or_keep(&disk, &out).expect("again");
        std::fs::write(&disk, [0; 4096]).expect("file");
        assert!(unpack(&disk, &out).is_err(), "an empty disk");
        assert!(matches!(unpack_or_keep(&disk, &out), Err(LabError::File { .. })), "an empty disk");
    }

    #[test]
    fn results_without_room_are_kept() {
        let host = tempfile::tempdir().expect("temporary directory");
        let disk = host.path().join("disk");
        let mut archive = Writer::new(File::create(&disk).expect("file"));
        archive.file("a", 0o644, &b"measured"[..], 8).and_then(|()| archive.finish()).expect("written");
        // No directory can be made below a file.
        std::fs::write(host.path().join("full"), "").expect("file");
        let out = host.path().join("full/out");
        let error = unpack_or_keep(&disk, &out).expect_err("no room");
        let LabError::NotUnpacked { kept: Some(kept), .. } = &error else { panic!("{error}") };
        assert!(error.to_string().contains(&kept.display().to_string()), "{error}");
        let again = host.path().join("again");
        unpack(kept, &again).expect("whole");
        assert_eq!(std::fs::read(again.join("a")).expect("there"), b"measured");
        std::fs::remove_file(kept).expect("removed");
    }
}
