//! The kernels known by name.

/// A kernel of Debian, by its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its name here: `6.12-rt`.
    pub name: &'static str,
    /// The series: every 6.12.x.
    pub version: &'static str,
    /// True for Debian's flavour with PREEMPT_RT.
    pub preempt_rt: bool,
    /// The Debian release that has it.
    pub suite: &'static str,
    /// Its use in the lab.
    pub good_for: &'static str,
}

const THROTTLES: &str = "RT throttling (950 ms of 1 s); virtual time with 1 CPU only";
const SERVES: &str = "fair server (50 ms of 1 s) instead of RT throttling; virtual time with any CPUs";

const fn series(
    name: &'static str,
    version: &'static str,
    suite: &'static str,
    good_for: &'static str,
) -> Series {
    Series { name, version, preempt_rt: name.len() > version.len(), suite, good_for }
}

/// All of them. Each stands for the newest release of the mirror.
///
/// The fair server came with 6.12 (`dl_server_start` of `kernel/sched/deadline.c`).
pub const SERIES: [Series; 6] = [
    series("6.1", "6.1", "bookworm", THROTTLES),
    series("6.1-rt", "6.1", "bookworm", THROTTLES),
    series("6.12", "6.12", "trixie", SERVES),
    series("6.12-rt", "6.12", "trixie", SERVES),
    series("7.2", "7.2", "sid", SERVES),
    series("7.2-rt", "7.2", "sid", SERVES),
];

impl Series {
    /// The one of that name.
    pub fn find(name: &str) -> Option<&'static Series> {
        SERIES.iter().find(|series| series.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_version_and_flavour() {
        for series in SERIES {
            let flavour = if series.preempt_rt { "-rt" } else { "" };
            assert_eq!(series.name, format!("{}{flavour}", series.version));
            assert_eq!(Series::find(series.name), Some(&series));
        }
        assert_eq!(Series::find("6.10"), None);
    }
}
