//! The resource limits of real-time programs without privileges.

/// A limit of `getrlimit(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// RLIMIT_RTPRIO: the highest real-time priority without CAP_SYS_NICE (`ulimit -r`).
    RtPriority,
    /// RLIMIT_MEMLOCK: bytes that may be locked without CAP_IPC_LOCK (`ulimit -l`, in KiB there).
    LockedMemory,
}

impl Resource {
    fn id(self) -> rustix::process::Resource {
        match self {
            Resource::RtPriority => rustix::process::Resource::Rtprio,
            Resource::LockedMemory => rustix::process::Resource::Memlock,
        }
    }
}

/// A soft and a hard limit; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The current limit.
    pub soft: Option<u64>,
    /// The highest allowed soft limit.
    pub hard: Option<u64>,
}

/// The process's limit.
///
/// [`getrlimit(2)`](https://man7.org/linux/man-pages/man2/getrlimit.2.html)
pub fn getrlimit(resource: Resource) -> Limit {
    let limit = rustix::process::getrlimit(resource.id());
    Limit { soft: limit.current, hard: limit.maximum }
}

/// Lets this process, and those it starts, hold as many files open as the hard limit allows: the soft one is low
/// for the sake of `select(2)`, which must not meet a higher descriptor (systemd.exec(5)). If it fails, what held
/// before still holds.
///
/// [`setrlimit(2)`](https://man7.org/linux/man-pages/man2/setrlimit.2.html), RLIMIT_NOFILE
pub fn raise_open_files() {
    let files = rustix::process::Resource::Nofile;
    let limit = rustix::process::getrlimit(files);
    if limit.current != limit.maximum {
        let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = rustix::process::setrlimit(files, raised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_proc() {
        let limits = std::fs::read_to_string("/proc/self/limits").expect("limits");
        let rows =
            [("Max realtime priority", Resource::RtPriority), ("Max locked memory", Resource::LockedMemory)];
        for (title, resource) in rows {
            let row = limits.lines().find_map(|line| line.strip_prefix(title)).expect(title);
            let mut values = row.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
            let (soft, hard) = (values.next().expect("soft"), values.next().expect("hard"));
            assert_eq!(getrlimit(resource), Limit { soft, hard }, "{title}");
        }
    }
}
