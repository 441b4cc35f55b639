//! What other programs print of a machine, of other latencies or of the scheduler: it has no events, but each has a name.

use super::known::{EVENTS, MEASURE, RECORD, Row, by_words};
use super::syscalls;

/// What the line shows the text to be, and what to give instead.
pub(super) fn named(line: &str) -> Option<(&'static str, &'static str)> {
    by_words(&PROGRAMS, line).or_else(|| is_system_call(line).then_some((STRACE, RECORD)))
}

/// What a line lets one guess, as long as no other line of the text shows more.
pub(super) fn guessed(line: &str) -> Option<(&'static str, &'static str)> {
    by_words(&GUESSES, line)
        .or_else(|| is_json(line).then_some((JSON, ORIGINAL)))
        .or_else(|| is_of_markdown(line).then_some((MARKDOWN, ORIGINAL)))
}

/// True of what a line of the kernel's log may look like, too.
pub(super) fn is_of_settings(what: &str) -> bool {
    what == SETTINGS
}

const CHECK: &str =
    "`whylate check` reads the settings of a machine; to see why a thread is late, `whylate record`";
const ORIGINAL: &str = "give the trace, or the whole output of the program that measured, as it was printed";

const STRACE: &str = "the output of strace, which has system calls, and not which thread had a CPU";
const PERF_TRACE: &str = "the output of perf trace, which has system calls, and not which thread had a CPU";
const NETWORK: &str = "a report of a network's latency or throughput, and none of a thread";
const LATENCY_OF_CALLS: &str =
    "the output of a tool of bcc for slow operations, which has durations, and not what ran meanwhile";
const BLOCK: &str = "a report on storage, which has no latency of a thread";
const MEMORY: &str = "a report on memory or caches, which has no latency of a thread";
const SETTINGS: &str = "a list of settings of a machine, and no trace";
const CYCLICTEST_HEAD: &str = "the head of cyclictest's lines, without the lines of its threads (T:)";
const GARBAGE: &str = "a log of Java's garbage collector, whose pauses stop the threads of a program";
const ZEPHYR: &str = "a benchmark of Zephyr, in cycles and nanoseconds of its own kernel";
const ZEPHYR_WORK: &str = "a test of the delays of Zephyr's work queues, without a unit";
const HAL: &str = "a list of parameters of LinuxCNC's HAL: the longest time (tmax) that each function took";
const LINUXCNC: &str = "a message of LinuxCNC: a thread came later than its period";
const JITTER: &str = "the output of jitter, which counts in cycles";
const ISOCHRON: &str = "a report of isochron, which has times of packets";
const DDSPERF: &str = "the output of ddsperf, which has latencies of messages";
const ROS: &str = "the output of a ROS 2 command, which has rates and delays of messages";
const FTRACE_STAT: &str = "the kernel's function profile (trace_stat), which has sums";
const BENCHMARK: &str = "the output of a benchmark, which has no latency of a single thread";
const WAKEUPTIME: &str = "the output of bcc's wakeuptime or offwaketime, which has stacks and sums";
const PERF_LOCK: &str = "a report of perf lock, which has sums of waits for locks";
const SYSTEM: &str = "a report on the load of a machine, which has averages";
const JSON: &str = "JSON of another program, in a form that whylate does not know";
const MARKDOWN: &str = "a table of results in Markdown, and not what a program printed";

/// By words that a line has; the first that fits.
const PROGRAMS: [Row; 92] = [
    (&["% time", "seconds", "usecs/call"], "a table of strace, which has sums of system calls", RECORD),
    (&["syscall", "calls", "stddev"], PERF_TRACE, RECORD),
    (&[" ms): ", "(", ") = "], PERF_TRACE, RECORD),
    (&[" ... [continued]: "], PERF_TRACE, RECORD),
    (&["Summary of events:"], PERF_TRACE, RECORD),
    (&["time", "counts", "unit events"], "the output of perf stat, which has counts", RECORD),
    (&["Shared Data Cache Line Table"], "a report of perf c2c, which has sums of accesses", RECORD),
    (&["contended", "total wait", "avg wait"], PERF_LOCK, RECORD),
    (&["acquired", "contended", "wait"], PERF_LOCK, RECORD),
    (&["VM-EXIT", "Samples"], "a report of perf kvm, which has sums of exits", RECORD),
    (&["DURATION", "COUNT", "GRAPH"], "a histogram of perf ftrace, of the durations of one function", RECORD),
    (&["# Running '", "' benchmark:"], BENCHMARK, MEASURE),
    (&["run measurement overhead:"], "the output of perf sched replay, which has total times", EVENTS),
    (&["AVG_JIFFIES"], "the output of perf sched stats, which has sums", RECORD),
    (&["sched_goidle", ":"], "the output of perf sched stats, which has sums", RECORD),
    (&["Event: ", " Total: ", " Max: "], "the output of trace-cmd profile, which has sums", EVENTS),
    (
        &["data recorded at offset="],
        "the messages of trace-cmd record",
        "give the file that it wrote (trace.dat)",
    ),
    (
        &["perf record: Captured and wrote"],
        "the messages of perf record",
        "give the file that it wrote (perf.data)",
    ),
    (&["Function", "Hit", "Time", "Avg", "s^2"], FTRACE_STAT, EVENTS),
    (&["Depth", "Size", "Location"], "the kernel's stack_trace, which has the deepest stack", RECORD),
    (&["class name", "con-bounces"], "/proc/lock_stat, which has sums of waits for locks", RECORD),
    (&["Latency Top version"], "/proc/latency_stats, which has sums of sleeps", RECORD),
    (&["Cause", "Maximum", "Percentage"], "the output of latencytop, which has sums of sleeps", RECORD),
    (&["voluntary_ctxt_switches:"], "/proc/PID/status, which has the state of one thread", RECORD),
    (&["target:          "], WAKEUPTIME, RECORD),
    (&["waker:           "], WAKEUPTIME, RECORD),
    (&["PCOMM", "RET", "ARGS"], "the output of bcc's execsnoop, which has programs that began", RECORD),
    (&["SYSCALL ", "COUNT"], "a table of bcc's syscount, which has sums of system calls", RECORD),
    (&["COMM", "DISK", "LAT(ms)"], BLOCK, RECORD),
    (&["COMM", "LAT(ms)"], LATENCY_OF_CALLS, RECORD),
    (&["COMM", "LATms"], LATENCY_OF_CALLS, RECORD),
    (&["\"prev_pid\"", "\"next_pid\""], "a list of switches in records of another program", EVENTS),
    (
        &["runq_latency"],
        "a list of records of another program, which have latencies, and not what ran meanwhile",
        EVENTS,
    ),
    (
        &["\"throttled_periods\""],
        "a table of a container's statistics: how often its quota held its threads back",
        RECORD,
    ),
    (&["container_cpu_cfs_"], "a list of metrics of containers: how often a quota held threads back", RECORD),
    (&["CONTAINER", "CPU %", "MEM"], SYSTEM, RECORD),
    (&["NAME", "CPU(cores)", "MEMORY"], SYSTEM, RECORD),
    (&["Device", "r/s", "w/s"], BLOCK, RECORD),
    (&["ioping statistics"], BLOCK, RECORD),
    (&["Reads Queued:"], BLOCK, RECORD),
    (&["runq-sz", "plist-sz"], SYSTEM, RECORD),
    (&["total-cpu-usage"], SYSTEM, RECORD),
    (&["ATOP - "], SYSTEM, RECORD),
    (&["PowerTOP "], SYSTEM, RECORD),
    (&["USER", "PID", "%CPU", "%MEM", "VSZ"], "the output of ps", RECORD),
    (&["PID USER", "VIRT", "RES"], "the output of top", RECORD),
    (&["|Mperf", "C0"], SYSTEM, RECORD),
    (&["numa_hit", "numa_miss"], MEMORY, RECORD),
    (&["Memory Latency Checker"], MEMORY, MEASURE),
    (&["Num round trips per samples"], MEMORY, MEASURE),
    (&["Context switching - times in microseconds"], BENCHMARK, MEASURE),
    (&["Latency (ms):"], BENCHMARK, MEASURE),
    (&["Latency Distribution"], NETWORK, RECORD),
    (
        &["Max latency so far:"],
        "the output of redis-cli --intrinsic-latency, which has the longest pauses of a loop",
        MEASURE,
    ),
    (&["sockperf: "], NETWORK, RECORD),
    (&["[ ID] Interval", "Transfer"], NETWORK, RECORD),
    (&["t_min[usec]", "t_max[usec]"], NETWORK, RECORD),
    (&["Trans.", "Rate", "per sec"], NETWORK, RECORD),
    (&["Path delay: min "], ISOCHRON, RECORD),
    (&["Wakeup to HW TX timestamp"], ISOCHRON, RECORD),
    (&[" size ", " mean ", "us min ", " 50% ", " 90% "], DDSPERF, RECORD),
    (&["T_experiment,"], "a log of performance_test, which has latencies of messages", RECORD),
    (&["average rate: "], ROS, RECORD),
    (&["average delay: "], ROS, RECORD),
    (&["(latency/us) min:"], "the output of NuttX's timerjitter, which has no samples", MEASURE),
    (&["Inst_Min", "Inst_jitter"], JITTER, MEASURE),
    (&[": last ", " worst ", " avg ", "(N = "], ZEPHYR_WORK, MEASURE),
    (&[".ctx.k_to_k"], ZEPHYR, MEASURE),
    (&["Starting PI Stress Test"], "the output of pi_stress, which has no latencies", MEASURE),
    (&["rt_migrate_test"], "the output of rt-migrate-test, which has no latencies of timers", MEASURE),
    (&["RTH|", "ovl max"], "the output of RTAI's latency test", MEASURE),
    (&["RTH|", "jit max"], "the output of RTAI's latency test", MEASURE),
    (&["Unexpected realtime delay"], LINUXCNC, RECORD),
    (&["Unexcepted realtime delay"], LINUXCNC, RECORD),
    (&[" s32 ", ".tmax"], HAL, RECORD),
    (&["SCHED ", "ms: gomaxprocs="], "a trace of Go's own scheduler, which has counts", RECORD),
    (&["[gc", "Pause "], GARBAGE, RECORD),
    (&["[GC (", " secs]"], GARBAGE, RECORD),
    (&["Total time for which application threads were stopped"], GARBAGE, RECORD),
    (&["ighest measured interrupt to process latency"], "a report of LatencyMon, of Windows", MEASURE),
    (&["kernel.sched_", " = "], SETTINGS, CHECK),
    (&["kernel/sched_rt_runtime_us"], SETTINGS, CHECK),
    (&["Available idle states:"], SETTINGS, CHECK),
    (&["analyzing CPU "], SETTINGS, CHECK),
    (&["Thread(s) per core:"], SETTINGS, CHECK),
    (&["Current active profile:"], SETTINGS, CHECK),
    (&["SCHED_FIFO min/max priority"], SETTINGS, CHECK),
    (&["current affinity mask:"], SETTINGS, CHECK),
    (&["current affinity list:"], SETTINGS, CHECK),
    (&["real-time priority", "(-r)"], SETTINGS, CHECK),
    (&["GRUB_CMDLINE_LINUX"], SETTINGS, CHECK),
    (&["policy: ", "loadavg: "], CYCLICTEST_HEAD, MEASURE),
];

/// Lines that stand above or beside many outputs.
const GUESSES: [Row; 7] = [
    (&["Attaching ", " probe"], "the output of a script of bpftrace", RECORD),
    (&["@[", "]: "], "counts or stacks of a script of bpftrace", RECORD),
    (&["load average:"], SYSTEM, RECORD),
    // The kernel's log has its command line as well.
    (&["BOOT_IMAGE=", "root="], SETTINGS, CHECK),
    (&["CONFIG_PREEMPT", "=y"], SETTINGS, CHECK),
    (&["CONFIG_HZ", "="], SETTINGS, CHECK),
    (&["Linux ", " SMP ", "GNU/Linux"], "the version of a kernel, and no trace", CHECK),
];

/// `1234 22:03:51 futex(0xc000514148, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.51>`. The name of any other function with a result stands in
/// mails and in the output of tests, too: `driver_open() = -EINVAL`.
fn is_system_call(line: &str) -> bool {
    let Some((call, result)) = line.rsplit_once(") ").filter(|(_, rest)| rest.trim_start().starts_with("= "))
    else {
        return line.ends_with("<unfinished ...>") || line.contains("<... ") && line.contains(" resumed>");
    };
    let name = call.split_once('(').map_or("", |(name, _)| name.rsplit(' ').next().unwrap_or(""));
    let value = result.trim_start().trim_start_matches("= ");
    let is_name = || {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && (syscalls::is_known(name) || value.ends_with('>') && value.contains(" <"))
    };
    let number = value.strip_prefix('-').unwrap_or(value);
    (number.starts_with(|first: char| first.is_ascii_digit()) || value.starts_with('?'))
        && !line.contains(';')
        && name.len() > 2
        && is_name()
}

/// `"online_cpus": 2,`
fn is_json(line: &str) -> bool {
    let line = line.trim();
    let member = line.strip_prefix(['{', '[']).unwrap_or(line).trim_start().strip_prefix('"');
    member
        .and_then(|name| name.split_once("\":"))
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains('"'))
}

/// `worker_thread+0x24c/0x380`, or `[<ffffffff8168c889>] schedule+0x29/0x70`, alone in its line.
pub(super) fn is_frame(line: &str) -> bool {
    let last = line.split_whitespace().take(4).filter(|word| word.contains("+0x")).last();
    let is_offset = |text: &str| {
        text.split('/').all(|part| {
            let digits = part.trim_start_matches("0x");
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    last.and_then(|word| word.split_once("+0x")).is_some_and(|(name, offset)| {
        !name.is_empty() && !name.contains(['=', ':', '(']) && is_offset(offset)
    })
}

/// `| CPU | min | avg | max |`
fn is_of_markdown(line: &str) -> bool {
    let line = line.trim();
    let cells = || line.trim_matches('|').split('|').map(str::trim);
    let of_maximum = |cell: &str| {
        let cell = cell.to_ascii_lowercase();
        cell.starts_with("max") || cell.starts_with("worst")
    };
    line.starts_with('|') && line.ends_with('|') && cells().count() > 1 && cells().any(of_maximum)
}

#[cfg(test)]
mod tests {
    use super::{guessed, is_frame, named};

    #[test]
    fn a_line_of_each_names_it() {
        let cases = [
            ("% time     seconds  usecs/call     calls    errors syscall", "strace"),
            ("10:20:30 futex(0x7f01, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.250000>", "strace"),
            ("[pid  12] read(3,  <unfinished ...>", "strace"),
            ("fstat64(3, {st_mode=S_IFREG|0644, ...}) = 0", "strace"),
            ("read(3, \"\", 16) = -1 EAGAIN (Resource temporarily unavailable)", "strace"),
            ("newcall(3)            = 0 <0.000012>", "strace"),
            ("     1.250 ( 0.010 ms): app/12 futex(uaddr: 0x7f01, op: WAIT) = 0", "perf trace"),
            (
                "   syscall            calls  errors  total       min       avg       max       stddev",
                "perf trace",
            ),
            (" contended   total wait     max wait     avg wait         type   caller", "perf lock"),
            ("sched_goidle                      :        12  (    40.00% )", "perf sched stats"),
            ("CPU0 data recorded at offset=0x1e9000", "trace-cmd record"),
            ("    target:          app", "wakeuptime"),
            ("{\"cpu\": 1, \"prev_pid\": 3, \"next_pid\": 4}", "switches"),
            ("    \"throttled_periods\": 12,", "container"),
            ("container_cpu_cfs_throttled_periods_total{pod=\"a\"} 12", "containers"),
            ("Device            r/s     w/s     rkB/s", "storage"),
            ("Max latency so far: 12 microseconds.", "redis-cli"),
            ("Path delay: min 10 max 20 mean 15.0 stddev 1.0", "isochron"),
            ("  (latency/us) min: 12, avg: 20, max 40", "timerjitter"),
            ("   Inst_Min   Inst_Max   Inst_jitter last_Exec", "jitter"),
            ("work1: last   149 worst    748 avg     0 (N = 52000)", "Zephyr"),
            ("[9] 5.0  host:12 size 12 mean 4.1us min 3.9us 50% 4.0us 90% 4.4us max 9.9us cnt 5", "ddsperf"),
            ("3: Unexpected realtime delay on RT thread 1", "LinuxCNC"),
            ("   5  s32   RW          120  servo.read.tmax", "HAL"),
            ("[1.2s][info][gc] GC(3) Pause Young (Normal) 24M->4M 3.1ms", "garbage"),
            ("kernel.sched_rt_runtime_us = 950000", "settings"),
        ];
        for (line, name) in cases {
            let (what, advice) = named(line).unwrap_or_else(|| panic!("{line}"));
            assert!(what.contains(name) && !advice.is_empty(), "{line}: {what}");
        }
    }

    #[test]
    fn a_guess_needs_little() {
        let cases = [
            ("        \"online_cpus\": 2,", "JSON"),
            ("| CPU | Min (us) | Max (us) |", "Markdown"),
            ("Attaching 3 probes...", "bpftrace"),
            ("Preemption configuration: CONFIG_PREEMPT__LL=y (low-latency desktop)", "settings"),
        ];
        for (line, name) in cases {
            let (what, _) = guessed(line).unwrap_or_else(|| panic!("{line}"));
            assert!(what.contains(name), "{line}: {what}");
        }
    }

    #[test]
    fn a_frame_stands_alone_in_its_line() {
        for line in ["  worker_thread+0x24c/0x380", "[   12.5]  [<ffffffff8168c889>] mutex_lock+0x29/0x70"] {
            assert!(is_frame(line), "{line}");
        }
        assert!(!is_frame("see \"Threads\": it says so, or a+0x12 is the offset"));
    }

    #[test]
    fn prose_and_code_are_neither() {
        for line in [
            "I ran strace on it, and f(x) = 3 holds.",
            "    ret = futex(a, b) = c;",
            "    driver_open() = -EINVAL",
            "test_add(1, 2) = 3",
            "open(path) = -ENOENT",
            "The time that the calls took is in seconds.",
            "see \"Threads\": it says so, or a+0x12 is the offset",
            "| this is quoted |",
            "The target: to be below 100 us at max.",
        ] {
            assert_eq!(named(line), None, "{line}");
            assert_eq!(guessed(line), None, "{line}");
        }
    }
}
