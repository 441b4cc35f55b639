//! What each tool writes, shortened, and what is understood of it.

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
    "condition": {"load": "idle", "interval": 200}, "latency": {"granularity": "microseconds", "cores": [[0, 3, 7], [0, 0, 9, 1]]}}"#;

#[test]
fn a_histogram_of_cyclictest() {
    let run = run(HISTOGRAM);
    assert_eq!((run.label.as_str(), run.tool.as_str(), run.threads.len()), ("a.txt", "cyclictest", 2));
    let first = &run.threads[0].histogram;
    assert_eq!(
        (first.count(), first.overflow(), first.max(), first.min()),
        (16, 2, Some(Ns(1_026_000)), Some(Ns(17_000)))
    );
    assert_eq!(first.tail(0.25), Some(Ns(17_999)));
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

/// As real ones end: with `-N`, and of its siblings.
const IN_NS: &str = "T: 0 (26243) P:80 I:1000 C:   1000 Min:  16063 Act:   25531 Avg:   41307 Max:  937027\n";

#[test]
fn the_columns_of_a_summary_tell_its_unit() {
    let all = run(IN_NS).all();
    assert_eq!((all.min(), all.max()), (Some(Ns(16_063)), Some(Ns(937_027))));
    // 10 ms and more fill the column of a summary in us, too.
    let late = IN_NS.replace("Act:   25531", "Act:10025531").replace("Avg:   41307", "Avg:10041307");
    assert_eq!(run(&late).all().max(), Some(Ns(937_027_000)));
    // A histogram has the unit of the summary beside it.
    let both = format!("{IN_NS}{HISTOGRAM}");
    assert_eq!(run(&both).all().max(), Some(Ns(1_026)));
}

#[test]
fn a_unit_that_nothing_tells_is_doubted() {
    let doubted = |text: &str| run(text).notes.iter().any(|note| note.contains("cyclictest -N"));
    assert!(!doubted(HISTOGRAM) && !doubted(IN_NS));
    assert!(doubted("       0:       0:   21000\n       0:       1:   20000\n"));
    assert!(!doubted("       0:       0:   21000\n       0:       1:     200\n"));
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
    assert_eq!((first.histogram.min(), first.histogram.tail(0.5)), (Some(Ns(0)), Some(Ns(999))));
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
    assert_eq!(dataset.threads[1].histogram.max(), Some(Ns(3_000)));
}

#[test]
fn the_last_class_of_oslat_s_json_holds_what_was_later() {
    let of = |max: u64| {
        let text = r#"{"cmdline:": "oslat -D 2", "thread": {"0": {"cpu": 1, "min": 1, "avg": 1.1, "max": MAX,
            "histogram": {"2": 11, "1": 90, "32": 5}}}}"#;
        run(&text.replace("MAX", &max.to_string())).all()
    };
    assert_eq!((of(271).overflow(), of(271).count(), of(271).max()), (5, 106, Some(Ns(271_000))));
    assert_eq!((of(32).overflow(), of(32).tail(0.5)), (0, Some(Ns(999))));
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
    same(JSON.replace("38.73", "1e308").replace("787", "-787"));
    for number in ["nan", "inf", "-1", "1e300"] {
        same(
            OSLAT
                .replace("1.001", number)
                .replace("2 seconds", &format!("{number} seconds"))
                .replace("51", number),
        );
        same(OSLAT.replace("Core:\t 1", &format!("Core:\t {number}")));
    }
    same(RTLA.replace("00:10:00", &format!("{0}:{0}:{0}", i64::MAX)).replace("35487", &most.to_string()));
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

#[test]
fn measurements_in_mails_are_read_as_they_were() {
    let plain = "T: 0 (24683) P:99 I:1000 C:   2000 Min:      1 Act:    6 Avg:    2 Max:    1771\n\
        T: 1 (24684) P:99 I:1500 C:   1333 Min:      1 Act:    5 Avg:    3 Max:     958\n";
    let read = |text: &str| super::read(Path::new("run"), text.as_bytes()).expect("a measurement");
    let run = read(plain);
    assert_eq!(run.threads[0].histogram.max(), Some(Ns::from_us(1771)));
    for mail in [
        plain.replace("Max:    1771", "Max:   =\n 1771").replace("Max:     958", "Max:    =\n 958"),
        plain.replace("T:", "> > T:"),
        plain.replace("Max:    1771", "Max:\n   1771"),
        plain.replace("T:", "> T:").replace("Max:    1771", "Max:\n>    1771"),
        plain.replace("  ", "\u{a0} "),
        plain.replace("T:", "[   12.345678] T:"),
    ] {
        assert_eq!(read(&mail).threads, run.threads, "{mail}");
    }
}
