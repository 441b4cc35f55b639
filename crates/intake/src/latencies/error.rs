//! Why a measurement of another tool cannot be read.

use std::io;
use std::path::PathBuf;

/// Why a measurement cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LatenciesError {
    /// It cannot be read as a file.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// It is a directory.
    #[error("cannot read {}: it is a directory; name the files", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// It is longer than any measurement.
    #[error("cannot read {}: it does not end within {mib} MiB", path.display())]
    Endless {
        /// The file.
        path: PathBuf,
        /// So much was read.
        mib: u64,
    },
    /// It is packed, and the packing is damaged.
    #[error("cannot read {}: {what}, and the rest may have the latest samples", path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is not a measurement of a supported tool.
    #[error(
        "{}: {}not a measurement of a supported tool. Supported are: whylate measure --json; cyclictest's output (also -h, --histfile, \
         -v, --json); pmqtest, ptsematest, sigwaittest and svsematest; oslat and its --json; rtla timerlat hist and osnoise hist; \
         sysjitter (also --raw); Xenomai's latency; latmus (also -g); stress-ng --cyclic; jitterdebugger's JSON, and what jittersamples \
         prints; OSADL's RT Dataset; histograms of bcc and bpftrace (runqlat, cpudist, hardirqs -d); rows of perf sched timehist; for their maxima perf sched latency, \
         rtla timerlat top, osnoise top and hwnoise, and hwlatdetect; all of them also in gzip or zstd",
        path.display(),
        what.as_ref().map(|what| format!("it is {what}, and ")).unwrap_or_default()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What it is instead, where a line of it shows that.
        what: Option<String>,
    },
    /// It is a measurement of a supported tool, and broken.
    #[error("{}: {tool} wrote it, but {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The program that wrote it.
        tool: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// What is wrong with a file of a known tool.
pub(super) struct Broken {
    pub(super) tool: &'static str,
    pub(super) why: String,
}
