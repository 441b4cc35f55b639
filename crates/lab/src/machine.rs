//! One guest: booted, its job done, its files brought back.

use crate::cable::CableEnd;
use crate::console::{CONSOLE_LINES, tail};
use crate::initramfs::Initramfs;
use crate::job::{GuestJob, JOB_PATH, Module, Network, OUT_DIR};
use crate::kernels::Kernel;
use crate::modules::ModuleTree;
use crate::qemu::{BootSource, QemuSetup};
use crate::session::{Booted, Session, Watch};
use crate::time::TimeSource;
use crate::visit::{Visit, Visited};
use crate::{LabError, libraries};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The path of the program `whylate` in the guest, where it is also the init.
pub const PROGRAM_PATH: &str = "/whylate";
/// The modules that the results need; built in where the tree does not have them.
const NEEDED_MODULES: [&str; 2] = ["virtio_pci", "virtio_blk"];
/// The driver of the network between two guests.
const NETWORK_MODULE: &str = "virtio_net";
/// Memory of a guest for its kernel and what its programs use, beside the files it begins with.
const BESIDE_FILES_MIB: u32 = 256;

/// A machine to boot.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The kernel to boot.
    pub kernel: Kernel,
    /// How many CPUs it has.
    pub cpus: u32,
    /// The source of its time.
    pub time: TimeSource,
    /// More kernel parameters.
    pub append: Vec<String>,
    /// Its memory, in MiB, which also holds its files and the resulting ones; it gets more where its files need it.
    pub memory_mib: u32,
    /// Host time after which it is ended.
    pub limit: Duration,
    /// At its limit its programs are interrupted (Ctrl-C at the console), and their results come back.
    pub interrupt: bool,
    /// The host stops it for this long, about each 400 ms once it is up: stolen time.
    pub stop: Option<Duration>,
    /// Its end of the cable to another guest.
    pub cable: Option<CableEnd>,
    /// The program `whylate`, which is the guest's init.
    pub program: PathBuf,
}

impl Machine {
    /// One CPU, virtual time, 768 MiB, ended after two minutes; `program` is `whylate`.
    pub fn new(kernel: Kernel, program: &Path) -> Machine {
        Machine {
            kernel,
            cpus: 1,
            time: TimeSource::Virtual,
            append: Vec::new(),
            memory_mib: 768,
            limit: Duration::from_secs(120),
            interrupt: false,
            stop: None,
            cable: None,
            program: program.to_owned(),
        }
    }

    /// Boots it, does `visit`, and puts the files of the guest's `/out` that are new or changed
    /// into the directory `out`. Nothing else is left when it returns, whichever way.
    ///
    /// # Errors
    /// When the guest could not be made, died, or took too long, or when `stop` became true. A
    /// step that failed is no error: see [`Visited::report`].
    pub fn run(&self, visit: &Visit, out: &Path, stop: &AtomicBool) -> Result<Visited, LabError> {
        self.run_beside(visit, out, stop, None, None)
    }

    /// As [`Machine::run`] beside another guest: ended when `other_failed`, and its programs interrupted when
    /// `other_done` becomes true.
    pub(crate) fn run_beside(
        &self,
        visit: &Visit,
        out: &Path,
        stop: &AtomicBool,
        other_failed: Option<&AtomicBool>,
        other_done: Option<&AtomicBool>,
    ) -> Result<Visited, LabError> {
        let (time, mut notes) = self.time_there();
        let session = Session::new()?;
        let initramfs = session.path("initramfs");
        self.initramfs(visit)?.write(&initramfs)?;
        let size = std::fs::metadata(&initramfs).map_err(LabError::file("read", &initramfs))?.len();
        let (memory_mib, note) = self.memory_there(size);
        notes.extend(note);
        let kernel = self.kernel.boot();
        let boot = BootSource::Kernel { kernel: &kernel, initramfs: &initramfs, append: &self.append };
        let setup = QemuSetup {
            arch: self.kernel.arch,
            boot,
            drives: &[],
            cpus: self.cpus,
            memory_mib,
            time,
            cable: self.cable.as_ref(),
        };
        let watch = Watch {
            limit: self.limit,
            interrupt: self.interrupt,
            freeze: self.stop,
            stop,
            other_failed,
            other_done,
        };
        match session.run(&setup, &watch, out)? {
            Booted::Done(visited) => Ok(Visited { notes, ..*visited }),
            Booted::Cut { console, .. } => {
                let reason = "it requested a power cut, but has no disk".to_owned();
                Err(LabError::Died { reason, console: tail(&console, CONSOLE_LINES) })
            }
        }
    }

    /// Virtual time, unless the kernel does not boot in it.
    fn time_there(&self) -> (TimeSource, Vec<String>) {
        if self.time == TimeSource::Virtual && self.cpus > 1 && !self.kernel.has_virtual_smp() {
            let note = format!(
                "kernel {} does not boot in virtual time with {} CPUs: it runs in the host's time",
                self.kernel.release, self.cpus
            );
            return (TimeSource::Free, vec![note]);
        }
        (self.time, Vec::new())
    }

    /// Its memory in MiB with an initramfs of `bytes`, and a note where that is more than was asked for. The kernel
    /// unpacks the archive, which it frees only then, into a tmpfs that takes half of what is left. Without room
    /// beside the files nothing that a program writes can be kept.
    fn memory_there(&self, bytes: u64) -> (u32, Option<String>) {
        let files_mib = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
        let needed = files_mib.saturating_mul(4).saturating_add(BESIDE_FILES_MIB);
        if needed <= self.memory_mib {
            return (self.memory_mib, None);
        }
        let asked = self.memory_mib;
        let note = format!(
            "the guest has {needed} MiB of memory, not {asked}: its files alone take {files_mib} MiB, twice while it boots"
        );
        (needed, Some(note))
    }

    fn initramfs(&self, visit: &Visit) -> Result<Initramfs, LabError> {
        let mut files = Initramfs::new(self.kernel.arch);
        let arch = self.kernel.arch;
        libraries::of_program(&self.program, arch)?;
        files.add(&self.program, PROGRAM_PATH)?;
        for file in &visit.files {
            files.add(&file.from, &file.to)?;
        }
        for root in &visit.roots {
            files.root(&root.from, &root.to)?;
        }
        let modules = self.modules(visit, &mut files)?;
        let environment = files.library_path().map(|path| ("LD_LIBRARY_PATH".to_owned(), path));
        let network = self.cable.as_ref().map(|end| Network { address: end.address(), peer: end.peer() });
        let job = GuestJob {
            modules,
            environment: environment.into_iter().collect(),
            network,
            steps: visit.steps.clone(),
        };
        let job = serde_json::to_vec(&job).map_err(io::Error::from);
        files.bytes(JOB_PATH, job.map_err(LabError::file("write", Path::new(JOB_PATH)))?);
        Ok(files)
    }

    /// The modules to load, in order, put among the files.
    fn modules(&self, visit: &Visit, files: &mut Initramfs) -> Result<Vec<Module>, LabError> {
        let Some(root) = &self.kernel.modules else {
            return match visit.modules.first() {
                None => Ok(Vec::new()),
                Some((name, _)) => Err(LabError::Module {
                    name: name.clone(),
                    reason: format!(
                        "kernel {} has no modules here: give them with --modules DIR",
                        self.kernel.name
                    ),
                }),
            };
        };
        let tree = ModuleTree::open(root)?;
        let mut loaded = Vec::new();
        for name in NEEDED_MODULES.into_iter().filter(|name| tree.has(name)) {
            tree.load(name, &mut loaded)?;
        }
        if self.cable.is_some() && !tree.is_built_in(NETWORK_MODULE) {
            tree.load(NETWORK_MODULE, &mut loaded)?;
        }
        for (name, _) in visit.modules.iter().filter(|(name, _)| tree.has(name) || !tree.is_built_in(name)) {
            tree.load(name, &mut loaded)?;
        }
        let with_parameters = loaded.into_iter().map(|module| {
            let path = format!("/modules/{}.ko", module.name);
            let asked = visit.modules.iter().find(|(name, _)| name.replace('-', "_") == module.name);
            files.bytes(&path, module.image);
            Module { path, parameters: asked.map(|(_, parameters)| parameters.clone()).unwrap_or_default() }
        });
        Ok(with_parameters.collect())
    }
}

/// The path in the guest of a file that its program is to find as `name`: from `/`, or from the
/// directory in which it runs.
pub fn guest_path(directory: &str, name: &str) -> String {
    match name.starts_with('/') {
        true => name.to_owned(),
        false => format!("{}/{name}", directory.trim_end_matches('/')),
    }
}

/// The directory of the guest in which a user's program runs, and whose new files come back.
pub fn files_directory() -> String {
    format!("{OUT_DIR}/files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;

    fn machine(release: &str, cpus: u32) -> Machine {
        let kernel = Kernel {
            name: "test".into(),
            release: release.into(),
            preempt_rt: false,
            arch: Arch::native(),
            image: "/k/vmlinuz".into(),
            modules: None,
        };
        Machine { cpus, ..Machine::new(kernel, &std::env::current_exe().expect("own program")) }
    }

    #[test]
    fn large_files_get_the_memory_that_they_need() {
        let machine = Machine { memory_mib: 768, ..machine("6.12.1", 1) };
        assert_eq!(machine.memory_there(120 << 20), (768, None));
        let (memory, note) = machine.memory_there(240 << 20);
        assert_eq!(memory, 4 * 240 + BESIDE_FILES_MIB);
        let note = note.expect("more than was asked for");
        assert!(note.contains("1216 MiB of memory, not 768") && note.contains("240 MiB"), "{note}");
    }

    #[test]
    fn time_is_virtual_where_the_kernel_comes_up_in_it() {
        for (release, cpus, expected) in [
            ("6.1.0-50-amd64", 1, TimeSource::Virtual),
            ("6.1.0-50-amd64", 2, TimeSource::Free),
            ("6.12.107-rt", 2, TimeSource::Virtual),
            ("7.2.13", 4, TimeSource::Virtual),
        ] {
            let (time, notes) = machine(release, cpus).time_there();
            assert_eq!(
                (time, notes.is_empty()),
                (expected, expected == TimeSource::Virtual),
                "{release}, {cpus} CPUs"
            );
        }
        let free = Machine { time: TimeSource::Free, ..machine("6.1.0", 2) };
        assert_eq!(free.time_there(), (TimeSource::Free, Vec::new()));
    }

    #[test]
    fn modules_that_are_asked_for_must_be_there() {
        let visit = Visit { modules: vec![("null_blk".into(), String::new())], ..Visit::default() };
        let error = machine("6.12.1", 1).initramfs(&visit).expect_err("no modules").to_string();
        assert!(error.contains("null_blk") && error.contains("--modules"), "{error}");
    }
}
