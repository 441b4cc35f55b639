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
    /// Bytes in the file; of compressed data the size in the index, which may be 4 bytes short.
    pub size: u64,
}

/// One ring buffer of a copy of tracefs.
pub struct RawBuffer {
    /// The instance's name; empty for the top buffer.
    pub name: String,
    /// The text of its `trace_clock`; empty where it was not copied.
    pub clock: String,
    /// Where each CPU's pages are.
    pub cpus: Vec<CpuData>,
}

impl Buffer {
    /// A buffer of pages that were copied out of tracefs.
    pub(super) fn of_raw(raw: RawBuffer, page_size: usize) -> Buffer {
        let clock = clock_in_use(&raw.clock);
        Buffer { name: raw.name, clock, page_size, compressed: false, cpus: raw.cpus }
    }
}

/// The clock in use of `trace_clock`'s text (`local [global] counter`); a text without
/// brackets is the clock itself.
pub(super) fn clock_in_use(text: &str) -> Option<String> {
    let text = text.trim_matches(['\0', '\n', ' ']);
    let clock = match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((clock, _)) => clock,
        None => text,
    };
    (!clock.is_empty() && !clock.contains(' ')).then(|| clock.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_one_in_brackets() {
        assert_eq!(clock_in_use("local [global] mono\n\0").as_deref(), Some("global"));
        assert_eq!(clock_in_use("perf").as_deref(), Some("perf"));
        assert_eq!(clock_in_use("local global"), None);
        assert_eq!(clock_in_use("\0"), None);
    }
}
