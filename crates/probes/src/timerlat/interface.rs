//! A thread of ours as timerlat's: it sleeps in reading a file, and the kernel takes the time.

use crate::meter::{Meter, Pace};
use crate::sampler::Sampler;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire},
};
use whylate_base::Cpu;
use whylate_ftrace::tracefs::Tracefs;
use whylate_sys::SysError;

/// The files by which the kernel wakes threads of ours, one for each CPU.
pub(crate) struct Interface {
    directory: PathBuf,
    /// How many are open.
    open: AtomicUsize,
}

impl Interface {
    pub(super) fn of(tracefs: &Tracefs) -> Interface {
        Interface { directory: tracefs.root().join("osnoise/per_cpu"), open: AtomicUsize::new(0) }
    }

    /// Kernels before 6.5 have none.
    pub(super) fn is_there(&self) -> bool {
        self.directory.is_dir()
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Acquire) > 0
    }
}

/// The thread that is woken on one CPU; it has to be bound to it.
pub(crate) struct Waiting {
    file: Option<File>,
    interface: Arc<Interface>,
}

impl Waiting {
    pub(crate) fn open(interface: Arc<Interface>, cpu: Cpu) -> Result<Waiting, SysError> {
        let path = interface.directory.join(format!("cpu{cpu}/timerlat_fd"));
        // Counted first, so that it is never open uncounted.
        interface.open.fetch_add(1, AcqRel);
        let mut waiting = Waiting { file: None, interface };
        let file = File::open(&path);
        waiting.file = Some(file.map_err(|e| SysError::of_io("open", path.display().to_string(), &e))?);
        Ok(waiting)
    }
}

impl Meter for Waiting {
    /// The pace is the tracer's.
    fn start(&mut self, _: Pace) -> Result<(), SysError> {
        Ok(())
    }

    /// To the end of the next sleep. The kernel takes the last sleep's user return when this begins.
    #[inline]
    fn round(&mut self, _: &mut Sampler) -> Result<(), SysError> {
        match self.file.as_mut().map(|file| file.read(&mut [0])) {
            Some(Err(error)) if error.kind() != ErrorKind::Interrupted => {
                Err(SysError::of_io("read", "timerlat_fd", &error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.file.take());
        self.interface.open.fetch_sub(1, AcqRel);
    }
}
