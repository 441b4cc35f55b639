//! One boot of a machine with a disk.

use crate::console::tail;
use crate::guest::{JOB_DISK, RESULTS_DISK, WORK};
use crate::initramfs::Initramfs;
use crate::job::{Job, Module, REPORT_NAME};
use crate::machine::{CONSOLE_LINES, LOOK, never_up, read_report, unpack};
use crate::qemu::{Boot, Drive, Keeps, Qemu, Setup};
use crate::scenario::Time;
use crate::{LabError, Visit, Visited};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The disk with the boot loader.
const ROOT_DISK: &str = "root";

/// A machine with a disk, which each boot finds as the one before has left it.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The disk.
    pub disk: PathBuf,
    /// How many CPUs it has.
    pub cpus: u32,
    /// Its memory, in MiB. The files that come back lie in it too.
    pub memory_mib: u32,
    /// Host time after which a boot is ended.
    pub limit: Duration,
    /// The program `whylate`, which does the jobs.
    pub program: PathBuf,
}

/// How a boot ended.
#[derive(Clone, Debug)]
pub enum Booted {
    /// Its job was done, and it was shut down.
    Done(Box<Visited>),
    /// A [`Step::Cut`](crate::job::Step::Cut) was reached: QEMU was killed. No files come back.
    Cut {
        /// The exit code of the step before.
        code: Option<i32>,
        /// All the console had shown.
        console: String,
    },
}

/// How QEMU ended.
enum Ended {
    Itself(ExitStatus),
    Cut,
}

impl Guest {
    /// Four CPUs in the host's time, 1 GiB, ended after five minutes; the program is this process's own.
    ///
    /// # Errors
    /// When this process's program is not known.
    pub fn new(disk: &Path) -> Result<Guest, LabError> {
        let program = std::env::current_exe().map_err(LabError::file("find", Path::new("/proc/self/exe")))?;
        let limit = Duration::from_secs(300);
        Ok(Guest { disk: disk.to_owned(), cpus: 4, memory_mib: 1024, limit, program })
    }

    /// Boots it, does `visit`, puts the files of its `/out` into the directory `out`, and shuts it down; or kills
    /// it where a step says so. The visit's modules are loaded with `modprobe`.
    ///
    /// # Errors
    /// When it did not come up, died, or took too long, or when `stop` became true. A step that failed is no
    /// error: [`Visited::report`] tells.
    pub fn boot(&self, visit: &Visit, out: &Path, stop: &AtomicBool) -> Result<Booted, LabError> {
        let start = Instant::now();
        let work = tempfile::Builder::new().prefix("whylate-lab-").tempdir();
        let work = work.map_err(LabError::file("create", &std::env::temp_dir()))?;
        let (job, results) = (work.path().join("job"), work.path().join("results"));
        self.job(visit)?.write(&job)?;
        // A disk has whole sectors.
        let padded = File::options().write(true).open(&job);
        let padded = padded.and_then(|file| file.set_len(file.metadata()?.len().next_multiple_of(4096)));
        padded.map_err(LabError::file("write", &job))?;
        // Sparse: what comes back lay in the guest's memory, so more is never needed.
        let size = (u64::from(self.memory_mib) + 64) << 20;
        let made = File::create(&results).and_then(|file| file.set_len(size));
        made.map_err(LabError::file("create", &results))?;
        let drives = [
            Drive { path: &self.disk, serial: ROOT_DISK, keeps: Keeps::EachWrite },
            Drive { path: &job, serial: JOB_DISK, keeps: Keeps::Nothing },
            Drive { path: &results, serial: RESULTS_DISK, keeps: Keeps::Nothing },
        ];
        let (cpus, memory_mib, time) = (self.cpus, self.memory_mib, Time::Free);
        let setup = Setup { boot: Boot::Disk, drives: &drives, cpus, memory_mib, time };
        let log = work.path().join("log");
        let mut qemu = Qemu::start(&setup, &log)?;
        let booted = Instant::now();
        let status = self.wait(&mut qemu, booted, stop)?;
        let (console, mark) = (qemu.console(), qemu.mark());
        let status = match (status, mark.cut) {
            (Ended::Itself(status), None) => status,
            (_, cut) => return Ok(Booted::Cut { code: cut.and_then(|cut| cut.code), console }),
        };
        let Some(ready) = mark.ready else {
            return Err(never_up(status, &log, &console));
        };
        let Some(done) = mark.done else {
            let reason = format!("QEMU ended with {status}");
            return Err(LabError::Died { reason, console: tail(&console, CONSOLE_LINES) });
        };
        unpack(&results, out)?;
        let report = read_report(&out.join(REPORT_NAME))?;
        Ok(Booted::Done(Box::new(Visited {
            report,
            console,
            time,
            notes: Vec::new(),
            boot: ready.duration_since(booted),
            run: done.duration_since(ready),
            total: start.elapsed(),
        })))
    }

    /// The archive with the job. The program is for the job only; what is to stay on the disk is a file of the
    /// visit, or put there by a step.
    fn job(&self, visit: &Visit) -> Result<Initramfs, LabError> {
        let mut files = Initramfs::empty();
        files.file(&self.program, "whylate");
        for file in &visit.files {
            files.file(&file.from, &format!("files/{}", file.to.trim_matches('/')));
        }
        let modules = visit.modules.iter();
        let modules =
            modules.map(|(path, parameters)| Module { path: path.clone(), parameters: parameters.clone() });
        let job = Job { modules: modules.collect(), environment: Vec::new(), steps: visit.steps.clone() };
        let text = serde_json::to_vec(&job).map_err(io::Error::from);
        files.bytes("job.json", text.map_err(LabError::file("write", &Path::new(WORK).join("job.json")))?);
        Ok(files)
    }

    /// Waits for QEMU's end, or for the moment to end it.
    fn wait(&self, qemu: &mut Qemu, booted: Instant, stop: &AtomicBool) -> Result<Ended, LabError> {
        loop {
            if let Some(status) = qemu.ended()? {
                return Ok(Ended::Itself(status));
            }
            if qemu.mark().cut.is_some() {
                qemu.kill();
                return Ok(Ended::Cut);
            }
            if stop.load(Ordering::Acquire) {
                return Err(LabError::Stopped);
            }
            if booted.elapsed() > self.limit {
                let console = tail(&qemu.console(), CONSOLE_LINES);
                return Err(LabError::Limit { limit: self.limit, console });
            }
            std::thread::sleep(LOOK);
        }
    }
}
