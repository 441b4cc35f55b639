//! The codes of the mistakes that `whylate doctor` finds, by group: the contract between doctor and its judge.

/// Each group with its codes.
pub const GROUPS: [(&str, &[&str]); 5] = [
    (
        "memory",
        &[
            "fault-first-touch",
            "fault-copy-on-write",
            "fault-file",
            "fault-stack",
            "fault-heap",
            "memory-not-locked",
            "memory-all-locked",
            "memory-will-fault",
            "unbalanced-lock",
            "memory-other-node",
            "stack-not-prefaulted",
            "heap-in-loop",
        ],
    ),
    (
        "scheduling",
        &[
            "priority-refused",
            "pinned-before-priority",
            "fifo-99",
            "priority-inverted-by-role",
            "rttime-near-limit",
            "rr-slice",
            "fork-priority",
            "start-in-loop",
            "helper-not-realtime",
        ],
    ),
    (
        "sync",
        &[
            "mutex-without-inheritance",
            "priority-inversion",
            "barrier-unequal-priorities",
            "condvar-herd",
            "sched-yield",
            "spin-lock",
            "busy-wait",
            "lock-by-semaphore",
            "rwlock-without-inheritance",
            "file-lock",
            "signal-to-other-thread",
        ],
    ),
    (
        "time",
        &[
            "relative-sleep",
            "timeout-slack",
            "realtime-clock",
            "coarse-clock",
            "clock-syscall",
            "tick-timeout",
        ],
    ),
    (
        "io",
        &[
            "file-write",
            "file-sync",
            "terminal-output",
            "name-resolution",
            "file-open",
            "blocking-write",
            "tcp-small-writes",
            "socket-without-timestamp",
            "numa-remote",
        ],
    ),
];

/// The group of a code; `None` where no mistake has this code.
pub fn group_of(code: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, codes)| codes.contains(&code)).map(|(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_one_group() {
        assert_eq!(group_of("file-write"), Some("io"));
        assert_eq!(group_of("file-writes"), None);
        let mut codes: Vec<&str> = GROUPS.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count, "a code stands twice");
    }
}
