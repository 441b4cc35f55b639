//! The files of `programs`, part of this program.

use super::Case;
use crate::scenario::ExpectedCulprit;
use std::path::Path;
use thiserror::Error;
use whylate_base::parse_duration;
use whylate_ledger::Cause;

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../programs/", $name, ".toml")))),*]
    };
}

/// Name and text of each, in the order of their names.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = files![
    "block-aio-recorder"
    "block-dm-delay"
    "block-drop-caches"
    "block-fio-psync"
    "block-fio-uring"
    "block-fsync-shared"
    "block-io-max"
    "block-ionice-idle"
    "block-redis-aof"
    "block-sqlite-ext4"
    "block-swap-reclaim"
    "deadline-awk"
    "deadline-deadline-test"
    "deadline-md5sum"
    "deadline-raises-itself"
    "deadline-stress-ng-fifo99"
    "deadline-two"
    "deferred-cyclictest-posix"
    "deferred-napi-threaded"
    "deferred-netem-delay"
    "deferred-rcvtimeo"
    "deferred-timerfd"
    "equal-cgroup-procs-moved"
    "equal-duktape-gstreamer"
    "equal-hackbench"
    "equal-perl-rr-slice"
    "equal-ptsematest-sysbench"
    "equal-rt-app-same-cpu"
    "equal-rt-app-vision"
    "equal-stress-ng-rr"
    "equal-taskset-loops"
    "equal-tcp-server"
    "equal-timer-thread"
    "fair-autogroup"
    "fair-batch"
    "fair-chrt-lowered"
    "fair-cpu-idle-group"
    "fair-cpu-weight"
    "fair-fork-storm"
    "fair-gzip-nice"
    "fair-hackbench"
    "fair-idle-policy"
    "fair-jackd-no-realtime"
    "fair-mosquitto-echo"
    "fair-rt-app-other"
    "fair-server-gzip-perl"
    "fair-server-sha256sum"
    "fair-sha256sum"
    "fair-tuned-throughput"
    "faults-fork-cow"
    "faults-madvise-recorder"
    "faults-memory-high"
    "faults-memory-max"
    "faults-mmap-ext4"
    "faults-punch-hole"
    "faults-python"
    "faults-python-images"
    "faults-shm-frame"
    "faults-thp"
    "faults-zram-swap"
    "healthy-aplay-sox"
    "healthy-asyncio"
    "healthy-busybox-httpd"
    "healthy-candump"
    "healthy-capped-load"
    "healthy-ceiling-by-hand"
    "healthy-cgroup-churn"
    "healthy-clock-step"
    "healthy-compaction"
    "healthy-condvar-two-cpus"
    "healthy-cpuset-moves"
    "healthy-cron-shell"
    "healthy-cyclicdeadline"
    "healthy-cyclicdeadline-load"
    "healthy-cyclictest"
    "healthy-cyclictest-hackbench"
    "healthy-cyclictest-options"
    "healthy-cyclictest-options2"
    "healthy-cyclictest-other"
    "healthy-cyclictest-posix"
    "healthy-cyclictest-priospread"
    "healthy-cyclictest-stress-ng"
    "healthy-cyclictest-verbose-pipe"
    "healthy-dbus-calls"
    "healthy-deadline-test"
    "healthy-deadline-yield"
    "healthy-exit-huge"
    "healthy-fio"
    "healthy-fio-uring"
    "healthy-frozen"
    "healthy-gstreamer"
    "healthy-hotplug"
    "healthy-inotify"
    "healthy-iperf3"
    "healthy-iperf3-ptsematest"
    "healthy-itimer"
    "healthy-jack-clients"
    "healthy-jackd"
    "healthy-kmsg-rt"
    "healthy-ksmd"
    "healthy-locked-swap"
    "healthy-logger-ring"
    "healthy-loop-mount"
    "healthy-luajit-steps"
    "healthy-membarrier"
    "healthy-memcached"
    "healthy-mosquitto"
    "healthy-mosquitto-echo"
    "healthy-multiprocessing"
    "healthy-nginx-ab"
    "healthy-oslat"
    "healthy-period-change"
    "healthy-pi-chain"
    "healthy-pip-stress"
    "healthy-pipe-python"
    "healthy-pipeline-fifos"
    "healthy-pmqtest"
    "healthy-pmqtest-cyclictest"
    "healthy-ptp4l"
    "healthy-ptp4l-victim"
    "healthy-ptsematest"
    "healthy-python"
    "healthy-queuelat"
    "healthy-quota-burst"
    "healthy-quota-realtime"
    "healthy-redis"
    "healthy-rm-tree"
    "healthy-rr-siblings"
    "healthy-rsyslog"
    "healthy-rt-app"
    "healthy-rt-app-barrier"
    "healthy-rt-app-deadline"
    "healthy-rt-app-jackd"
    "healthy-rt-app-pi"
    "healthy-rt-app-resume"
    "healthy-rt-app-rm"
    "healthy-rtla-timerlat"
    "healthy-shm-semaphore"
    "healthy-signaltest"
    "healthy-sigwaitinfo"
    "healthy-sigwaittest-tar"
    "healthy-slack-fifo"
    "healthy-socat-echo"
    "healthy-sqlite"
    "healthy-ssdd"
    "healthy-stepgen"
    "healthy-stopped"
    "healthy-strace"
    "healthy-stress-ng-cyclic"
    "healthy-stress-ng-ipc"
    "healthy-stress-ng-memory"
    "healthy-stress-ng-mixed"
    "healthy-stress-ng-timers"
    "healthy-svsematest"
    "healthy-sysbench-mutex"
    "healthy-sysv-msg-publish"
    "healthy-taskset-moves"
    "healthy-tc-filters"
    "healthy-tclsh"
    "healthy-tcpdump-ping"
    "healthy-thread-per-alarm"
    "healthy-thread-pool"
    "healthy-three-rt-tests"
    "healthy-timerfd-epoll"
    "healthy-timerfd-storm"
    "healthy-trylock-logger"
    "healthy-two-cpus-pmqtest"
    "healthy-two-cpus-sched-rr"
    "healthy-uinput"
    "healthy-yield-poller"
    "higher-arecord"
    "higher-candump"
    "higher-chrt-running"
    "higher-cpuset-shrunk"
    "higher-cyclictest-break"
    "higher-eventfd-producer"
    "higher-exit-huge"
    "higher-fio"
    "higher-hackbench-threads"
    "higher-iperf3"
    "higher-jackd"
    "higher-ksmd-chrt"
    "higher-ksoftirqd-chrt"
    "higher-lowers-itself"
    "higher-md5sum"
    "higher-monitor-shell"
    "higher-multiprocessing"
    "higher-nice-minus-20"
    "higher-openssl-shell"
    "higher-pi-boost"
    "higher-pi-stress"
    "higher-pmqtest"
    "higher-priority-ceiling"
    "higher-ptp4l"
    "higher-ptsematest"
    "higher-queuelat"
    "higher-redis"
    "higher-rt-migrate-test"
    "higher-rtla-osnoise"
    "higher-signal-perl"
    "higher-signaltest"
    "higher-sigwaittest"
    "higher-stress-ng-rr"
    "higher-svsematest"
    "higher-sysbench"
    "higher-taskset-moved"
    "inversion-broken-chain"
    "inversion-flock-xz"
    "inversion-multiprocessing"
    "inversion-nice-logger"
    "inversion-rt-app"
    "inversion-rt-app-md5sum"
    "inversion-rt-app-two-cpus"
    "inversion-shm-semaphore"
    "inversion-smaps-monitor"
    "inversion-thread-join"
    "inversion-unix-socket"
    "irq-thread-serial"
    "irq-timerfd-storm"
    "irqs-disabled-hwlat"
    "journal-config-rename"
    "journal-fio-fsync"
    "lock-asyncio-executor"
    "lock-barrier"
    "lock-condvar-deadline"
    "lock-flock"
    "lock-inode-dd"
    "lock-mmap-loader"
    "lock-owner-fsync"
    "lock-owner-quota"
    "lock-owner-stopped"
    "lock-python"
    "lock-python-gil"
    "lock-python-semaphore"
    "lock-rt-app-sleep"
    "lock-rwlock-readers"
    "lock-semop-perl"
    "lock-stdio-pipe"
    "lock-tcp-server"
    "mix-block-deadline"
    "mix-block-equal"
    "mix-block-fair"
    "mix-block-higher"
    "mix-deadline-equal"
    "mix-deadline-lock"
    "mix-fair-higher"
    "mix-faults-higher"
    "mix-faults-lock"
    "mix-fork-exec-inherits"
    "mix-higher-equal"
    "mix-isolated-overrun-higher"
    "mix-lock-higher"
    "mix-lock-relative"
    "mix-mqanswer-higher"
    "mix-overrun-equal"
    "mix-overrun-higher"
    "mix-overrun-ruby-bzip2"
    "mix-pipe-tools-deadline"
    "mix-quota-block"
    "mix-quota-higher"
    "mix-relative-equal-ruby"
    "mix-relative-higher"
    "mix-server-overrun-higher"
    "mix-slack-fair"
    "mix-slack-quota"
    "mix-throttled-higher"
    "overrun-deadline-python"
    "overrun-fork-python"
    "overrun-gc"
    "overrun-lua-ticks"
    "overrun-luajit"
    "overrun-python"
    "overrun-python-regex"
    "overrun-rt-app"
    "overrun-sha512"
    "overrun-smaps"
    "overrun-spinlock"
    "pinned-taskset"
    "placement-isolcpus"
    "preemption-dd-zero"
    "preemption-iperf3"
    "preemption-stress-ng"
    "preemption-sysrq"
    "quota-dbus-daemon"
    "quota-jackd"
    "quota-nginx"
    "quota-parent"
    "quota-python"
    "quota-python-gzip"
    "quota-stress-ng"
    "rcu-packet-close"
    "relative-asyncio"
    "relative-bash-read"
    "relative-cyclictest"
    "relative-mq-timeout"
    "relative-perl"
    "relative-python"
    "relative-rt-app"
    "sleep-serial-break"
    "softirq-netem-slots"
    "softirq-tc-filters"
    "stolen-cyclictest-smp"
    "stolen-pi-stress"
    "throttled-deadline-rt-app"
    "throttled-pi-stress"
    "throttled-shell-poll"
    "throttled-stress-ng"
    "throttled-sysbench-period"
    "throttled-sysctl"
    "timer-slack-cyclictest"
    "timer-slack-python"
    "two-cpus-stress-ng"
    "wait-bindfs"
    "wait-condvar-two-cpus"
    "wait-fifo-open"
    "wait-mqueue-full"
    "wait-pipe-reader"
    "wait-pty-full"
    "wait-signal-gripper"
    "wait-sqlite-busy"
    "wait-subprocess-reset"
    "wait-syslog"
    "wait-sysv-msg-kinematics"
    "wait-telemetry-tcp"
    "wait-unix-server-odirect"
    "wait-zmq-hwm"
    "work-item-aio-fsync"
    "work-item-dio-unwritten"
    "work-item-dm-crypt"
    "work-item-loop"
    "work-item-pty"
];

/// The reason why a case cannot be used.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The file cannot be read, is not TOML, or has a word that is not known.
    #[error("{path} is not a case of programs: {what}")]
    Syntax {
        /// The file.
        path: String,
        /// What is wrong, and what to write.
        what: String,
    },
    /// Neither a built-in case nor a file.
    #[error("`{0}` is neither a case of programs nor a file: `whylate-lab programs --list` names the cases")]
    Unknown(String),
}

/// Every built-in case.
///
/// # Errors
/// When one of them is invalid, which a test excludes.
pub fn built_in() -> Result<Vec<Case>, CaseError> {
    FILES.iter().map(|(name, text)| parse(name, &format!("programs/{name}.toml"), text)).collect()
}

/// The case of that name, or in that file.
///
/// # Errors
/// When there is none, or it is invalid.
pub fn find(name: &str) -> Result<Case, CaseError> {
    if let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) {
        return parse(name, &format!("programs/{name}.toml"), text);
    }
    let path = Path::new(name);
    if !path.is_file() {
        return Err(CaseError::Unknown(name.to_owned()));
    }
    let syntax = |error: std::io::Error| CaseError::Syntax { path: name.to_owned(), what: error.to_string() };
    let text = std::fs::read_to_string(path).map_err(syntax)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&stem, name, &text)
}

fn parse(name: &str, path: &str, text: &str) -> Result<Case, CaseError> {
    let syntax = |what: String| CaseError::Syntax { path: path.to_owned(), what };
    let case: Case = toml::from_str(text).map_err(|error| syntax(error.to_string().trim_end().to_owned()))?;
    match first_wrong(&case) {
        Some(wrong) => Err(syntax(wrong)),
        None => Ok(Case { name: name.to_owned(), ..case }),
    }
}

/// The first word that is wrong, and what to write.
fn first_wrong(case: &Case) -> Option<String> {
    if case.cpus == 0 || case.cpus > 16 {
        return Some("`cpus`: a guest has 1 to 16 CPUs".to_owned());
    }
    if case.victims.is_empty() || case.programs.is_empty() || case.packages.is_empty() {
        return Some("write at least one of each: `victims`, `programs`, `packages`".to_owned());
    }
    if let Err(error) = parse_duration(&case.late) {
        return Some(error.to_string());
    }
    if case.truth.is_none() && (case.is_healthy() || case.faults.iter().any(|fault| fault.had_cpu.is_empty()))
    {
        return Some("no truth: write `truth`, or `had-cpu` for each fault".to_owned());
    }
    let causes = case.faults.iter().flat_map(|fault| &fault.causes).chain(&case.may);
    if let Some(cause) = causes.into_iter().find(|cause| Cause::from_code(cause).is_none()) {
        return Some(format!("`{cause}` is not a cause: `whylate explain --code list` names them all"));
    }
    if case.faults.iter().any(|fault| fault.causes.is_empty()) {
        return Some("a fault without `causes`".to_owned());
    }
    let mut culprits = case.faults.iter().flat_map(|fault| &fault.culprits);
    let known = |culprit: &String| match ExpectedCulprit::parse(culprit) {
        Some(ExpectedCulprit::Part(_)) | None => false,
        Some(_) => true,
    };
    let culprit = culprits.find(|culprit| !known(culprit))?;
    Some(format!("`{culprit}` is not a culprit: write thread:PATTERN, irq:PATTERN, softirq:PATTERN or none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "title = 'x'\nprograms = ['fio']\npackages = ['fio']\nscript = 'fio'\nvictims = ['fio']\n\
                        truth = 'true'\n[[faults]]\ncauses = ['irq']\nculprits = ['none']\n";

    #[test]
    fn every_file_is_built_in_and_right() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let mut files: Vec<String> = std::fs::read_dir(dir)
            .expect("the directory of cases")
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
            .collect();
        files.sort();
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, files, "read.rs must list the files of programs");
        for case in built_in().expect("every case is valid") {
            let kernels = ["6.1", "6.1-rt", "6.12", "6.12-rt", "7.2", "7.2-rt"];
            assert!(kernels.into_iter().any(|kernel| case.applies_to(kernel)), "{}", case.name);
        }
    }

    #[test]
    fn what_is_wrong_in_a_case_is_named() {
        assert!(parse("x", "x.toml", GOOD).is_ok());
        for (from, to, expected) in [
            ("'irq'", "'irk'", "`irk` is not a cause"),
            ("'none'", "'part:culprit'", "`part:culprit` is not a culprit"),
            ("['irq']", "[]", "without `causes`"),
            ("truth = 'true'\n", "", "no truth"),
            ("title", "tittle", "tittle"),
            ("truth", "late = '5'\ntruth", "not a duration"),
            ("victims = ['fio']", "victims = []", "`victims`"),
            ("truth", "cpus = 0\ntruth", "1 to 16 CPUs"),
        ] {
            let text = GOOD.replace(from, to);
            let error = parse("x", "x.toml", &text).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
        assert!(find("no-such-case").expect_err("none").to_string().contains("--list"));
    }
}
