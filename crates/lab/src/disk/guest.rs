//! One boot of a machine with a disk.

use crate::guest::{JOB_DISK, WORK};
use crate::initramfs::Initramfs;
use crate::job::{GuestJob, Module};
use crate::qemu::{BootSource, Drive, Keeps, QemuSetup};
use crate::session::{Booted, Session, Watch};
use crate::time::TimeSource;
use crate::visit::Visit;
use crate::{Arch, LabError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The disk with the boot loader.
const ROOT_DISK: &str = "root";

/// The name of the service's program in [`WORK`]: `customize.sh` starts it.
const SERVICE: &str = "whylate-lab";

/// A machine with a disk, which keeps its content between boots.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The disk.
    pub disk: PathBuf,
    /// How many CPUs it has.
    pub cpus: u32,
    /// Its memory, in MiB, which also holds the resulting files.
    pub memory_mib: u32,
    /// Host time after which a boot is ended.
    pub limit: Duration,
    /// The program `whylate-lab`, which does the jobs.
    pub service: PathBuf,
    /// The program `whylate`, for the jobs.
    pub program: Option<PathBuf>,
}

impl Guest {
    /// Four CPUs in the host's time, 1 GiB, ended after five minutes; this process's own program does the jobs.
    ///
    /// # Errors
    /// When this process's program is not known.
    pub fn new(disk: &Path) -> Result<Guest, LabError> {
        let service = std::env::current_exe().map_err(LabError::file("find", Path::new("/proc/self/exe")))?;
        let limit = Duration::from_secs(300);
        Ok(Guest { disk: disk.to_owned(), cpus: 4, memory_mib: 1024, limit, service, program: None })
    }

    /// Boots it, does `visit`, puts the files of its `/out` into the directory `out`, and shuts it down; or kills
    /// it where a step asks for it. The visit's modules are loaded with `modprobe`.
    ///
    /// # Errors
    /// When it did not boot, died, or took too long, or when `stop` became true. A step that failed is no
    /// error: see [`Visited::report`](crate::Visited::report).
    pub fn boot(&self, visit: &Visit, out: &Path, stop: &AtomicBool) -> Result<Booted, LabError> {
        let session = Session::new()?;
        let job = session.path("job");
        self.job(visit)?.write(&job)?;
        // A disk has whole sectors.
        let padded = File::options().write(true).open(&job);
        let padded = padded.and_then(|file| file.set_len(file.metadata()?.len().next_multiple_of(4096)));
        padded.map_err(LabError::file("write", &job))?;
        let drives = [
            Drive { path: &self.disk, serial: ROOT_DISK, keeps: Keeps::EachWrite },
            Drive { path: &job, serial: JOB_DISK, keeps: Keeps::Nothing },
        ];
        let (cpus, memory_mib) = (self.cpus, self.memory_mib);
        let setup = QemuSetup {
            arch: Arch::X86_64,
            boot: BootSource::Disk,
            drives: &drives,
            cpus,
            memory_mib,
            time: TimeSource::Free,
            cable: None,
        };
        let watch = Watch {
            limit: self.limit,
            interrupt: false,
            freeze: None,
            stop,
            other_failed: None,
            other_done: None,
        };
        session.run(&setup, &watch, out)
    }

    /// The archive with the job. The programs are for the job only; a file that stays on the disk is a file of the
    /// visit, or written by a step.
    fn job(&self, visit: &Visit) -> Result<Initramfs, LabError> {
        let mut files = Initramfs::empty(Arch::X86_64);
        files.file(&self.service, SERVICE);
        if let Some(program) = &self.program {
            files.file(program, "whylate");
        }
        for file in &visit.files {
            files.file(&file.from, &format!("files/{}", file.to.trim_matches('/')));
        }
        let modules = visit.modules.iter();
        let modules =
            modules.map(|(path, parameters)| Module { path: path.clone(), parameters: parameters.clone() });
        let job = GuestJob { modules: modules.collect(), steps: visit.steps.clone(), ..GuestJob::default() };
        let text = serde_json::to_vec(&job).map_err(io::Error::from);
        files.bytes("job.json", text.map_err(LabError::file("write", &Path::new(WORK).join("job.json")))?);
        Ok(files)
    }
}
