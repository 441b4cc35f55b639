//! What each tool writes, shortened, and what is understood of it.

mod endings;
mod kinds;
mod mails;
mod programs;
mod summaries;
mod units;

use super::*;
use proptest::prelude::*;
use whylate_base::{Cpu, Ns};

fn run(text: &str) -> Run {
    read(Path::new("a.txt"), text.as_bytes()).expect("a measurement")
}

const HISTOGRAM: &str = "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\t000000\n000017 000004\t000001\n\
    000018 000010\t000020\n# Total: 000000014 000000021\n# Min Latencies: 00017 00017\n# Avg Latencies: 00046 00018\n\
    # Max Latencies: 01026 00018\n# Histogram Overflows: 00002 00000\n# Histogram Overflow at cycle number:\n\
    # Thread 0: 00053 00112\n# Thread 1:\n";
const RTLA: &str = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:10:00\n\
    Index   IRQ-000   Thr-000   IRQ-003   Thr-003\n0        276489         0    206089         0\n\
    1           327     35487       149     30024\nover:         0         7         0         0\n\
    count:   276816     35494    206238     30024\nmin:          0         1         0         1\n\
    avg:          0         1         0         1\nmax:          1        31         1         1\n\
    ALL:        IRQ       Thr       Usr\ncount:   483054     65518         0\nmin:          0         1         -\n";
const OSLAT: &str = "oslat V 2.40\nTotal runtime: \t\t2 seconds\nCPU list: \t\t1,3\n\n        Core:\t 1 3\n\
    Counter Freq:\t 2298 2298 (Mhz)\n    001 (us):\t 786999 5\n    002 (us):\t 51 6\n\
    003 (us):\t 8 0 (including overflows)\n     Minimum:\t 1 1 (us)\n     Average:\t 1.001 1.500 (us)\n     Maximum:\t 410 2 (us)\n";
const JSON: &str = r#"{"file_version": 1, "cmdline:": "/usr/bin/cyclictest -q -m", "resolution_in_ns": 0,
    "sysinfo": {"release": "6.12-rt", "nodename": "host"},
    "thread": {"10": {"histogram": {"5": 1}, "cycles": 1, "min": 5, "max": 5, "avg": 5.0, "cpu": 3},
               "2": {"histogram": {"17": 18, "20": 2}, "cycles": 21, "min": 17, "max": 787, "avg": 38.73, "cpu": 0}}}"#;
const JITTERDEBUGGER: &str = r#"{"version": 3, "cpu": {"1": {"histogram": {"2": 9, "4": 1}, "count": 10, "min": 2, "max": 4, "avg": 2.20}}}"#;
const DATASET: &str = r#"{"format": {"name": "RT Dataset", "version": "1.0"}, "kernel": {"version": "6.1-rt"},
    "condition": {"load": "idle", "interval": 200}, "latency": {"granularity": "microseconds", "maxima": [2, 7],
    "cores": [[0, 1, 2, 3], [0, 3, 7, 0], [0, 0, 8, 1]]}}"#;

/// What loggers, editors and terminals put around the lines changes nothing.
#[test]
fn lines_with_something_around_them_are_read_as_they_are_without() {
    type Dress = fn(usize, &str) -> String;
    let dressings: [(&str, Dress); 6] = [
        ("a page", |_, line| format!("{line}<br>")),
        ("a terminal", |_, line| format!("\x1b[32m{line}\x1b[0m")),
        ("a logger", |_, line| format!("Nov 22 10:11:12 box logger[12]: {line}")),
        ("a container", |_, line| format!("2026-11-22T10:11:12.123456789Z {line}")),
        ("grep -n", |number, line| format!("{number}:{line}")),
        ("cat -n", |number, line| format!("{number:6}\t{line}")),
    ];
    for text in [HISTOGRAM, RTLA, OSLAT].into_iter().chain(programs::ALL) {
        for (by, dress) in dressings {
            let lines: Vec<String> = text.lines().enumerate().map(|(at, line)| dress(at + 1, line)).collect();
            assert_eq!(run(&lines.join("\n")), run(text), "{by}: {text}");
        }
    }
}

#[test]
fn a_histogram_of_cyclictest() {
    let run = run(HISTOGRAM);
    assert_eq!((run.label.as_str(), run.tool.as_str(), run.threads.len()), ("a.txt", "cyclictest", 2));
    let first = &run.threads[0].histogram;
    assert_eq!(
        (first.count(), first.overflow(), first.max(), first.min()),
        (16, 2, Some(Ns(1_026_000)), Some(Ns(17_000)))
    );
    assert_eq!(first.tail(0.25), Some(Ns(17_000)));
    assert_eq!(first.tail(0.9), None, "not known");
    assert_eq!(run.threads[1].histogram.max(), Some(Ns(18_000)));
    assert!(run.notes.iter().any(|note| note.contains("cpu_dma_latency")), "{:?}", run.notes);
    assert!(run.notes.iter().any(|note| note.starts_with("2 of 37 samples")), "{:?}", run.notes);
}

#[test]
fn its_last_column_is_a_sum_where_there_is_one() {
    let with_sum = "# Histogram\n000017 000004\t000001\t000005\n# Total: 000000004 000000001 000000005\n\
        # Min Latencies: 00017 00017\n# Avg Latencies: 00017 00017\n# Max Latencies: 00017 00017 00017\n";
    assert_eq!(run(with_sum).all().count(), 5);
}

#[test]
fn a_summary_of_cyclictest_has_no_percentiles() {
    let text = "# /dev/cpu_dma_latency set to 0us\n\
        T: 0 ( 9066) P:80 I:1000 C:     10 Min:     14 Act:   24 Avg:   34 Max:      99\n\
        T: 0 ( 9066) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744\n\
        T: 1 ( 9067) P:80 I:1500 C:   1262 Min:     21 Act:   26 Avg:   74 Max:   22027\n";
    let run = run(text);
    assert_eq!((run.threads.len(), run.interval), (2, Some(Ns::from_ms(1))));
    let all = run.all();
    assert_eq!(
        (all.count(), all.min(), all.max(), all.tail(0.5)),
        (3262, Some(Ns(14_000)), Some(Ns(22_027_000)), None)
    );
    assert!(run.notes[0].starts_with("only minimum"), "{:?}", run.notes);
}

#[test]
fn siblings_of_cyclictest_are_told_apart_by_their_columns() {
    let of = |text: &str| {
        let run = run(text);
        (run.tool.clone(), run.probe.clone(), run.all().max())
    };
    let us = |us| Some(Ns::from_us(us));
    assert_eq!(
        of("T: 0 (28672) P:80 C:   1441 Min:     12 Act:   35 Avg:   54 Max:     138\n"),
        ("signaltest".to_owned(), "ipc signal".to_owned(), us(138))
    );
    assert_eq!(
        of("T: 0 (29927) I:10000 C:    101 Min:      4 Act:   53 Avg:   19 Max:     227\n"),
        ("cyclicdeadline".to_owned(), "deadline".to_owned(), us(227))
    );
}

#[test]
fn each_sample_of_cyclictest() {
    let run = run(
        "Max CPUs = 2\n       0:       0:      21\n       0:       1:      20\n       1:       0:      90\n",
    );
    assert_eq!((run.threads.len(), run.all().count(), run.all().max()), (2, 3, Some(Ns(90_000))));
}

#[test]
fn histograms_of_rtla() {
    let run = run(RTLA);
    assert_eq!((run.probe.as_str(), run.elapsed), ("timerlat", Some(Ns::from_secs(600))));
    let names: Vec<&str> = run.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["CPU 0, interrupt", "CPU 0, thread", "CPU 3, interrupt", "CPU 3, thread"]);
    let thread = &run.threads[1].histogram;
    assert_eq!((thread.count(), thread.overflow(), thread.max()), (35_494, 7, Some(Ns(31_000))));
    assert_eq!(run.threads[3].cpu, Some(Cpu(3)));
}

#[test]
fn counts_of_oslat() {
    let run = run(OSLAT);
    assert_eq!((run.probe.as_str(), run.elapsed, run.threads.len()), ("busy", Some(Ns::from_secs(2)), 2));
    let first = &run.threads[0];
    assert_eq!(
        (first.cpu, first.histogram.overflow(), first.histogram.max()),
        (Some(Cpu(1)), 8, Some(Ns(410_000)))
    );
    assert_eq!(run.threads[1].histogram.count(), 11);
    // Its class 1 is from 0 to 1 us.
    assert_eq!((first.histogram.min(), first.histogram.tail(0.5)), (Some(Ns(0)), Some(Ns(0))));
}

#[test]
fn json_of_three_tools() {
    let cyclictest = run(JSON);
    let first = &cyclictest.threads[0];
    assert_eq!((first.cpu, first.histogram.count(), first.histogram.overflow()), (Some(Cpu(0)), 21, 1));
    assert_eq!(cyclictest.machine, [("kernel release".to_owned(), "6.12-rt".to_owned())], "no host name");
    assert_eq!(run(JITTERDEBUGGER).threads[0].histogram.mean(), Some(Ns(2_200)));
    let dataset = run(DATASET);
    assert_eq!(
        (dataset.threads.len(), dataset.all().count(), dataset.interval),
        (2, 20, Some(Ns::from_us(200)))
    );
}

/// The first list has the classes, the maxima have no entry for it; one is beyond the classes.
#[test]
fn the_first_list_of_a_dataset_is_its_axis() {
    let dataset = run(DATASET);
    let of = |at: usize| {
        let thread = &dataset.threads[at];
        (thread.name.as_str(), thread.histogram.count(), thread.histogram.overflow(), thread.histogram.max())
    };
    assert_eq!(of(0), ("CPU 0", 10, 0, Some(Ns(2_000))));
    // 9 are counted, and one that the maximum shows.
    assert_eq!(of(1), ("CPU 1", 10, 1, Some(Ns(7_000))));
    let told = DATASET.replace(
        r#""interval": 200"#,
        r#""interval": 200, "cycles": 12, "cyclictest": "cyclictest -a3,5 -q""#,
    );
    let told = run(&told);
    assert_eq!((told.threads[1].cpu, told.threads[1].histogram.overflow()), (Some(Cpu(5)), 3));
    assert!(told.notes.iter().any(|note| note.contains("of which 19 are in classes")), "{:?}", told.notes);
    let error = |text: String| read(Path::new("x"), text.as_bytes()).expect_err("no axis").to_string();
    assert!(error(DATASET.replace("[0, 1, 2, 3]", "[4, 1, 2, 3]")).contains("classes of all cores"));
    assert!(error(DATASET.replace("[0, 1, 2, 3]", "[0, 1, 2]")).contains("classes of all cores"));
}

#[test]
fn a_recording_that_holds_the_words_of_a_histogram_is_none() {
    let histogram = "@usecs:\n[8, 16)   134 |@@@@@@@@@@@@@@@@|\n";
    assert_eq!(log2::read(histogram).len(), 1);
    assert!(log2::read(&format!("\0tracing{histogram}")).is_empty());
}

/// Of two runs in one file the first is the worse one.
#[test]
fn no_run_in_a_file_is_passed_over() {
    let worst = |text: &str| {
        let run = run(text);
        let threads: Vec<&str> = run.threads.iter().map(|thread| thread.name.as_str()).collect();
        assert!(run.notes[0].starts_with("the file holds 2 runs of"), "{:?}", run.notes);
        assert!(run.notes[1].starts_with("the largest latency is "), "{:?}", run.notes);
        assert!(
            run.notes[1].contains(" in run 1, ") && run.notes[1].ends_with(" in run 2"),
            "{:?}",
            run.notes
        );
        assert!(
            threads[0].starts_with("run 1, ") && threads[threads.len() - 1].starts_with("run 2, "),
            "{threads:?}"
        );
        (run.threads.len(), run.all().max().expect("samples").0 / 1_000)
    };
    let summary = |id: u32, max: u32| {
        format!(
            "T: 0 ({id:5}) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:   {max:5}\n\
             T: 1 ({:5}) P:80 I:1500 C:   1262 Min:     21 Act:   26 Avg:   74 Max:      80\n",
            id + 1
        )
    };
    assert_eq!(worst(&(summary(70, 744) + "\nanother one:\n" + &summary(80, 90))), (4, 744));
    // Of the same threads: the second one begins to count anew.
    assert_eq!(worst(&(summary(70, 744) + &summary(70, 90).replace("2000", "1500"))), (4, 744));
    let quiet = HISTOGRAM.replace("01026", "00090").replace("00002 00000", "00000 00000");
    assert_eq!(worst(&(HISTOGRAM.to_owned() + &quiet)), (4, 1_026));
    assert_eq!(worst(&(HISTOGRAM.to_owned() + &summary(70, 90))), (4, 1_026));
    assert_eq!(worst(&(summary(70, 2_000) + HISTOGRAM)), (4, 2_000));
    assert_eq!(worst(&(OSLAT.to_owned() + &OSLAT.replace("410", "99"))), (4, 410));
    assert_eq!(worst(&(RTLA.to_owned() + &RTLA.replace("31 ", "19 "))), (8, 31));
    assert_eq!(worst(&(JSON.to_owned() + &JSON.replace("787", "90"))), (4, 787));
    let samples = "       0:       0:      21\n       0:       1:     200\n";
    assert_eq!(worst(&(samples.to_owned() + &samples.replace("200", "100"))), (2, 200));
    let mixed =
        read(Path::new("x"), (summary(70, 744) + OSLAT).as_bytes()).expect_err("two tools").to_string();
    assert!(mixed.contains("cyclictest (timer) and oslat (busy)"), "{mixed}");
}

/// A terminal shows the lines of running threads over and over.
#[test]
fn lines_that_are_written_over_are_of_one_run() {
    let line = |count: u32, max: u32| {
        format!("T: 0 ( 9066) P:80 I:1000 C: {count:6} Min:     14 Act:   24 Avg:   34 Max:   {max:5}")
    };
    for between in ["\n", "\r", "\r\n\x1b[1A"] {
        let text = [line(10, 99), line(500, 99), line(2_000, 744)].join(between);
        assert_eq!((run(&text).threads.len(), run(&text).all().count()), (1, 2_000), "{between:?}");
    }
    let cut = format!("{}\nT: 0 ( 9066) P:80 I:1000 C:   20", line(2_000, 744));
    assert_eq!(run(&cut).all().max(), Some(Ns(744_000)), "the last line of a stream may be cut");
    let error = |text: &str| read(Path::new("x"), text.as_bytes()).expect_err("a thread is lost").to_string();
    let lost = format!("{}\nT: 1 ( 9067) P:80 I:1500 C:   2000 Min:     14 Act:   24 Avg:", line(2_000, 744));
    assert!(error(&lost).contains("the line of thread 1"), "{}", error(&lost));
    assert!(error(&line(2_000, 744).replace("  744", "  -12")).contains("no maximum"));
    let idle = format!(
        "{}\nT: 1 ( 9067) P:80 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0",
        line(9, 90)
    );
    assert!(
        run(&idle).notes.iter().any(|note| note.starts_with("thread 1 took no sample")),
        "{:?}",
        run(&idle).notes
    );
}

/// Where lines were lost, percentiles would be wrong.
#[test]
fn rows_that_are_missing_are_noticed() {
    let error =
        |text: String| read(Path::new("x"), text.as_bytes()).expect_err("rows are missing").to_string();
    let cut = |text: &str, row: &str| {
        text.lines().filter(|line| !line.starts_with(row)).collect::<Vec<_>>().join("\n")
    };
    // The tool's own minimum, mean and maximum are still those of all samples.
    for text in [cut(HISTOGRAM, "000017"), cut(HISTOGRAM, "0000"), cut(RTLA, "1 ")] {
        let cut = run(&text);
        let whole = run(if text.starts_with("# RTLA") { RTLA } else { HISTOGRAM });
        assert!(cut.notes.iter().any(|note| note.contains("lines of the histogram are missing")), "{cut:#?}");
        for (cut, whole) in cut.threads.iter().zip(&whole.threads) {
            assert_eq!(cut.histogram.max(), whole.histogram.max(), "{text}");
        }
        assert_eq!(cut.threads[0].histogram.tail(0.5), None, "{text}");
        assert!(!cut.notes.iter().any(|note| note.contains("-h 1000")), "{cut:#?}");
    }
    let without_max = cut(&cut(HISTOGRAM, "000017"), "# Max Latencies");
    assert!(error(without_max).contains("the maximum is not in the file"));
    let without_mean = cut(&cut(HISTOGRAM, "000017"), "# Avg Latencies");
    assert!(
        error(without_mean)
            .contains("the classes of thread 0 hold 10 samples, and the total in the file is 14")
    );
    assert!(error(HISTOGRAM.replace("000000014", "000000009")).contains("missing or changed"));
    assert!(error(cut(HISTOGRAM, "# Max Latencies")).contains("the maximum is not in the file"));
    // As `grep Latencies` leaves it.
    let summary =
        "# Min Latencies: 00003 00003\n# Avg Latencies: 00004 00003\n# Max Latencies: 00084 00086\n";
    let extremes = run(summary);
    let most: Vec<_> = extremes.threads.iter().map(|thread| thread.histogram.max()).collect();
    assert_eq!(most, [Some(Ns::from_us(84)), Some(Ns::from_us(86))]);
    assert!(extremes.notes.iter().any(|note| note.contains("of how many samples")), "{:?}", extremes.notes);
    let why = error(cut(summary, "# Avg Latencies"));
    assert!(why.contains("86 us is the greatest, and of how many samples is not known"), "{why}");
    // A maximum in no class is a sample more.
    let beyond = cut(&cut(HISTOGRAM, "# Histogram Overflows"), "# Total");
    assert_eq!(run(&beyond).threads[0].histogram.overflow(), 1);
}

#[test]
fn the_width_of_rtla_s_classes_is_that_of_its_rows() {
    let text = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:01:00\n\
        Index   CPU-000   CPU-001\n0          9000      9000\n10          900       900\n20           10         0\n\
        over:         0         0\ncount:     9910      9900\nmin:          0         0\navg:          0         0\n\
        max:         20        10\n";
    let of_ten = run(text);
    let bounds = of_ten.threads[0].histogram.percentile_bounds(0.99).expect("samples");
    assert_eq!((bounds.least, bounds.most), (Ns(10_000), Ns(19_999)));
    assert_eq!(of_ten.threads[0].histogram.max_bounds().map(|max| max.most), Some(Ns(29_999)));
    assert!(of_ten.notes[0].starts_with("counted in classes of 10 us"), "{:?}", of_ten.notes);
    assert!(run(RTLA).notes[0].starts_with("counted in classes of 1 us"));
    // Nanoseconds, and a single row: its end is that of the maximum.
    let one = "# RTLA osnoise histogram\n# Time unit is nanoseconds (ns)\nIndex   CPU-000\n0   500\nover: 0\ncount: 500\n\
        min: 120\navg: 300\nmax: 870\n";
    let bounds = run(one).threads[0].histogram.percentile_bounds(0.5).expect("samples");
    assert_eq!((bounds.least, bounds.most), (Ns(120), Ns(870)));
}

#[test]
fn a_wake_up_of_rtla_is_counted_once() {
    let both = run(RTLA);
    assert_eq!((both.all().count(), both.all().max()), (35_494 + 30_024, Some(Ns(31_000))), "threads only");
    assert_eq!(
        both.threads.iter().map(|thread| thread.is_stage).collect::<Vec<_>>(),
        [true, false, true, false]
    );
    let without_threads: String =
        RTLA.lines().take_while(|line| !line.starts_with("ALL")).fold(String::new(), |text, line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match (line.starts_with('#'), words.as_slice()) {
                (false, [name, irq, _, other, _]) => text + &format!("{name} {irq} {other}\n"),
                _ => text + line + "\n",
            }
        });
    let irq = run(&without_threads);
    assert_eq!((irq.probe.as_str(), irq.all().count()), ("timerlat, interrupt", 276_816 + 206_238));
    let user = run(&without_threads.replace("IRQ-", "Usr-"));
    assert_eq!((user.probe.as_str(), user.threads[0].is_stage), ("timerlat, user space", false));
    assert_eq!(both.probe, "timerlat");
}

#[test]
fn the_latency_that_was_asked_for_is_told_by_its_value() {
    let note = |us: u32| {
        let text = HISTOGRAM.replace("set to 0us", &format!("set to {us}us"));
        run(&text).notes.into_iter().find(|note| note.contains("cpu_dma_latency")).expect("a note")
    };
    assert!(note(0).starts_with("it held /dev/cpu_dma_latency at 0 us"));
    assert!(note(50).starts_with("it held /dev/cpu_dma_latency at 50 us"));
    assert!(note(1_000_000).contains("CPUs entered all of them") && !note(1_000_000).contains("held"));
}

#[test]
fn packed_files_are_unpacked_and_damaged_ones_refused() {
    use std::io::Write;
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    for text in [HISTOGRAM, RTLA, OSLAT, JSON, JITTERDEBUGGER, DATASET] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).expect("memory");
        let gzip = gzip.finish().expect("memory");
        let zstd = zstd::encode_all(gzip.as_slice(), 1).expect("memory");
        let plain = run(text);
        for bytes in [&gzip, &zstd] {
            let read = open(&file("a.txt", bytes)).expect("a measurement");
            assert_eq!(read, plain);
        }
        let cut = open(&file("cut.gz", &gzip[..gzip.len() - 9])).expect_err("it is cut off").to_string();
        assert!(cut.contains("the gzip stream is cut off"), "{cut}");
    }
    assert!(open(directory.path()).expect_err("a directory").to_string().contains("it is a directory"));
}

#[test]
fn the_last_class_of_oslat_s_json_holds_what_was_later() {
    let of = |max: u64| {
        let text = r#"{"cmdline:": "oslat -D 2", "thread": {"0": {"cpu": 1, "min": 1, "avg": 1.1, "max": MAX,
            "histogram": {"2": 11, "1": 90, "32": 5}}}}"#;
        run(&text.replace("MAX", &max.to_string())).all()
    };
    assert_eq!((of(271).overflow(), of(271).count(), of(271).max()), (5, 106, Some(Ns(271_000))));
    assert_eq!((of(32).overflow(), of(32).tail(0.5)), (0, Some(Ns(0))));
}

#[test]
fn json_of_pairs_of_threads() {
    let of = |program: &str, receiver: u32| {
        let text = r#"{"cmdline:": "PROGRAM -S", "thread": {
            "0": {"sender": {"cpu": 0, "samples": 950}, "receiver": {"cpu": 0, "min": 1, "avg": 1.91, "max": 26}},
            "1": {"sender": {"cpu": 1, "samples": 624}, "receiver": {"cpu": CPU, "min": 1, "avg": 2.32, "max": 28}}}}"#;
        run(&text.replace("PROGRAM", program).replace("CPU", &receiver.to_string()))
    };
    let run = of("./svsematest", 1);
    let names: Vec<&str> = run.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(
        (run.tool.as_str(), run.probe.as_str(), names),
        ("svsematest", "ipc semaphore", vec!["CPU 0", "CPU 1"])
    );
    assert_eq!((run.all().count(), run.all().max()), (1_574, Some(Ns(28_000))));
    let shared = of("sigwaittest", 0);
    let names: Vec<&str> = shared.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!((shared.probe.as_str(), names), ("ipc signal", vec!["thread 0", "thread 1"]));
}

#[test]
fn numbers_that_no_tool_writes_are_survived() {
    let most = u64::MAX;
    let same = |text: String| {
        let run = run(&text);
        assert!(run.all().count() > 0 && run.all().max() >= run.all().min(), "{text}");
    };
    same(format!("# Histogram\n{most} {most}\t{most}\n000003 {most}\t1\n# Max Latencies: {most} 1\n"));
    same(format!("T: 0 ( 1) P:80 I:{} C:{most} Min:{most} Act:   24 Avg:{most} Max:{most}\n", i64::MAX));
    same(format!("       0:       0:{most}\n       1:       0:{most}\n"));
    same(
        JSON.replace("\"20\": 2", &format!("\"{most}\": {most}")).replace("\"cycles\": 21", "\"cycles\": -1"),
    );
    same(JSON.replace("38.73", "1e308"));
    for number in ["nan", "inf", "-1", "1e300"] {
        same(
            OSLAT
                .replace("1.001", number)
                .replace("2 seconds", &format!("{number} seconds"))
                .replace("51", number),
        );
        same(OSLAT.replace("Core:\t 1", &format!("Core:\t {number}")));
    }
    same(
        RTLA.replace("00:10:00", &format!("{0}:{0}:{0}", i64::MAX))
            .replace("35487", &most.to_string())
            .replace("35494", &most.to_string()),
    );
    let broad = format!("# Histogram\n000001{}\n", " 1".repeat(counted::MOST_THREADS + 2));
    let error = read(Path::new("x"), broad.as_bytes()).expect_err("no machine is as large").to_string();
    assert!(error.contains("more than 65536 threads"), "{error}");
}

#[test]
fn what_is_none_is_refused() {
    let error = |text: &str| read(Path::new("x"), text.as_bytes()).expect_err("no measurement").to_string();
    assert!(error("").contains("not a measurement of a supported tool"));
    assert!(error("hello\nworld\n").contains("cyclictest"));
    assert!(error("{\"a\": 1}").contains("not a measurement of a supported tool"));
    assert!(error("{\"a\": ").contains("no JSON"));
    let other = "> Latency percentiles (usec)\n>         50.0000th: 21\n>         *99.0000th: 903\n";
    assert!(error(other).contains("x: it is a table of schbench, and not a measurement of a supported tool"));
    let other = r#"{"cmdline:": "rt-migrate-test", "thread": {"0": {"prio": 2, "min": 36, "max": 101}}}"#;
    assert!(error(other).contains("not a measurement of a supported tool"));
    assert!(error("# Histogram\n000001 000000\n").contains("no sample"));
    assert!(open(Path::new("/nowhere/at/all")).expect_err("no file").to_string().contains("cannot read"));
}

proptest! {
    #[test]
    fn whatever_is_cut_or_changed_is_survived(
        which in 0usize..6,
        at in 0.0f64..1.0,
        new in prop::collection::vec(any::<u8>(), 0..12),
        cut in any::<bool>(),
    ) {
        let text = [HISTOGRAM, RTLA, OSLAT, JSON, JITTERDEBUGGER, DATASET][which];
        let mut bytes = text.as_bytes().to_vec();
        let at = (at * bytes.len() as f64) as usize;
        let until = if cut { bytes.len() } else { (at + new.len()).min(bytes.len()) };
        bytes.splice(at..until, new);
        if let Ok(run) = read(Path::new("x"), &bytes) {
            prop_assert!(run.all().count() > 0);
            prop_assert!(run.all().max() >= run.all().min());
        }
    }
}
