//! The resource limits that decide what a real-time program may do without privileges.

use crate::SysError;
use rustix::process::Rlimit;

/// A limit of `getrlimit(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// RLIMIT_RTPRIO: the highest real-time priority without CAP_SYS_NICE (`ulimit -r`).
    RtPriority,
    /// RLIMIT_RTTIME: microseconds of CPU a real-time thread may use without a blocking
    /// call; past it the process gets SIGXCPU, at the hard limit SIGKILL (`ulimit -R`).
    RtTime,
    /// RLIMIT_MEMLOCK: bytes that may be locked without CAP_IPC_LOCK (`ulimit -l`, in KiB there).
    LockedMemory,
    /// RLIMIT_NICE: 20 less the lowest nice value allowed (`ulimit -e`).
    Nice,
}

impl Resource {
    fn id(self) -> rustix::process::Resource {
        match self {
            Resource::RtPriority => rustix::process::Resource::Rtprio,
            Resource::RtTime => rustix::process::Resource::Rttime,
            Resource::LockedMemory => rustix::process::Resource::Memlock,
            Resource::Nice => rustix::process::Resource::Nice,
        }
    }
}

/// A soft and a hard limit; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What holds now.
    pub soft: Option<u64>,
    /// How far the soft limit may be raised.
    pub hard: Option<u64>,
}

/// The process's limit.
///
/// [`getrlimit(2)`](https://man7.org/linux/man-pages/man2/getrlimit.2.html)
pub fn getrlimit(resource: Resource) -> Limit {
    let limit = rustix::process::getrlimit(resource.id());
    Limit { soft: limit.current, hard: limit.maximum }
}

/// Sets the process's limit.
///
/// # Errors
/// `EPERM` when the hard limit would rise without CAP_SYS_RESOURCE, `EINVAL` when the soft
/// limit lies above the hard one.
///
/// [`setrlimit(2)`](https://man7.org/linux/man-pages/man2/setrlimit.2.html)
pub fn setrlimit(resource: Resource, limit: Limit) -> Result<(), SysError> {
    let request = Rlimit { current: limit.soft, maximum: limit.hard };
    rustix::process::setrlimit(resource.id(), request)
        .map_err(|errno| SysError::new("setrlimit", format!("{resource:?} {limit:?}"), errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_written_back() {
        for resource in [Resource::RtPriority, Resource::RtTime, Resource::LockedMemory, Resource::Nice] {
            let limit = getrlimit(resource);
            setrlimit(resource, limit).expect("the same again");
            assert_eq!(getrlimit(resource), limit);
        }
    }

    #[test]
    fn a_soft_limit_above_the_hard_one_is_refused() {
        let error =
            setrlimit(Resource::RtPriority, Limit { soft: Some(5), hard: Some(4) }).expect_err("5 > 4");
        assert_eq!(error.errno(), libc::EINVAL);
    }
}
