//! Runs that ended early, texts that lack their beginning, and histograms of other tools.

use super::*;

#[test]
fn the_latency_that_ended_a_run_counts() {
    let ended = |max: u32, value: u32| {
        run(&format!(
            "T: 0 ( 501) I:1000 C:  36218 Min:      1 Act:   11 Avg:    6 Max:      12\n\
             T: 1 ( 502) I:1500 C:  24146 Min:      1 Act:    4 Avg:    3 Max:      {max}\n\
             # Break thread: 502\n# Break value: {value}\n"
        ))
    };
    let maxima = |run: &Run| run.threads.iter().map(|thread| thread.histogram.max()).collect::<Vec<_>>();
    assert_eq!(maxima(&ended(30, 71)), [Some(Ns::from_us(12)), Some(Ns::from_us(71))]);
    assert_eq!(maxima(&ended(71, 71)), [Some(Ns::from_us(12)), Some(Ns::from_us(71))]);
    let of_histogram = run(&format!("{HISTOGRAM}# Break thread: 9\n# Break value: 2000\n"));
    assert_eq!(of_histogram.all().max(), Some(Ns::from_us(2000)));
}

#[test]
fn oslat_without_its_first_line() {
    let (_, rest) = OSLAT.split_once('\n').expect("lines");
    assert_eq!(run(rest).threads, run(OSLAT).threads);
    assert_eq!(run(&format!("{OSLAT}{OSLAT}")).threads.len(), 4);
    assert_eq!(run(&format!("{rest}{rest}")).threads.len(), 4);
    let indented: String = rest.lines().map(|line| format!("    {line}\n")).collect();
    assert_eq!(run(&indented).threads, run(OSLAT).threads);
}

#[test]
fn histograms_whose_classes_double() {
    let bcc = "Tracing run queue latency... Hit Ctrl-C to end.\n^C\n\
        \x20    usecs               : count     distribution\n\
        \x20        0 -> 1          : 90       |****************************************|\n\
        \x20        2 -> 3          : 0        |                                        |\n\
        \x20       64 -> 127        : 9        |****                                    |\n\
        \x20     1024 -> 2047       : 1        |                                        |\n";
    let read = run(bcc);
    assert_eq!((read.tool.as_str(), read.probe.as_str(), read.threads.len()), ("runqlat", "run queue", 1));
    let histogram = &read.threads[0].histogram;
    assert_eq!((histogram.count(), histogram.max()), (100, Some(Ns::from_us(1024))));
    // The maximum is somewhere in its class.
    assert_eq!(histogram.max_bounds().map(|max| max.most), Some(Ns(2_047_999)));
    let p99 = histogram.percentile_bounds(0.99).expect("samples");
    assert_eq!((p99.least, p99.most), (Ns::from_us(64), Ns(127_999)));
    let quoted: String = bcc.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(run(&quoted).threads, read.threads);
    let bpftrace = |map: &str| {
        format!(
            "Attaching 5 probes...\n{map}:\n[0]                   90 |@@@@@@@@@@@@|\n[2, 4)                 0 |    |\n\
             [64, 128)              9 |@@  |\n[1K, 2K)               1 |    |\n"
        )
    };
    let of_map = |map: &str| crate::latencies::read(Path::new("x"), bpftrace(map).as_bytes());
    for map in ["@usecs", "@us[cc1]", "@runq_us"] {
        assert_eq!(of_map(map).expect("a unit").all().max(), Some(Ns::from_us(1024)), "{map}");
    }
    assert_eq!(of_map("@ns").expect("a unit").all().max(), Some(Ns(1024)));
    assert!(of_map("@hist").expect_err("no unit").to_string().contains("its unit is not in the file"));
    // One of each key.
    let two = "cpu = 0\n     msecs               : count     distribution\n       0 -> 1        : 7       |***|\n\n\
        cpu = 3\n     msecs               : count     distribution\n       4 -> 7        : 2       |***|\n";
    let names: Vec<String> = run(two).threads.into_iter().map(|thread| thread.name).collect();
    assert_eq!(names, ["cpu = 0", "cpu = 3"]);
    // A book left the bars out.
    assert_eq!(run(&two.replace("|***|", "")).all(), run(two).all());
    let open = "@usecs:\n[100, ...)             2 |@@@|\n";
    let error = crate::latencies::read(Path::new("x"), open.as_bytes()).expect_err("no end").to_string();
    assert!(error.contains("has no end"), "{error}");
}

#[test]
fn how_long_functions_take_is_a_time_and_no_latency() {
    let map = |name: &str| format!("@{name}:\n[2, 4)     90 |@@@@@@@@@@@@|\n[2K, 4K)    1 |    |\n\n");
    for (name, is_time) in
        [("drop_item__us", true), ("run_ns", true), ("usecs", false), ("runq_us", false), ("wait_ns", false)]
    {
        assert_eq!(run(&map(name)).measures_time(), is_time, "{name}");
    }
    let two = format!("{}{}", map("drop_item__us"), map("copy__us"));
    let why = crate::latencies::read(Path::new("x"), two.as_bytes()).expect_err("two kinds").to_string();
    let largest =
        "the largest time is between 2.05 ms and 4.10 ms in bcc or bpftrace (copy__us: time), between";
    assert!(why.contains(largest), "{why}");
}

#[test]
fn the_command_above_a_histogram_shows_what_it_is_of() {
    let table = "     usecs               : count     distribution\n         0 -> 1          : 90       |*********|\n";
    for (command, tool, probe) in [
        ("# ./cpudist.py -p 812 1", "cpudist", "on-CPU time"),
        ("$ sudo /usr/share/bcc/tools/cpudist -O", "cpudist", "off-CPU time"),
        ("I ran `softirqs-bpfcc -d`:", "softirqs", "softirq time"),
        ("# runqlat 1 1", "runqlat", "run queue"),
        ("# ./other.py", "bcc or bpftrace", "histogram"),
    ] {
        let run = run(&format!("{command}\n\n{table}"));
        assert_eq!((run.tool.as_str(), run.probe.as_str()), (tool, probe), "{command}");
        assert_eq!(run.measures_time(), probe.ends_with("time"), "{command}");
    }
}

#[test]
fn a_class_without_a_count_is_not_left_out() {
    let rows = |tail: &str| {
        format!(
            "Tracing run queue latency... Hit Ctrl-C to end.\n     usecs               : count     distribution\n\
             \x20       8 -> 15         : 134      |******************|\n{tail}\n"
        )
    };
    assert_eq!(run(&rows("        64 -> 127        : 3        |*                 |")).all().count(), 137);
    for tail in [
        "        64 -> 127        : 3x       |*                 |",
        "        64 -> 127        : -3       |*                 |",
        "        64 -> 127        : 99999999999999999999 |*|",
        "        64 -> 127        : 3",
        "        64 -> 1",
        "        64 -> 12         : 3        |*                 |",
    ] {
        let error =
            crate::latencies::read(Path::new("x"), rows(tail).as_bytes()).expect_err(tail).to_string();
        assert!(error.contains("line 4"), "{error}");
    }
}

#[test]
fn a_histogram_whose_rows_are_left_out_is_refused() {
    let bcc = |rows: &str| format!("     usecs               : count     distribution\n{rows}");
    let bpftrace = |rows: &str| format!("@usecs:\n{rows}");
    let whole = "  0 -> 1     : 90    |**********|\n  2 -> 3     : 45    |****      |\n";
    assert_eq!(run(&bcc(whole)).all().count(), 135);
    // bcc draws one sign less, or a `+` in the place of the last.
    assert_eq!(run(&bcc(&whole.replace("**********|", "********* |"))).all().count(), 135);
    let refused =
        |text: &str| crate::latencies::read(Path::new("x"), text.as_bytes()).expect_err(text).to_string();
    for mark in ["...", "[...]", "skip...", "<SNIP>", "[…]", "(snip)"] {
        let error = refused(&bcc(&format!("{whole}{mark}\n")));
        assert!(error.contains("at line 4 rows are left out"), "{error}");
    }
    // Below the table it stands for other tables, and text is text.
    for rest in ["\n...\n", "Detaching...\n", "...and so on, for all of the other CPUs\n"] {
        assert_eq!(run(&bcc(&format!("{whole}{rest}"))).all().count(), 135, "{rest}");
    }
    for cut in [
        bcc("  0 -> 1     : 1     |          |\n"),
        bcc("  0 -> 1     : 1     |\n\n(end)\n"),
        bpftrace("[1]      40 |@@@@    |\n[2, 4)     3 |        |  <- rare\n"),
    ] {
        let error = refused(&format!("{}\n{cut}", bcc(whole)));
        assert!(error.contains("the bar of which is full, is missing"), "{error}");
    }
    // Within the last row, where another follows the fullest one; and a table that goes on behind it, or does not.
    let cut = refused(&bcc("  0 -> 1     : 90    |**********|\n  2 -> 3     : 45    |****\n"));
    assert!(cut.contains("its last line is cut"), "{cut}");
    let most = |rows: &str| run(&bpftrace(rows)).all().max_bounds().map(|bounds| bounds.most);
    assert_eq!(most("[1]      40 |@@@@@@  |\n[2, 4)    43 |@@@@@@@@|\n"), Some(Ns::MAX));
    assert_eq!(most("[1]      40 |@@@@@@@@|\n"), Some(Ns(1_999)));
    assert_eq!(most("[1]      40 |@@@@@@  |\n[2, 4)    43 |@@@@@@@@|\n\n@x[1]: 3\n"), Some(Ns(3_999)));
    let remark = bpftrace("[1]      40 |@@@@@@@@|\n[2, 4)     3 |        |  <- rare\n");
    assert_eq!(run(&remark).all().count(), 43);
}

/// One of the numbers was changed: which one is not known, and the maximum decides most.
#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let summary = "T: 0 ( 9066) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744\n";
    let pair = r#"{"cmdline:": "svsematest", "thread": {
        "0": {"sender": {"cpu": 0, "samples": 9}, "receiver": {"cpu": 0, "min": 3, "avg": 5, "max": 26}}}}"#;
    let below = "is below its minimum";
    let classes_below = "holds samples below its minimum";
    let not_beyond = "is not beyond the classes";
    for (text, from, to, expected) in [
        (JITTERDEBUGGER, r#""max": 4"#, r#""max": 1"#, below),
        (JITTERDEBUGGER, r#""max": 4"#, r#""max"14"#, "no JSON"),
        (JITTERDEBUGGER, r#""min": 2"#, r#""min":12"#, below),
        (JITTERDEBUGGER, r#""min": 2"#, r#""min": 3"#, classes_below),
        (
            JITTERDEBUGGER,
            r#""count": 10"#,
            r#""count": 9"#,
            "hold 10 samples, and the total in the file is 9",
        ),
        (JITTERDEBUGGER, r#""count": 10"#, r#""count": 90"#, not_beyond),
        (JSON, r#""max": 787"#, r#""max": 7"#, below),
        (JSON, r#""max": 787"#, r#""max": 19"#, not_beyond),
        (JSON, r#""cycles": 21"#, r#""cycles": 2"#, "hold 20 samples, and the total in the file is 2"),
        (HISTOGRAM, "Max Latencies: 01026", "Max Latencies: 00018", not_beyond),
        (HISTOGRAM, "Min Latencies: 00017 00017", "Min Latencies: 00017 00019", below),
        (HISTOGRAM, "Min Latencies: 00017 00017", "Min Latencies: 00019 00017", classes_below),
        (RTLA, "max:          1        31", "max:          1         1", not_beyond),
        (
            RTLA,
            "min:          0         1         0         1",
            "min:          0        40         0         1",
            below,
        ),
        (OSLAT, "410", "  1", not_beyond),
        (summary, "Max:     744", "Max:       7", below),
        (pair, "26", "2", below),
    ] {
        assert!(text.contains(from), "{from}");
        run(text);
        let changed = text.replacen(from, to, 1);
        let error =
            crate::latencies::read(Path::new("x"), changed.as_bytes()).expect_err(&changed).to_string();
        assert!(error.contains(expected), "{changed}: {error}");
    }
}

#[test]
fn extremes_of_a_thread_without_samples_are_no_contradiction() {
    let text = "T: 0 (  1) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744\n\
                T: 1 (  2) P:80 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n";
    assert_eq!(run(text).all().max(), Some(Ns::from_us(744)));
}

#[test]
fn a_minimum_within_the_only_class_is_the_least_maximum() {
    let text = "# RTLA osnoise histogram\n# Time unit is nanoseconds (ns)\nIndex   CPU-000\n0   500\n1000   5\nover: 0\n\
                count: 505\nmin: 120\navg: 300\n";
    let one = run(&text.replace("0   500\n", "").replace("505", "5").replace("120", "1120"));
    assert_eq!((one.all().min(), one.all().max()), (Some(Ns(1_120)), Some(Ns(1_120))));
    assert_eq!(run(text).all().max(), Some(Ns(1_000)));
}

#[test]
fn a_table_without_what_stands_below_it_was_cut() {
    let above = |text: &str, ends: &[&str]| -> String {
        let lines =
            text.lines().take_while(|line| !ends.iter().any(|end| line.trim_start().starts_with(end)));
        lines.map(|line| format!("{line}\n")).collect()
    };
    for text in
        [above(HISTOGRAM, &["# Total", "# Min"]), above(RTLA, &["over:"]), above(OSLAT, &["Minimum:"])]
    {
        let error = read(Path::new("x"), text.as_bytes()).expect_err("its end is not known").to_string();
        assert!(error.contains("its table was cut"), "{error}");
    }
    let empty = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:05\nIndex\nover:\ncount:\n";
    for text in [empty.to_owned(), empty.replace("over:", "over: 0").replace("count:", "count: 0")] {
        let error = read(Path::new("x"), text.as_bytes()).expect_err("no sample").to_string();
        assert!(error.contains("nothing took as long as the threshold"), "{error}");
    }
}

/// Wherever a table was cut: what is left of it meets no gate that the whole one misses.
#[test]
fn what_is_left_of_a_table_is_refused_or_its_largest_latency_is_known() {
    for text in [HISTOGRAM, RTLA, OSLAT] {
        let largest = run(text).all().max();
        for (at, _) in text.match_indices('\n') {
            let Ok(run) = read(Path::new("x"), &text.as_bytes()[..=at]) else { continue };
            let is_unknown = run.threads.iter().any(|thread| thread.histogram.count() == 0);
            assert!(run.all().max() == largest || is_unknown, "{}", &text[..=at]);
        }
    }
}

/// Without the line `Index` the columns are those of the counts, and have no CPU.
#[test]
fn a_histogram_of_rtla_without_its_columns_names_has_its_extremes() {
    let rows = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:01:00\n...\n\
        count:     5629      1364\nmin:          1         1\navg:          2         0\nmax:       2955        56\n";
    let read = run(rows);
    let of = |at: usize| {
        let thread = &read.threads[at];
        let histogram = &thread.histogram;
        (thread.cpu, histogram.count(), histogram.min(), histogram.mean(), histogram.max())
    };
    let us = |us: i64| Some(Ns::from_us(us));
    assert_eq!(of(0), (None, 5_629, us(1), us(2), us(2_955)));
    // rtla before 2023 has a mean of osnoise below its minimum.
    assert_eq!(of(1), (None, 1_364, us(1), None, us(56)));
    let notes = read.notes.join("\n");
    for words in ["the mean of column 2, 0 us, is not between", "the line `Index`"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    let both = run(&format!("{rows}{}", rows.replace("2955", "8   ")));
    assert_eq!(
        (both.threads.len(), both.all().max()),
        (4, us(2_955)),
        "two tables, of which the later is better"
    );
    // Without a column, and without a title.
    let none = "$ rtla osnoise hist -d 10s\nIndex\nover: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n";
    for text in [none.to_owned(), rows.replace("5629      1364", "0 0")] {
        let error = read_error(&text);
        assert!(error.contains("there is no sample in it"), "{error}");
    }
    assert!(read_error("Index\ncount: 7\n").contains("not a measurement of a supported tool"));
}

fn read_error(text: &str) -> String {
    super::super::read(Path::new("x"), text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn documents_indent_and_scripts_comment_out_what_a_tool_printed() {
    let read = |text: &str| super::read(Path::new("run"), text.as_bytes()).expect("a measurement");
    let plain = "T: 0 (24683) P:99 I:1000 C:   2000 Min:      1 Act:    6 Avg:    2 Max:    1771\n";
    let nanoseconds = RTLA.replace("microseconds (us)", "nanoseconds (ns)");
    let runqlat = "Tracing run queue latency... Hit Ctrl-C to end.\n     usecs               : count     distribution\n\
        0 -> 1          : 12       |****|\n         2 -> 3          : 3        |*   |\n";
    for text in [HISTOGRAM, RTLA, &nanoseconds, OSLAT, plain, runqlat] {
        let with = |mark: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        for dressed in [with("    "), with("\t"), with("# "), with("    # "), with("+"), with("+  ")] {
            let (dressed, own) = (read(&dressed), read(text));
            assert_eq!((&dressed.threads, &dressed.notes), (&own.threads, &own.notes), "{text}");
        }
    }
    assert_eq!(read(&nanoseconds.replace('\n', "\n  ")).all().max(), read(&nanoseconds).all().max());
}

#[test]
fn what_is_missing_between_lines_of_cyclictest_is_noticed() {
    let refused =
        |text: &str| crate::latencies::read(Path::new("x"), text.as_bytes()).expect_err(text).to_string();
    let status = |thread: u32| {
        format!(
            "T: {thread} ( 90{thread}) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744\n"
        )
    };
    let error = refused(&format!("{}{}...\n{}", status(0), status(1), status(4)));
    assert!(error.contains("between the lines of thread 1 and thread 4"), "{error}");
    // One thread of several may be all that is of interest.
    assert_eq!(run(&status(4)).all().max(), Some(Ns::from_us(744)));
    let samples = |cycles: &[u64]| -> String {
        cycles.iter().map(|cycle| format!("       0:{cycle:8}:{:8}\n", 10 + cycle % 7)).collect()
    };
    let error = refused(&samples(&[0, 1, 2, 3, 900, 901]));
    assert!(error.contains("between its samples 3 and 900 of thread 0"), "{error}");
    // `--oscope 4`
    assert_eq!(run(&samples(&[2, 4, 11, 12, 18, 22])).all().count(), 6);
}

/// The last rows of a table are those that a page leaves out, and nothing but the command shows it.
#[test]
fn fewer_threads_than_the_command_asks_for_are_refused() {
    let row = |thread: u32| {
        format!("T: {thread} ( {}) P:90 I:1000 C:   5000 Min:  2 Act:  3 Avg:  3 Max:  19\n", 70 + thread)
    };
    let text = |command: &str, rows: u32| format!("# {command}\n{}", (0..rows).map(row).collect::<String>());
    let refused = read(Path::new("x"), text("cyclictest -m -t 4 -p 90", 3).as_bytes());
    let error = refused.expect_err("a table that was cut").to_string();
    assert!(error.contains("its command asks for 4 threads, and the lines of 3 are here"), "{error}");
    for whole in
        [text("cyclictest -m -t 4 -p 90", 4), text("cyclictest -m -t -p 90", 3), text("cyclictest -S", 3)]
    {
        assert!(read(Path::new("x"), whole.as_bytes()).is_ok(), "{whole}");
    }
}

#[test]
fn remarks_behind_the_lines_below_a_histogram_are_none_of_their_numbers() {
    let remarks = [
        ("# Min Latencies: 00017 00017", " -- 17 us \u{662f}\u{6700}\u{5c0f}\u{503c}"),
        ("# Avg Latencies: 00046 00018", "   (46 us and 18 us)"),
        ("# Max Latencies: 01026 00018", " <- 1 ms"),
        ("# Histogram Overflows: 00002 00000", " above 19 us"),
    ];
    let remarked = remarks
        .iter()
        .fold(HISTOGRAM.to_owned(), |text, (line, remark)| text.replace(line, &format!("{line}{remark}")));
    assert_eq!(run(&remarked).threads, run(HISTOGRAM).threads);
    // A remark that follows one column is not the second one.
    let one = "# Histogram\n000003 000010 -- 7\n# Total: 000000010 -- of 12\n# Min Latencies: 00003 -- 4\n# Avg Latencies: 00003 -- 4\n\
               # Max Latencies: 00463 -- 99\n# Histogram Overflows: 00002 -- 99 us\n";
    let histogram = &run(one).threads[0].histogram;
    assert_eq!((run(one).threads.len(), histogram.count(), histogram.overflow()), (1, 12, 2));
    assert_eq!(histogram.max(), Some(Ns::from_us(463)));
}

#[test]
fn samples_beyond_the_classes_count_beside_the_total_of_the_classes() {
    // Whole: 14 in classes, 2 beyond.
    assert_eq!(run(HISTOGRAM).threads[0].histogram.count(), 16);
    // With rows left out it is the same number.
    let cut = HISTOGRAM.replace("000017 000004\t000001\n", "More entries ...\n");
    let run = run(&cut);
    let counts: Vec<u64> = run.threads.iter().map(|thread| thread.histogram.count()).collect();
    assert_eq!(counts, [16, 21]);
    let note = "a thread's classes hold 10 of 14 samples, so they are not used";
    assert!(run.notes.iter().any(|other| other.ends_with(note)), "{:?}", run.notes);
}

#[test]
fn runs_that_stand_side_by_side_are_refused() {
    let below = "# Min Latencies: 00003\n# Avg Latencies: 00005\n# Max Latencies: 00463\n";
    let other = "# Min Latencies: 00002\n# Avg Latencies: 00009\n# Max Latencies: 09611\n";
    let line = |(one, two): (&str, &str)| format!("{one}     {two}\n");
    let beside: String = below.lines().zip(other.lines()).map(line).collect();
    let with_table = format!("# Histogram\n000003 000010\n# Total: 000000010\n{beside}");
    let threads = "T: 0 (  71) P:80 I:1000 C:  2000 Min: 14 Act: 24 Avg: 34 Max: 744    T: 0 (  91) P:80 I:1000 C:  2000 Min: 14 \
                   Act: 24 Avg: 34 Max: 9611\n";
    for text in [beside.as_str(), &with_table, threads] {
        let why = read_error(text);
        assert!(why.contains("side by side") && why.contains("9611 us is the greatest"), "{why}");
    }
}

#[test]
fn tests_of_two_kinds_are_refused_with_the_largest_of_each() {
    let end = "RTS|      1.175|      2.955|     87.379|      40|     0|    00:01:00/00:01:00\n";
    let why = read_error(&format!("{HISTOGRAM}\n{end}"));
    assert!(why.contains("1.03 ms in cyclictest (timer)") && why.contains("87.38 us in Xenomai"), "{why}");
}

#[test]
fn a_broken_measurement_does_not_hide_another_one() {
    let latmus = "# sampling period: 1000 microseconds\n# duration (hhmmss): 00:00:20\n# min latency: 1.205\n# avg latency: 3.097\n\
                  # max latency: 25.510\n# sample count: 19876\n";
    let why = read_error(&format!("# Max Latencies: 00066 00091\n\n{latmus}"));
    assert!(
        why.contains("91 us is the greatest") && why.contains("latmus (timer), the largest latency 25.51 us"),
        "{why}"
    );
}

#[test]
fn comments_of_cyclictest_may_have_other_blanks() {
    let below =
        "# Total: 000040017\n# Min Latencies: 00004\n# Avg Latencies: 00012\n# Max Latencies: 00066\n";
    for blanks in ["#", "#  ", "#\t"] {
        assert_eq!(run(&below.replace("# ", blanks)), run(below), "{blanks}");
        assert_eq!(run(&HISTOGRAM.replace("# ", blanks)), run(HISTOGRAM), "{blanks}");
    }
}

#[test]
fn the_lines_below_a_table_of_oslat_have_its_extremes() {
    let footer = "     Minimum:\t 1 1 3 (us)\n     Average:\t 1.000 1.250 4.000 (us)\n     Maximum:\t 12 61 40 (us)\n\
                  \x20    Max-Min:\t 11 60 37 (us)\n    Duration:\t 9.001 9.001 9.001 (sec)\n";
    for mark in ["", "+", "    "] {
        let lines: String = footer.lines().map(|line| format!("{mark}{line}\n")).collect();
        let run = run(&format!("+    010 (us):\t 7 4 1\n+  ...\n{lines}"));
        assert_eq!((run.tool.as_str(), run.threads.len()), ("oslat", 3), "{mark}");
        let second = &run.threads[1];
        assert_eq!(second.histogram.max_bounds().map(|bounds| bounds.most), Some(Ns::from_us(61)), "{mark}");
        assert_eq!((second.cpu, second.histogram.mean()), (None, Some(Ns(1_250))));
        assert!(run.notes.iter().any(|note| note.contains("of how many samples")), "{:?}", run.notes);
    }
    let two = run(&format!("{footer}\nthen\n\n{}", footer.replace("61 40", "9 40")));
    assert_eq!((two.threads.len(), two.all().max()), (6, Some(Ns::from_us(61))));
    // Such words alone are no tool's.
    assert!(read(Path::new("a.txt"), b"Minimum: 1 (us)\nAverage: 2 (us)\nMaximum: 3 (us)\n").is_err());
}

#[test]
fn what_stands_before_each_line_is_taken_off() {
    for text in [HISTOGRAM, RTLA, OSLAT] {
        for prefix in ["[VM 1] ", "node3 | ", "guest-a: "] {
            let lines: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            assert_eq!(run(&lines), run(text), "{prefix}");
        }
        // Two guests, line by line.
        let both: String = text.lines().map(|line| format!("[VM 1] {line}\n[VM 2] {line}\n")).collect();
        assert_eq!(run(&both).all().count(), run(text).all().count() * 2);
    }
}

/// As `grep '^#'` leaves them: how many samples there were is in the line with Total.
#[test]
fn the_lines_below_a_histogram_alone_have_its_samples_and_extremes() {
    let total = "# Total: 000040017 000040015\n";
    let extremes = "# Min Latencies: 00004 00003\n# Avg Latencies: 00012 00011\n";
    let most = "# Max Latencies: 00066 00091\n# Histogram Overflows: 00000 00000\n";
    let summed = "# Total: 000040017 000040015 000080032\n# Max Latencies: 00066 00091 00091\n";
    for text in [
        format!("# Histogram\n{total}{extremes}{most}"),
        format!("{total}{most}"),
        summed.to_owned(),
        format!("{}{most}", total.replace("000040015", "000040012")).replace("00000 00000", "00000 00003"),
    ] {
        let run = run(&text);
        let of = |at: usize| (run.threads[at].histogram.count(), run.threads[at].histogram.max());
        assert_eq!(of(0), (40_017, Some(Ns::from_us(66))), "{text}");
        assert_eq!(of(1), (40_015, Some(Ns::from_us(91))), "{text}");
        assert_eq!(run.threads.len(), 2, "{text}");
        assert!(
            run.notes.iter().any(|note| note.contains("all lines of the histogram are missing")),
            "{text}"
        );
    }
    for text in [
        most.to_owned(),
        format!("# Total: 000040017\n{extremes}{most}"),
        format!("{extremes}{most}").repeat(2),
    ] {
        let error = read_error(&format!("# Histogram\n{text}"));
        assert!(error.contains("of how many samples is not known"), "{text}: {error}");
    }
}
