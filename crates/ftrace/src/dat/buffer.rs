//! The ring buffers of a file, and where each CPU's pages are.

use whylate_base::Cpu;

/// The kernel supports no more CPUs (`CONFIG_NR_CPUS`).
pub(super) const MOST_CPUS: u32 = 8192;

/// One ring buffer: the top one or an instance's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffer {
    /// The instance's name; empty for the top buffer.
    pub name: String,
    /// Its trace clock.
    pub clock: Option<String>,
    /// Size of its pages (sub-buffers) in bytes.
    pub page_size: usize,
    /// Whether the pages are in compressed chunks.
    pub compressed: bool,
    /// Where each CPU's pages are.
    pub cpus: Vec<CpuData>,
}

/// Where one CPU's pages are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuData {
    /// The CPU.
    pub cpu: Cpu,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes in the file; of compressed data, as the file says, which may be 4 bytes short.
    pub size: u64,
}
