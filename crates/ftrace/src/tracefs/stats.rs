//! A CPU's counts of events written, read and lost: `per_cpu/cpuN/stats`.

/// What a CPU's ring buffer counted since it was made, in events unless noted otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuStats {
    /// In the buffer, not read yet.
    pub entries: u64,
    /// Overwritten before they were read.
    pub overrun: u64,
    /// Lost because an interrupt's events filled the buffer around an unfinished one.
    pub commit_overrun: u64,
    /// Not written because the buffer was full and must not overwrite.
    pub dropped: u64,
    /// Read so far.
    pub read: u64,
    /// Bytes of events now in the buffer.
    pub bytes: u64,
}

impl CpuStats {
    /// Reads the file's text. A line that is missing (older kernels have fewer) counts 0.
    pub fn parse(text: &str) -> CpuStats {
        let mut stats = CpuStats::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let Ok(value) = value.trim().parse() else { continue };
            match key.trim() {
                "entries" => stats.entries = value,
                "overrun" => stats.overrun = value,
                "commit overrun" => stats.commit_overrun = value,
                "dropped events" => stats.dropped = value,
                "read events" => stats.read = value,
                "bytes" => stats.bytes = value,
                _ => {}
            }
        }
        stats
    }

    /// Events that were recorded: read, or waiting to be.
    pub fn recorded(&self) -> u64 {
        self.entries.saturating_add(self.read)
    }

    /// Events that happened and are in no page.
    pub fn lost(&self) -> u64 {
        self.overrun.saturating_add(self.commit_overrun).saturating_add(self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_text_is_understood() {
        let text = "entries: 129\noverrun: 2\ncommit overrun: 3\nbytes: 8580\noldest event ts:  2651.144420\n\
                    now ts:  2652.040018\ndropped events: 4\nread events: 640\n";
        let stats = CpuStats::parse(text);
        assert_eq!(
            stats,
            CpuStats { entries: 129, overrun: 2, commit_overrun: 3, dropped: 4, read: 640, bytes: 8580 }
        );
        assert_eq!((stats.recorded(), stats.lost()), (769, 9));
        assert_eq!(CpuStats::parse("entries: many\n:\n"), CpuStats::default());
    }
}
