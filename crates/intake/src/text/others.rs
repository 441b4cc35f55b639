//! Files of the kernel and logs of programs about what is late: they have no events, but each has a name.

use super::fields;
use super::known::{MEASURE, RECORD, Row, by_words};

/// What the line shows the text to be, and what to give instead.
pub(super) fn named(line: &str) -> Option<(&'static str, &'static str)> {
    by_words(&OTHERS, line)
        .or_else(|| is_sum(line).then_some((CPU_STAT, RECORD)))
        .or_else(|| is_softnet(line).then_some((SOFTNET, RECORD)))
        .or_else(|| is_schedstat(line).then_some((SCHEDSTAT, RECORD)))
}

const PS: &str =
    "`whylate ps` shows threads, and what is unusual of them; to see why one is late, `whylate record`";

const PTP: &str = "a log of linuxptp, which has offsets of clocks, and no latency of a thread";
const ETHERCAT: &str = "a log of the EtherCAT master: datagrams came back late or not at all";
pub(super) const JACK: &str = "a log of JACK: a cycle of audio was not done in time (xrun)";
const ALSA: &str = "a message of ALSA: a buffer of audio was not filled or emptied in time (xrun)";
const PIPEWIRE: &str = "a log of PipeWire: a cycle of audio was not done in time (xrun)";
const STALLD: &str = "a log of stalld: a thread was runnable, and did not run for seconds";
const RTTEST: &str = "the statistics of ROS 2's rttest, without its samples";
const SCHED_DEBUG: &str =
    "the kernel's debug file of the scheduler, which has sums and the state of one instant";
const PROC_SCHED: &str = "/proc/PID/sched, which has sums of one thread";
const SCHEDSTAT: &str = "/proc/schedstat, which has sums";
const CPU_STAT: &str = "the file cpu.stat of a cgroup, which has sums: how often its quota held its threads back (nr_throttled), and for how long";
const PRESSURE: &str =
    "the content of pressure files (PSI), which have shares of time in which threads waited";
const SOFTNET: &str = "/proc/net/softnet_stat, which has sums";
const INTERRUPTS: &str = "rows of /proc/interrupts, which has counts, and no times";
const TIMERS: &str = "/proc/timer_list, which has the timers of one instant";
const LTTNG: &str = "a report of lttng-analyses, which has durations, and not what ran meanwhile";
const PERF_STAT: &str = "the output of perf stat, which has counts";
const PERF_REPORT: &str = "a report of perf, which has shares of CPU time, and no instants";
const FIO: &str = "a report of fio, which has latencies of storage, and none of a thread";
const PING: &str = "the output of ping, which has latencies of a network, and none of a thread";
const HACKBENCH: &str = "the output of hackbench, which has a total time";
const LINUXCNC: &str = "the table of LinuxCNC's latency-test, which has maxima, and no samples";
const HICCUPS: &str = "the table of hiccups, which has percentiles and maxima, and no samples";
const RT_APP: &str = "a log of rt-app, which has latencies (wu_lat), and not what ran meanwhile";
const RTLA: &str = "a table of rtla of which no row can be read: its rows are broken, or cut";
const ROWS: &str = "give it as rtla prints it, each row in a line";

/// By words that a line has; the first that fits.
const OTHERS: [Row; 56] = [
    (&["ptp4l["], PTP, RECORD),
    (&["phc2sys["], PTP, RECORD),
    (&["ts2phc["], PTP, RECORD),
    (&["EtherCAT ", "UNMATCHED"], ETHERCAT, RECORD),
    (&["EtherCAT ", "TIMED OUT"], ETHERCAT, RECORD),
    (&["EtherCAT ", "SKIPPED"], ETHERCAT, RECORD),
    (&["JackEngine::XRun"], JACK, RECORD),
    (&["JackAudioDriver::Process"], JACK, RECORD),
    (&["XRUN callback"], JACK, RECORD),
    (&["usecs exceeds estimated spare time"], JACK, RECORD),
    (&["Xruns in ", " cycles"], JACK, RECORD),
    (&["alsa_pcm: xrun of at least"], JACK, RECORD),
    (&["subgraph starting at ", " timed out"], JACK, RECORD),
    (&["underrun!!! (at least"], ALSA, RECORD),
    (&["overrun!!! (at least"], ALSA, RECORD),
    (&["pw.node:", "xrun"], PIPEWIRE, RECORD),
    (&["spa.alsa", "xrun"], PIPEWIRE, RECORD),
    (&[" starved on CPU ", " seconds"], STALLD, RECORD),
    (&["rttest statistics"], RTTEST, RECORD),
    (&["Sched Debug Version"], SCHED_DEBUG, RECORD),
    (&[".rt_throttled "], SCHED_DEBUG, RECORD),
    (&["cfs_rq["], SCHED_DEBUG, RECORD),
    (&["rt_rq["], SCHED_DEBUG, RECORD),
    (&[".nr_spread_over "], SCHED_DEBUG, RECORD),
    (&[".sched_goidle "], SCHED_DEBUG, RECORD),
    (&["tree-key", "exec-runtime"], SCHED_DEBUG, RECORD),
    (&["se.exec_start "], PROC_SCHED, RECORD),
    (&["se.sum_exec_runtime "], PROC_SCHED, RECORD),
    (&["nr_involuntary_switches "], PROC_SCHED, RECORD),
    (&["statistics.wait_max "], PROC_SCHED, RECORD),
    (&["LOC:", "Local timer interrupts"], INTERRUPTS, RECORD),
    (&["RES:", "Rescheduling interrupts"], INTERRUPTS, RECORD),
    (&["CAL:", "Function call interrupts"], INTERRUPTS, RECORD),
    (&["TLB:", "TLB shootdowns"], INTERRUPTS, RECORD),
    (&["Timer List Version"], TIMERS, RECORD),
    (&["some avg10=", "avg60="], PRESSURE, RECORD),
    (&["full avg10=", "avg60="], PRESSURE, RECORD),
    (
        &["Timerange: [", ", "],
        LTTNG,
        "give the trace itself, as `babeltrace2 DIRECTORY > trace.txt` prints it",
    ),
    (&["%Cpu(s):", " st"], "the output of top", RECORD),
    (&["procs -", "memory-", "swap-"], "the output of vmstat", RECORD),
    (&["%usr", "%sys", "%idle"], "the output of mpstat", RECORD),
    (&["cswch/s", "nvcswch/s"], "the output of pidstat", RECORD),
    (&["Busy%", "Bzy_MHz"], "the output of turbostat", RECORD),
    (&["%guest", "%wait", "%CPU"], "the output of pidstat", RECORD),
    (&["SCHED_", "rtpri", "affinity"], "the output of tuna", PS),
    (&["PID", "RTPRIO"], "the output of ps", PS),
    (&["current scheduling policy:"], "the output of chrt", PS),
    (&["Performance counter stats for"], PERF_STAT, RECORD),
    (&["# Overhead ", "Command"], PERF_REPORT, RECORD),
    (&["clat percentiles ("], FIO, RECORD),
    (&["rtt min/avg/max/mdev"], PING, RECORD),
    (&["Running in ", " mode with ", " groups using "], HACKBENCH, MEASURE),
    (&["Max Interval", "Max Jitter"], LINUXCNC, MEASURE),
    (&["pct99_ns", "max_ns"], HICCUPS, MEASURE),
    (&["wu_lat", "c_period"], RT_APP, RECORD),
    (&["Operating System Noise"], RTLA, ROWS),
];

/// `nr_throttled 137`
fn is_sum(line: &str) -> bool {
    const SUMS: [&str; 5] = ["nr_periods", "nr_throttled", "throttled_time", "throttled_usec", "usage_usec"];
    let mut words = line.trim_start_matches('#').split_whitespace();
    words.next().is_some_and(|name| SUMS.contains(&name)) && words.next().and_then(fields::digits).is_some()
}

/// `0004a2c1 00000000 00000012 ...`: a row for each CPU, of at least nine numbers of eight digits.
fn is_softnet(line: &str) -> bool {
    let is_number = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = line.split_whitespace();
    words.clone().count() >= 9 && words.all(is_number)
}

/// `domain0 00000003 183 147 27 ...`: a row for each scheduling domain.
fn is_schedstat(line: &str) -> bool {
    let is_number = |word: &str| fields::digits(word).is_some();
    let mut words = line.split_whitespace();
    let is_domain = words.next().and_then(|word| word.strip_prefix("domain")).is_some_and(is_number);
    is_domain && words.next().is_some() && words.clone().count() >= 20 && words.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_line_of_each_names_it() {
        let cases = [
            ("ptp4l[31.204]: rms   11 max   17 freq  -1200 +/-   6 delay   301 +/-   0", "linuxptp"),
            ("> phc2sys[9.5]: eth1 sys offset      -88 s2 freq   +410 delay   1190", "linuxptp"),
            ("[   70.5] EtherCAT WARNING 0: 3 datagrams UNMATCHED!", "EtherCAT master"),
            ("Mon Jan  1 10:00:00 2024: ERROR: JackEngine::XRun: client = synth was not finished", "JACK"),
            ("**** alsa_pcm: xrun of at least 1.250 msecs", "JACK"),
            ("overrun!!! (at least 5.120 ms long)", "ALSA"),
            ("pipewire[77]: pw.node: (synth-40) graph xrun (2 suppressed)", "PipeWire"),
            ("[kworker/2:1-204] starved on CPU 2 for 31 seconds", "stalld"),
            ("rttest statistics:", "rttest"),
            ("> rt_rq[3]:/", "debug file of the scheduler"),
            ("  .rt_throttled                  : 0", "debug file of the scheduler"),
            ("se.sum_exec_runtime                          :         12.5", "/proc/PID/sched"),
            (
                "domain0 00000003 183 147 27 10 9 0 0 147 17 16 1 5 0 0 0 16 12 11 1 3 0 0 0 0",
                "/proc/schedstat",
            ),
            ("    pid SCHED_ rtpri affinity voluntary nonvoluntary             cmd", "tuna"),
            ("    PID     TID CLS RTPRIO  NI PSR COMMAND", "ps"),
            ("pid 77's current scheduling policy: SCHED_FIFO", "chrt"),
            ("10:00:01  UID  PID  %usr %system  %guest  %wait  %CPU  CPU  Command", "pidstat"),
            ("0001f2a0 00000000 00000003 00000000 00000000 00000000 00000000 00000000 00000000", "softnet"),
            (" RES:       2204       1890   Rescheduling interrupts", "/proc/interrupts"),
            ("Timerange: [2024-01-02 03:04:05.0, 2024-01-02 03:04:06.0]", "lttng-analyses"),
            ("%Cpu(s):  1.0 us,  0.5 sy,  0.0 ni, 98.0 id,  0.0 wa,  0.2 hi,  0.3 si,  0.0 st", "top"),
            ("procs -----------memory---------- ---swap-- -----io----", "vmstat"),
            (
                "10:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle",
                "mpstat",
            ),
            ("nr_throttled 137", "cpu.stat"),
            ("# throttled_usec 5678    # time held back", "cpu.stat"),
            ("some avg10=2.93 avg60=3.17 avg300=3.15 total=94628", "pressure"),
            ("Core CPU Avg_MHz Busy% Bzy_MHz TSC_MHz IRQ SMI", "turbostat"),
            (" Performance counter stats for 'sleep 1':", "perf stat"),
            (
                "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)",
                "hackbench",
            ),
            ("cpu  threshold_ns  hiccups  pct99_ns  pct999_ns  max_ns", "hiccups"),
            ("             Operating System Noise", "rtla"),
        ];
        for (line, name) in cases {
            let (what, advice) = named(line).unwrap_or_else(|| panic!("{line}"));
            assert!(what.contains(name) && !advice.is_empty(), "{line}: {what}");
        }
    }

    #[test]
    fn prose_is_none_of_them() {
        for line in [
            "I looked at /proc/interrupts, at top and at vmstat: nothing.",
            "deadbeef cafe0000 00000001",
            "The thread starved on CPU 2.",
            "It took 30 us to softirq: late.",
        ] {
            assert_eq!(named(line), None, "{line}");
        }
    }
}
