//! A file that cannot be opened is reported with the reason, and what to do.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use whylate_events::KindSet;
use whylate_intake::{OpenError, from_reader, open};

fn error_of(path: &Path) -> (OpenError, String) {
    let error = open(path, KindSet::ALL).err().unwrap_or_else(|| panic!("{} was opened", path.display()));
    let text = error.to_string();
    (error, text)
}

fn refused(content: &[u8]) -> (OpenError, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    // The name must not matter.
    let path = directory.path().join("trace.dat");
    fs::write(&path, content).expect("written");
    let from_file = error_of(&path);
    let piped = from_reader(Cursor::new(content.to_vec()), "standard input", KindSet::ALL)
        .err()
        .map(|error| error.to_string());
    assert_eq!(piped, Some(from_file.1.replace(&path.display().to_string(), "standard input")));
    from_file
}

#[test]
fn paths_that_hold_no_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (error, text) = error_of(directory.path());
    assert!(matches!(error, OpenError::Directory { .. }), "{error:?}");
    assert!(text.contains("is a directory without per_cpu/cpu*/trace_pipe_raw; give a trace file"), "{text}");
    let (error, text) = error_of(&directory.path().join("nowhere.dat"));
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
    assert!(text.ends_with("nowhere.dat: no such file"), "{text}");
}

#[test]
fn contents_that_hold_no_trace() {
    type Check = fn(&OpenError) -> bool;
    let cases: [(&[u8], Check, &str); 65] = [
        (b"", |e| matches!(e, OpenError::Empty { .. }), "is empty"),
        (
            b"\x1f\x8b\x08\0\0\0",
            |e| matches!(e, OpenError::Unpack { .. }),
            "gzip-compressed and cannot be decompressed: the gzip stream is cut off",
        ),
        (b"\x28\xb5\x2f\xfdabc", |e| matches!(e, OpenError::Unpack { .. }), "zstd-compressed and cannot"),
        (
            b"\xfd7zXZ\0\0\x04",
            |e| matches!(e, OpenError::NotRead { .. }),
            "xz-compressed; decompress it first: unxz",
        ),
        (b"BZh91AY&SY", |e| matches!(e, OpenError::NotRead { .. }), "bunzip2"),
        (
            b"PERFILE2\x68\0\0",
            |e| matches!(e, OpenError::Perf { .. }),
            "perf.data that ends inside its header",
        ),
        (
            b"\x0a\x02\x18\x01\x0a\x04\x18\x01\x50\x02",
            |e| matches!(e, OpenError::Perfetto { .. }),
            "Perfetto trace without ftrace events; record with",
        ),
        (
            b"\x01\x02\0\x03\0\xff\xfe",
            |e| matches!(e, OpenError::Binary { .. }),
            "not a trace of a supported format; whylate reads trace.dat",
        ),
        (
            b"\xff\xfe\xfd\n\x80\x81",
            |e| matches!(e, OpenError::Binary { .. }),
            "not a trace of a supported format",
        ),
        (b"\0\0\0\0\0\0\0\0", |e| matches!(e, OpenError::Binary { .. }), "not a trace of a supported format"),
        (
            b"# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n#\n",
            |e| matches!(e, OpenError::HeaderOnly { .. }),
            "has the header of the tracer nop and no events below it: was tracing on",
        ),
        (
            "# tracer: irqsoff\n#\n# Latenz: 90 Mikrosekunden\n\n   ls-77   3d...   0µsek+ : lock <-queue\n".as_bytes(),
            |e| matches!(e, OpenError::HeaderOnly { strange_row: Some(5), .. }),
            "no events below it: the rows below it are in no known form, the first is line 5; give the text",
        ),
        (
            b"Dear all,\nsomething is late.\n",
            |e| matches!(e, OpenError::NoEvents { lines: 2, .. }),
            "no trace event line found in its 2 lines; whylate reads trace.dat",
        ),
        (
            b"           time    cpu  task name                       wait time  sch delay   run time\n\
              \x20 12.880093 [0003]  ksoftirqd/3[28]                     0.000      0.007\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is a table of perf sched timehist without rows that can be read; give whole rows",
        ),
        (
            b"          comm  parent   sched-in     run-time    min-run     avg-run     max-run  stddev  migrations\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of perf sched timehist --summary",
        ),
        (
            b"  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    |\n",
            |e| matches!(e, OpenError::Table { .. }),
            "give the recording itself (perf.data)",
        ),
        (
            b"                      *A0           991962.879971 secs A0 => perf:16999\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of perf sched map",
        ),
        (
            b"{ pid:       2104, prio:         19, lat:         41 } hitcount:          2\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of a histogram trigger of the kernel",
        ),
        (
            b"Wakeup Latencies percentiles (usec) runtime 10 (s) (3021 total samples)\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of schbench",
        ),
        (
            b"TIME     STAGE                SOFTIRQ  LAT(us)        CPU    COMM\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is the output of bcc's softirqslower",
        ),
        (
            b"# perf sched latency\n# Task                  |   Runtime ms  | Switches | Average delay ms |\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of perf sched latency",
        ),
        (
            b"HARDIRQ                    TOTAL_usecs\neth0                             11441\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of bcc's hardirqs",
        ),
        (
            b"# tracer: irqsoff\n# latency: 351 us, #12/12, CPU#0 | (M:preempt VP:0, KP:0)\n#  => started at: lock_it\n",
            |e| matches!(e, OpenError::HeaderOnly { latency: Some(_), .. }),
            "its header reports 351.0 us on CPU 0 from lock_it, and no line below it",
        ),
        (
            b"Attaching 2 probes...\nthen nothing\n",
            |e| matches!(e, OpenError::LooksLike { lines: 2, .. }),
            "no trace event line found in its 2 lines; it looks like the output of a script of bpftrace; record",
        ),
        (
            b"  worker+0x12/0x40\n  nr_throttled 12\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is the file cpu.stat of a cgroup",
        ),
        (
            b"{\"count\": 3}\n[ 9.1] sched_ext: x: app[7] failed to run for 5.010s\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "means that app (7) was runnable and did not run for 5.010 s, so that the BPF scheduler (sched_ext) was turned off",
        ),
        (
            b"hello\n[  161.709260] sched: RT throttling activated\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "Its line 2 (\"sched: RT throttling activated\") means that real-time threads used up",
        ),
        (
            b"[  9.5] hrtimer: interrupt took 30211 ns\n[  9.6] hrtimer: interrupt took 30212 ns\n[ 70.1] watchdog: BUG: \
              soft lockup - CPU#1 stuck for 22s! [app:7]\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "Its line 1 (\"hrtimer: interrupt took 30211 ns\", the first of 2) means that the timer interrupt took 30.21 us, or the machine stood still in it. Line 3 (\"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\") means that CPU 1 did not run its watchdog for 22 s",
        ),
        (
            b"Subject: RT throttling activated\n\n> [   90.100001][    C0] sched: RT throttling activated\n> [   90.100001][    C0] sched: RT throttling \
              activated\n<4>[   90.100001] sched: RT throttling activated\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "Its line 3 (\"sched: RT throttling activated\") means",
        ),
        (
            b"[ 0.100000] a\n[ 0.100000] b\n[ 0.100001] c\n[ 0.100002] d\n[ 0.100003] e\n[ 0.100004] f\n[ 0.100005]  g+0x1/0x2\n[ 0.100006] h\n\
              [ 0.100007] i\n[ 0.100008] j\n",
            |e| matches!(e, OpenError::QuietKernelLog { lines: 10, .. }),
            "None of its 10 lines is a message about lateness",
        ),
        (
            b"[ 0.100000]  g+0x1/0x2\n[ 0.100001]  h+0x1/0x2\n",
            |e| matches!(e, OpenError::LooksLike { lines: 2, .. }),
            "it looks like call stacks",
        ),
        (
            b"(     audiod-86 |#0): new 32 us maximum-latency critical section.\n => started at timestamp 5046: <open_it+0x29/0x50>\n \
              =>   ended at timestamp 5078: <close_it+0x39/0x50>\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "32.00 us in audiod (86) on CPU 0, from open_it to close_it",
        ),
        (
            b"[   70.5] EtherCAT WARNING 0: 3 datagrams UNMATCHED!\n[   71.2] sched: RT throttling activated\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "means that real-time threads",
        ),
        (
            b"ptp4l[31.204]: rms   11 max   17 freq  -1200 +/-   6 delay   301 +/-   0\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is a log of linuxptp",
        ),
        (
            b"2023-01-02 03:04:05.1 app  7 d... [002] 31.500200: sched:sched_waking: comm=app pid=7 prio=49 target_cpu=002\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events in lines of an unknown form",
        ),
        (
            b"          Operating System Noise\nduration:   0 00:00:05 | time is in us\n 0 #4    4000\n99.1  2\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is a table of rtla of which no row can be read",
        ),
        (
            b" 31.500200:   app:7 [19] S ==> swapper/1:0 [120]\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is switches without the CPU in front of them",
        ),
        (
            b"Aug 14 18:31:12 host kernel: INFO: task worker:289 blocked\nfor more than 120 seconds.\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "means that worker (289) slept uninterruptibly",
        ),
        (
            b"so:\n\n[  52.100200] NOHZ tick-stop error: Non-RCU local softirq work\nis pending, handler #202!!!\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "Its line 3 (\"NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #202!!!\") means that the softirqs TIMER",
        ),
        (
            b"[  70.100000] watchdog: BUG: soft lockup - CPU#1 stuck for 23s!\n[swapper/1:0]\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "while its idle task had it",
        ),
        // A program that looks for messages has their words.
        (
            b"static const char *words[] = {\n\t\"soft lockup\",\n\tr\"RT throttling activated\",\n};\n",
            |e| matches!(e, OpenError::NoEvents { lines: 4, .. }),
            "no trace event line found",
        ),
        (
            b"log = [\n\t\"[   12.345678] sched: RT throttling activated\",\n]\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "means that real-time threads used up their share",
        ),
        (
            b"The \"RT throttling activated\" message is not in the log of this kernel.\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "is a text that mentions messages of the kernel, and no trace",
        ),
        // A line with a stamp of its own is not the rest of the line above it.
        (
            b"[   52.100200] INFO: task mill:71 blocked for more than 120 seconds.\n[   53.100200] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "blocked for more than 120 seconds.\") means that mill (71) slept uninterruptibly for more than 120 s, for a device or a lock (hung task). Line 2 (",
        ),
        (
            b"[    0.000000] Linux version 6.6\n[    0.000001] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sd\
              a1\n[    0.000002] a\n[    0.000003] b\n[    0.000004] c\n[    0.000005] d\n[    0.000006] e\n[    0.000007] f\n[    0.000008] g\n[    0.000009] h\n[    0.100000] k\n",
            |e| matches!(e, OpenError::QuietKernelLog { .. }),
            "is a log of the kernel, and no trace. None of its 11 lines is a message about lateness",
        ),
        (
            b"[    0.000000] rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.\n[    1.000000] other\n\
              [   60.000000] rcu: INFO: rcu_sched self-detected stall on CPU\n[   60.000001] rcu: \t3-....: (5249 ticks this GP) idle=1/1/0x4\n\
              [   60.000002] \t(t=5250 jiffies g=7 q=1)\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "CPU 3 gave RCU no quiescent state for 5250 jiffies (21.000 s) (RCU stall)",
        ),
        (
            b"BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet isolcpus=3\n",
            |e| matches!(e, OpenError::LooksLike { .. }),
            "a list of settings of a machine",
        ),
        (
            b"Jan  1 10:00:00 host kernel: [   52.100200] perf: interrupt took too\nlong (2512 > 2500), lowering kernel.perf_event_max_sample_rate\n",
            |e| matches!(e, OpenError::KernelLog { .. }),
            "the interrupts of perf took",
        ),
        (
            b" 72.267374: sched_switch: prev_comm=grep prev_pid=67 prev_prio=19 prev_state=S ==> next_comm=cat\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the thread and the CPU in front of them; give whole lines",
        ),
        (
            b"  app-7  [001] ... sched_switch:  app:7 [4] S ==> swapper/1:0 [120]\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the time in front of them",
        ),
        (
            b"app-7  31.500200: sched_switch: prev_comm=app prev_pid=7 prev_prio=19 prev_state=S ==> next_comm=b\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the CPU in front of them",
        ),
        (
            b"so:\n   71 [003]: sched_wakeup: pid=72 prio=120 success=1 target_cpu=003\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the time and the name of the thread in front of them",
        ),
        (
            b"sched_waking: comm=app pid=7 prio=49 target_cpu=003\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the thread, the CPU and the time in front of them",
        ),
        (
            b"TIME     COMM             TID           LAT(us)\n10:00:07 app 812 7500\n",
            |e| matches!(e, OpenError::Cases { .. }),
            "Known of it: the only delay in it is 7.50 ms (line 2: \"10:00:07 app 812 7500\"); record the scheduler",
        ),
        (
            b"cat trace # tracer: irqsoff # # irqsoff latency trace v1.1.5 on 6.1.0 # ------------------------------------------------------------- # \
latency: 72 us, #5/5, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0) # ----------------- # | task: app-7 (uid:0 nice:0 policy:0 rt_prio:0) # \
----------------- # => started at: lock_it # => ended at: unlock_it # # app-7 2d... 0us : lock_it <-caller\n",
            |e| matches!(e, OpenError::HeaderOnly { has_lost_breaks: true, .. }),
            "the line breaks of the text are gone; its header reports 72.00 us on CPU 2 in app-7 from lock_it to unlock_it; give the text with its",
        ),
        (
            b"# tracer: irqsoff\n# irqsoff latency trace v1.1.5 on 6.1.0\n# latency: 42 us, #4/4, CPU#3 | (M:preempt)\n# wakeup latency trace v1.1.5 \
on 6.1.0\n# latency: 78 us, #7/7, CPU#5 | (M:preempt)\n",
            |e| matches!(e, OpenError::HeaderOnly { .. }),
            "is not known; a further header, of the tracer wakeup, reports 78.00 us on CPU 5; give the text",
        ),
        (
            b" [003] 20.500100: sched_waking: comm=app pid=7 prio=49 target_cpu=003\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is events without the thread in front of the CPU and the time; give whole lines",
        ),
        (
            b"=====\n   rteval (v3.5) report\n-----\n   Test run: 2023-01-02 03:04:05\n",
            |e| matches!(e, OpenError::Table { .. }),
            "is a table of rteval",
        ),
        (
            b"hwlatdetect:  test duration 60 seconds\n   detector: tracer\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "without its result; give the report up to `Max Latency:`",
        ),
        (
            b"   COMMAND: app PID: 7 LATENCY: 12ms start_time: 10.5s\n",
            |e| matches!(e, OpenError::Cases { .. }),
            "is the output of trace-irqoff",
        ),
        (
            b"Unexpected realtime delay on task 1 with period 500000\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is a message of LinuxCNC",
        ),
        (
            b"[WARN] [1.5]: Overrun detected! The controller manager missed its desired rate of 100 Hz.\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is the log of ROS 2's controller_manager",
        ),
        (
            b"sched_switch: { cpu_id = 1 }, { prev_comm = \"swapper/1\", prev_tid = 0 }\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "is text of LTTng without the times",
        ),
        (
            b"preemption latency trace v1.1.1 on 2.6.10\n latency: 2208 us, entries: 3738 (3738)   |   [VP:0]\n",
            |e| matches!(e, OpenError::NotRead { .. }),
            "in the format of 2004 (v1.1.1",
        ),
        (
            b"\xc1\x1f\xfc\xc1\0\0\0\0",
            |e| matches!(e, OpenError::NotRead { .. }),
            "one stream of a trace in the Common Trace Format",
        ),
    ];
    for (content, check, expected) in cases {
        let (error, text) = refused(content);
        assert!(check(&error), "{error:?}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn what_could_be_read_is_named_in_full() {
    for content in [&b"Dear all,\nsomething is late.\n"[..], b"\x01\x02\0\x03"] {
        let (_, text) = refused(content);
        for format in [
            "trace.dat",
            "perf.data",
            "Perfetto",
            "tracefs `trace`",
            "trace-cmd report",
            "perf script",
            "rtla",
            "wakeup_rt",
            "timerlat",
            "osnoise",
            "hwlat",
            "gzip",
            "zstd",
            "trace_pipe_raw",
        ] {
            assert!(text.contains(format), "{format}: {text}");
        }
    }
}

#[test]
fn a_trace_dat_cut_in_its_header_is_told_from_its_content() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("notes.txt");
    fs::write(&path, b"\x17\x08\x44tracing6\0").expect("written");
    let (error, text) = error_of(&path);
    assert!(matches!(error, OpenError::TraceDat(_)), "{error:?}");
    assert!(text.contains("notes.txt"), "{text}");
}

#[test]
fn a_trace_whose_end_is_zeros_is_still_text() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("cut");
    fs::write(&path, b"a-1 [000] 1.5: x: y\nb-2 [000] 1.6: sched_sw\0\0\0\0").expect("written");
    let mut source = open(&path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    assert!(source.next_event().is_some());
}

/// LTTng's directories are nested.
#[test]
fn a_directory_in_the_common_trace_format_is_named_as_one() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let kernel = directory.path().join("ust/uid/0/64-bit");
    fs::create_dir_all(&kernel).expect("made");
    fs::write(kernel.join("metadata"), b"/* CTF 1.8 */\n").expect("written");
    let (error, text) = error_of(directory.path());
    assert!(matches!(error, OpenError::NotRead { .. }), "{error:?}");
    assert!(text.contains("is a trace in the Common Trace Format") && text.contains("babeltrace2"), "{text}");
    let (_, text) = error_of(&kernel.join("metadata"));
    assert!(text.contains("the description of a trace in the Common Trace Format"), "{text}");
    fs::write(kernel.join("metadata"), b"other").expect("written");
    assert!(matches!(error_of(directory.path()).0, OpenError::Directory { .. }));
}
