//! Xenomai's latency, stress-ng's cyclic, sysjitter: whole files, cut ones, changed ones.

use super::{Path, Run, read, run};
use whylate_base::{Cpu, Ns};

const XENOMAI: &str = include_str!("../../../tests/fixtures/latencies/xenomai_histogram.txt");
const XENOMAI_OVERFLOW: &str = include_str!("../../../tests/fixtures/latencies/xenomai_overflow.txt");
const STRESS_NG: &str = include_str!("../../../tests/fixtures/latencies/stress_ng_table.txt");
const STRESS_NG_ELIDED: &str = include_str!("../../../tests/fixtures/latencies/stress_ng_elided.txt");
const STRESS_NG_PERCENTILES: &str =
    include_str!("../../../tests/fixtures/latencies/stress_ng_percentiles.txt");
const SYSJITTER: &str = include_str!("../../../tests/fixtures/latencies/sysjitter.txt");

pub(super) const ALL: [&str; 6] =
    [XENOMAI, XENOMAI_OVERFLOW, STRESS_NG, STRESS_NG_ELIDED, STRESS_NG_PERCENTILES, SYSJITTER];

fn error(text: &str) -> String {
    read(Path::new("x"), text.as_bytes()).expect_err(text).to_string()
}

fn has_note(run: &Run, words: &str) -> bool {
    run.notes.iter().any(|note| note.contains(words))
}

/// The first line that begins with this.
fn line<'a>(text: &'a str, begin: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(begin)).expect(begin)
}

#[test]
fn the_histogram_of_all_samples_of_xenomai() {
    let run = run(XENOMAI);
    assert_eq!((run.tool.as_str(), run.probe.as_str(), run.threads.len()), ("Xenomai latency", "timer", 1));
    assert_eq!((run.interval, run.elapsed), (Some(Ns::from_ms(1)), Some(Ns::from_secs(6))));
    // As its own lines HSS and RTS have them.
    let fields = |begin: &str| line(XENOMAI, begin).split('|').map(str::trim).collect::<Vec<_>>();
    let (total, end) = (fields("HSS|    avg")[2], fields("RTS|"));
    let thread = &run.threads[0];
    assert_eq!(thread.histogram.count().to_string(), total);
    assert_eq!(
        thread.histogram.max().map(|max| format!("{:.3}", max.0 as f64 / 1e3)).as_deref(),
        Some(end[3])
    );
    assert_eq!(thread.histogram.mean().map(|mean| mean.0 as f64 / 1e3).unwrap_or(0.0), 1.664);
    assert_eq!((end[1], end[2]), ("-0.124", "1.664"));
    // A sample that is early is not late.
    assert_eq!(
        (thread.histogram.min(), thread.histogram.overflow(), thread.missed),
        (Some(Ns(0)), 0, Some(0))
    );
    assert!(has_note(&run, "-0.124 us: the thread woke up early"), "{:?}", run.notes);
    assert!(has_note(&run, "its classes up to 0.124 us count early samples"), "{:?}", run.notes);
    assert_eq!(thread.histogram.tail(0.5), Some(Ns(1_000)));
}

#[test]
fn the_last_class_of_xenomai_holds_all_later_samples() {
    let run = run(XENOMAI_OVERFLOW);
    let thread = &run.threads[0];
    assert_eq!((thread.histogram.count(), thread.histogram.overflow(), thread.missed), (5_900, 2, Some(3)));
    assert_eq!((thread.histogram.max(), thread.histogram.limit()), (Some(Ns(47_123)), Ns(19_000)));
    assert!(has_note(&run, "msw is 1"), "{:?}", run.notes);
    // With a class more it is no usual size of the table: then a class is not 1 us wide.
    let other = super::run(&XENOMAI_OVERFLOW.replace(" 19 - 20 ", " 18 - 19 "));
    assert_eq!((other.all().count(), other.all().overflow()), (5_000, 5_000));
    assert!(has_note(&other, "-B, which is not in the file"), "{:?}", other.notes);
}

#[test]
fn classes_of_another_width_are_not_used() {
    // -B 500: each class has twice its number.
    let doubled = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        let ["HSD", kind, range, count] = fields[..] else { return format!("{line}\n") };
        let class: u64 = range.split('-').next().and_then(|class| class.trim().parse().ok()).expect(line);
        format!("HSD|{kind}| {:3} -{:3} |{count}\n", class * 2, class * 2 + 1)
    };
    let run = run(&XENOMAI.lines().map(doubled).collect::<String>());
    let all = run.all();
    // Of the five whole seconds, which the line RTS is of.
    assert_eq!((all.count(), all.overflow(), all.max()), (5_000, 5_000, Some(Ns(14_806))));
    assert!(has_note(&run, "-B, which is not in the file"), "{:?}", run.notes);
}

/// It ends within a second, and only the histogram has those samples.
#[test]
fn a_sample_after_the_last_whole_second_of_xenomai() {
    let with = |class: u64| {
        let row = format!("HSD|    avg| {class:3} -{:3} |        1\n", class + 1);
        let total = line(XENOMAI, "HSS|    avg").replace("5940", "5941");
        let (before, after) =
            XENOMAI.split_once("---|--param|----range-|--samples\nHSD|    max").expect("two");
        format!("{before}{row}---|--param|----range-|--samples\nHSD|    max{after}")
            .replace(line(XENOMAI, "HSS|    avg"), &total)
    };
    let run = run(&with(61));
    let all = run.all();
    assert_eq!(
        (all.count(), all.max_bounds().map(|max| (max.least.0, max.most.0))),
        (5_941, Some((61_000, 61_999)))
    );
    assert!(has_note(&run, "after the last whole second"), "{:?}", run.notes);
    assert!(error(&with(299)).contains("may be the last one"));
}

#[test]
fn a_summary_of_xenomai_without_a_histogram() {
    let bare = |text: &str| -> String {
        let lines = text.lines().filter(|line| !line.starts_with("HS") && !line.starts_with("---|--param"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let run = run(&bare(XENOMAI));
    assert_eq!((run.all().count(), run.all().max(), run.all().tail(0.5)), (5_000, Some(Ns(14_806)), None));
    assert!(has_note(&run, "5000 follow from its period and its 5 seconds"), "{:?}", run.notes);
    // `-q` prints no line for a second: one of the six is warming up or not whole.
    let quiet: String = bare(XENOMAI)
        .lines()
        .filter(|line| !line.starts_with("RT") || line.starts_with("RTS"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(super::run(&quiet).all().count(), 5_000);
    let alone = super::run(line(XENOMAI, "RTS|"));
    assert_eq!((alone.all().count(), alone.all().max()), (5, Some(Ns(14_806))));
    // -s prints the number, which the last second is part of.
    let stats: String =
        XENOMAI.lines().filter(|line| !line.starts_with("HSD")).map(|line| format!("{line}\n")).collect();
    assert_eq!(super::run(&stats).all().count(), 5_000);
    // Before 2.4.
    let old = "RTS|      1.175|      2.955|     87.379|      40|    00:01:00/00:01:00\n";
    assert_eq!(
        (super::run(old).threads[0].missed, super::run(old).elapsed),
        (Some(40), Some(Ns::from_secs(60)))
    );
}

#[test]
fn latmus_prints_the_same_lines() {
    let text = "warming up on CPU1...\nRTT|  00:00:01  (user, 1000 us period, priority 90, CPU1-noisol)\n\
        RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n\
        RTD|      1.211|      1.325|      2.476|       0|     0|      1.211|      2.476\n\
        RTD|      1.182|      1.302|      3.899|       0|     0|      1.182|      3.899\n^C\n\
        ---|-----------|-----------|-----------|--------|------|-------------------------\n\
        RTS|      1.182|      1.313|      3.899|       0|     0|    00:00:02/00:00:02\n";
    let of = |text: &str| {
        let run = run(text);
        (run.tool, run.probe, run.threads[0].cpu, run.threads[0].histogram.count())
    };
    assert_eq!(of(text), ("latmus".to_owned(), "timer".to_owned(), Some(Cpu(1)), 2_000));
    assert_eq!(of(&text.replace("(user,", "(irq,")).1, "timer, interrupt");
    let kernel = XENOMAI.replace("periodic user-mode task", "in-kernel periodic task");
    assert_eq!(of(&kernel).1, "timer, kernel task");
}

/// xeno-test runs both programs, whose lines have the same marks.
#[test]
fn lines_of_switchtest_are_not_those_of_latency() {
    let other = "RTT|  00:00:01\nRTH|---------cpu|ctx switches|-------total\nRTD|           0|         559|         559\n\
        RTS|           0|         559|         559|    00:00:01/00:00:01\n";
    assert!(error(other).contains("not a measurement of a supported tool"));
    assert_eq!(run(&format!("{other}{XENOMAI}{other}")).threads, run(XENOMAI).threads);
    assert_eq!(run(&format!("{XENOMAI}{XENOMAI}")).threads.len(), 2);
    let cut = XENOMAI.lines().take(8).map(|line| format!("{line}\n")).collect::<String>();
    assert!(error(&format!("{cut}{XENOMAI}")).contains("the line RTS"), "the first was cut");
}

#[test]
fn the_table_of_stress_ng() {
    let run = run(STRESS_NG);
    assert_eq!((run.tool.as_str(), run.probe.as_str()), ("stress-ng", "timer"));
    let histogram = &run.threads[0].histogram;
    assert_eq!((histogram.count(), histogram.overflow(), histogram.limit()), (10_000, 3, Ns(250_000)));
    assert_eq!((histogram.min(), histogram.max()), (Some(Ns(9_534)), Some(Ns(444_392))));
    assert_eq!(histogram.mean(), Some(Ns(17_363)));
    // Each of its own percentiles is in the class of the sample that it is: of 10,000 the one behind 99.9 %.
    for (share, ns) in
        [(0.25, 15_302), (0.5, 16_724), (0.75, 18_347), (0.9, 20_060), (0.99, 26_428), (0.999, 80_599)]
    {
        let bounds = histogram.ranked((share * 10_000.0) as u64 + 1).expect("in the table");
        assert!((bounds.least.0..=bounds.most.0).contains(&ns), "{share}: {bounds:?}");
    }
    assert!(has_note(&run, "it took 41836 samples and kept the first 10000"), "{:?}", run.notes);
    assert!(has_note(&run, "a sleep of 100000 ns by SCHED_FIFO"), "{:?}", run.notes);
    let method = format!("stress-ng: debug: [9] cyclic: using method 'poll'\n{STRESS_NG}");
    assert!(has_note(&super::run(&method), "SCHED_FIFO, method poll"));
}

#[test]
fn empty_classes_that_stress_ng_leaves_out() {
    assert!(STRESS_NG_ELIDED.contains("(all zeros hereafter)"));
    let histogram = run(STRESS_NG_ELIDED).all();
    assert_eq!((histogram.count(), histogram.overflow(), histogram.limit()), (2_000, 1, Ns(50_000)));
}

#[test]
fn the_percentiles_of_stress_ng() {
    let run = run(STRESS_NG_PERCENTILES);
    let histogram = &run.threads[0].histogram;
    for (share, ns) in
        [(0.25, 17_926), (0.5, 20_921), (0.75, 22_643), (0.9, 23_544), (0.99, 28_853), (0.999, 60_563)]
    {
        assert_eq!(
            histogram.tail_bounds(share).map(|at| (at.least, at.most)),
            Some((Ns(ns), Ns(ns))),
            "{share}"
        );
    }
    // Its 99.99 % is the maximum by another name.
    assert_eq!(
        (histogram.count(), histogram.tail(0.9999), histogram.max()),
        (10_000, None, Some(Ns(1_285_236)))
    );
    let between = histogram.tail_bounds(0.6).expect("a class");
    assert_eq!((between.least, between.most), (Ns(20_922), Ns(22_642)));
    // Too narrow a table shows less than they do.
    let table = "stress-ng: info:  [9] cyclic: latency distribution (10 ns intervals):\n\
        stress-ng: info:  [9] cyclic: (for the first 250 buckets of 128524)\n";
    let rows: String =
        (0..250).map(|row| format!("stress-ng: info:  [9] cyclic: {:12} {:10}\n", row * 10, 0)).collect();
    let narrow = super::run(&format!("{STRESS_NG_PERCENTILES}{table}{rows}"));
    assert_eq!(narrow.threads, run.threads);
    assert!(has_note(&narrow, "below the 99th percentile"), "{:?}", narrow.notes);
    // One that ends between its 25th and its 99th percentile.
    let half = super::run(
        &STRESS_NG
            .replace("99.00%:      26428", "99.00%:     251000")
            .replace("99.50%:      37004", "99.50%:     251000")
            .replace("99.90%:      80599", "99.90%:     251000"),
    );
    assert!(has_note(&half, "below the 99th percentile"), "{:?}", half.notes);
    // The first versions named another unit.
    let old = STRESS_NG_PERCENTILES.replace(" cyclic: ", " stress-ng-cyclic: ");
    let old: String = old
        .lines()
        .map(|line| match line.contains('%') {
            true => line.replace(" ns", " us\n"),
            false => format!("{line}\n"),
        })
        .collect();
    assert_eq!(super::run(&old).threads, run.threads);
}

#[test]
fn a_core_of_sysjitter_is_a_thread() {
    let run = run(SYSJITTER);
    assert_eq!((run.tool.as_str(), run.probe.as_str(), run.threads.len()), ("sysjitter", "busy", 2));
    assert_eq!(run.elapsed, Some(Ns(5_004_142_480)));
    let rows = |name: &str| -> Vec<i64> {
        line(SYSJITTER, name).split_ascii_whitespace().skip(1).map(|word| word.parse().expect(word)).collect()
    };
    for (at, thread) in run.threads.iter().enumerate() {
        let histogram = &thread.histogram;
        assert_eq!((thread.cpu, thread.name.as_str()), (Some(Cpu(at as u32)), ["CPU 0", "CPU 1"][at]));
        assert_eq!(histogram.count() as i64, rows("int_n:")[at]);
        assert_eq!(histogram.min(), Some(Ns(rows("int_min(ns):")[at])));
        assert_eq!(histogram.max(), Some(Ns(rows("int_max(ns):")[at])));
        assert_eq!(histogram.mean(), Some(Ns(rows("int_mean(ns):")[at])));
        for (share, name) in
            [(0.5, "int_median(ns):"), (0.9, "int_90(ns):"), (0.99, "int_99(ns):"), (0.999, "int_999(ns):")]
        {
            let at = rows(name)[at];
            assert_eq!(
                histogram.tail_bounds(share).map(|at| (at.least.0, at.most.0)),
                Some((at, at)),
                "{name}"
            );
        }
        // Of so few the row is the maximum by another name.
        assert_eq!(histogram.tail(0.9999), None);
    }
    // The percentiles of both together do not follow from those of each.
    assert_eq!(
        (run.all().count(), run.all().max(), run.all().tail(0.5)),
        (5_050, Some(Ns(366_260_643)), None)
    );
    // How many are beyond a latency does: at most those behind the last percentile of each, and surely the largest.
    assert_eq!((run.all().beyond(Ns::from_ms(20)), run.all().surely_beyond(Ns::from_ms(20))), (4, 1));
    assert!(has_note(&run, "gaps shorter than 200 ns are not counted"), "{:?}", run.notes);
    let aligned = SYSJITTER.replace(' ', "          ");
    assert_eq!(super::run(&aligned).threads, run.threads);
}

#[test]
fn a_core_of_sysjitter_without_a_gap_is_left_out() {
    let without = |line: &str| {
        let (name, values) = line.split_once(' ').expect("a row");
        let values: Vec<&str> = values.split(' ').collect();
        let is_of_all =
            ["core_i", "threshold", "cpu_mhz", "runtime"].iter().any(|begin| name.starts_with(begin));
        let last = if is_of_all { values[1] } else { "0" };
        format!("{name} {} {last}\n", values[0])
    };
    let run = run(&SYSJITTER.lines().map(without).collect::<String>());
    assert_eq!((run.threads.len(), run.threads[0].name.as_str()), (1, "CPU 0"));
    assert!(has_note(&run, "1 of 2 cores had no gap"), "{:?}", run.notes);
}

/// Whatever the end of a file is cut off: it is refused, or its largest latency is known.
#[test]
fn what_was_cut_shows_its_maximum_or_is_refused() {
    for text in ALL {
        let whole = run(text);
        let (mut refused, mut taken) = (0, 0);
        let line_ends = text.match_indices('\n').flat_map(|(at, _)| [at, at + 1, at.saturating_sub(3)]);
        let ends = (text.len().saturating_sub(400)..text.len()).chain(line_ends);
        for end in ends {
            let cut = text.get(..end).expect("ASCII");
            match read(Path::new("a.txt"), cut.as_bytes()) {
                Err(_) => refused += 1,
                Ok(run) => {
                    taken += 1;
                    assert_eq!(run.all().max(), whole.all().max(), "{cut}");
                    assert_eq!(run.threads.len(), whole.threads.len(), "{cut}");
                }
            }
        }
        assert!(refused > 5 && taken > 0, "{refused} refused, {taken} taken: {text}");
    }
    let seconds = XENOMAI.lines().take(9).map(|line| format!("{line}\n")).collect::<String>();
    let why = error(&seconds);
    assert!(why.contains("Xenomai latency wrote it, but its output was cut: the line RTS"), "{why}");
    assert!(why.contains("lines of a second that there are, it was 14.806 us"), "{why}");
    assert!(error("== Sampling period: 100 us\n== Test mode: periodic user-mode task\n== All results in microseconds\n")
        .contains("the line RTS"));
    let head = STRESS_NG.lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    assert!(error(&head).contains("stress-ng wrote it, but its table was cut"), "{}", error(&head));
    let rows = SYSJITTER.lines().take(12).map(|line| format!("{line}\n")).collect::<String>();
    assert!(
        error(&rows).contains("sysjitter wrote it, but its table was cut: the row int_max(ns) is missing")
    );
}

/// Mails leave lines out to be short.
#[test]
fn classes_that_were_left_out_are_not_taken_for_late_samples() {
    let left_out = |text: &str, begin: &str| -> String {
        text.lines().filter(|line| !line.starts_with(begin)).map(|line| format!("{line}\n")).collect()
    };
    for (text, begin) in [
        (XENOMAI, "HSD|    avg|   2"),
        (XENOMAI, "HSD|    max|  14"),
        (XENOMAI, "HSD|    avg|  14"),
        (STRESS_NG, "stress-ng: info:  [19448] cyclic:        16000 "),
        (STRESS_NG, "stress-ng: info:  [19448] cyclic:       249000 "),
        (STRESS_NG_ELIDED, line(STRESS_NG_ELIDED, "stress-ng: info:  [14247] cyclic:        20000 ")),
    ] {
        assert!(text.contains(begin), "{begin}");
        let (cut, whole) = (run(&left_out(text, begin)), run(text));
        assert_eq!(cut.all().max(), whole.all().max(), "{begin}");
        assert!(
            cut.notes.iter().any(|note| note.contains("lines ") && note.contains("missing")),
            "{:?}",
            cut.notes
        );
        assert!(cut.all().overflow() > whole.all().overflow(), "{begin}: its classes are not used");
    }
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let end = line(XENOMAI, "RTS|");
    let missing = "numbers are missing or changed";
    for (text, from, to, expected) in [
        (XENOMAI, end, end.replace("14.806", "13.805").as_str(), "beyond its line RTS"),
        (XENOMAI, end, end.replace("14.806", "-4.805").as_str(), "below the minimum"),
        (XENOMAI, end, end.replace("14.806", "14.8x5").as_str(), "is not whole"),
        (XENOMAI, "HSS|    avg|      5940", "HSS|    avg|      5939", "hold 5940 samples"),
        (XENOMAI, "HSD|    avg|   1 -  2 |", "HSD|    avg|   1 -  2 | x", "is no class with its count"),
        (STRESS_NG, "max: 444392", "max: 4443", missing),
        (STRESS_NG, "mean: 17362.71", "mean: 1736271.0", missing),
        (STRESS_NG, "25.00%:      15302", "25.00%:      95302", missing),
        (STRESS_NG_ELIDED, "2000 samples", "1900 samples", missing),
        (SYSJITTER, "int_max(ns): 366260643", "int_max(ns): 366", missing),
        (SYSJITTER, "int_99(ns): 8036713", "int_99(ns): 80", missing),
        (SYSJITTER, "int_n: 2838 2212", "int_n: 2838", "one number for each of the 2 cores"),
        (
            SYSJITTER,
            "int_max(ns): 366260643 ",
            "int_max(ns): 366260643 x",
            "one number for each of the 2 cores",
        ),
        (SYSJITTER, "int_mean(ns): 533102 ", "int_mean(ns): 533102000 ", "is not between its minimum"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = error(&text.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn a_run_without_a_sample_is_refused_with_the_reason() {
    let empty = "RTS|  10000.000|      0.000| -10000.000|       0|     0|    00:00:00/00:00:00\n";
    assert!(error(empty).contains("within its first second"), "{}", error(empty));
    let none = "stress-ng: info:  [9] cyclic: SCHED_FIFO: no latency information available\n";
    assert!(error(none).contains("stress-ng wrote it, but there is no sample in it"));
    let none = "core_i: 3\nthreshold(ns): 5000\nint_n: 0\nint_min(ns): 0\nint_max(ns): 0\nint_total(ns): 0\n";
    assert!(error(none).contains("no gap took as long as 5000 ns, its threshold"), "{}", error(none));
    let most = format!("core_i:{}\nint_n: 1\n", " 1".repeat(70_000));
    assert!(error(&most).contains("cores"), "too many");
}

#[test]
fn documents_below_a_terminals_lines_count_and_not_those_lines() {
    let document = r#"{
  "cpu": {
    "0": { "histogram": { "3": 4070, "10": 1 }, "count": 4071, "min": 3, "max": 10, "avg": 3.08 }
  }
}"#;
    let status = "T: 0 (  614) A: 0 C:     13476 Min:         3 Avg:    3.08 Max:        10\n";
    let text = format!("# jitterdebugger -v\n{status}^C\n{document}\n");
    let run = read(Path::new("x"), text.as_bytes()).expect("a measurement");
    assert_eq!(run.all().max(), Some(Ns::from_us(10)));
    // What begins as a page's mark, and not as a document, is no JSON.
    assert!(error("{% highlight bash %}\nhello\n").contains("not a measurement of a supported tool"));
}

#[test]
fn the_lines_of_jitterdebugger_are_its_own_and_not_cyclictests() {
    let status = "affinity: 0-3 = 4 [0xF]\nT: 0 (  614) A: 0 C:     13476 Min:         3 Avg:    3.08 Max:        10\n";
    let run = run(status);
    assert_eq!((run.tool.as_str(), run.all().max()), ("jitterdebugger", Some(Ns::from_us(10))));
    assert_eq!(run.all().mean(), Some(Ns(3_080)));
    assert!(!has_note(&run, "cyclictest"), "{:?}", run.notes);
}

#[test]
fn threads_without_a_priority_are_no_real_time_threads() {
    let status = |priority: u32| {
        format!("T: 0 ( 1463) P:{priority:2} I:1000 C:  16114 Min:     11 Act:   42 Avg:   66 Max:     459\n")
    };
    let of = |text: &str| has_note(&run(text), "its threads had priority 0 (SCHED_OTHER)");
    assert!(of(&status(0)) && !of(&status(80)));
    let second = status(79).replace("T: 0", "T: 1");
    assert!(!of(&format!("{}{second}", status(0))), "one of them is");
}

#[test]
fn a_histogram_whose_title_was_lost_in_the_command_above_it_is_one() {
    let text = "cyclictest -h400 -q# /dev/cpu_dma_latency set to 0us\n000002 000010\n000007 000001\n# Total: 000000011\n\
                # Min Latencies: 00002\n# Avg Latencies: 00002\n# Max Latencies: 00007\n# Histogram Overflows: 00000\n";
    let run = read(Path::new("x"), text.as_bytes()).expect("a measurement");
    assert_eq!((run.all().count(), run.all().max()), (11, Some(Ns::from_us(7))));
}

#[test]
fn a_broken_second_of_xenomai_does_not_matter_beside_its_end() {
    let second = line(XENOMAI, "RTD|");
    let max = second.split('|').nth(3).expect("a maximum");
    let (before, _) = second.split_once(max).expect("its place");
    let broken = XENOMAI.replacen(second, &format!("{before}      9.\n502|       0|"), 1);
    let (read, whole) = (run(&broken), run(XENOMAI));
    assert_eq!(read.threads, whole.threads);
    assert!(has_note(&read, "1 of its 5 lines of a second are broken"), "{:?}", read.notes);
    assert!(error(&broken.replace("RTS|", "RT |")).contains("its output was cut"));
}

#[test]
fn a_line_that_a_page_broke_as_a_shell_would_is_one() {
    let wrapped =
        |text: &str| text.replace(" ns delay, ", " ns delay, \\\n").replace("std.dev. ", "std.dev. \\\n");
    let text = wrapped(STRESS_NG_PERCENTILES);
    assert_ne!(text, STRESS_NG_PERCENTILES);
    assert_eq!(run(&text).threads, run(STRESS_NG_PERCENTILES).threads);
}
