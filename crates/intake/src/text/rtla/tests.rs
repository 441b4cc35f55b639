//! Lines of rtla's analyses, and what they come to.

use super::*;
use PartKind::*;

/// All that an analysis may hold, by the source of rtla 6.5 to 6.17.
const THREAD: &str = "\
## CPU 3 hit stop tracing, analyzing it ##
  Previous IRQ interference:\t\t\t up to       1.50 us
  IRQ handler delay:\t\t(exit from idle)\t    36.51 us (41.43 %)
  IRQ latency:\t\t\t\t\t\t    38.01 us
  Timerlat IRQ duration:\t\t\t\t     9.59 us (10.88 %)
  Blocking thread:\t\t\t\t\t    23.79 us (27.00 %)
\t            kworker/u8:2:4532     \t\t    23.79 us
    Blocking thread stack trace
\t\t-> timerlat_irq
\t\t-> ext4_sync+0x5/0x10
  NMI interference\t\t\t\t\t     1.00 us (1.13 %)
  IRQ interference\t\t\t\t\t     3.80 us (4.31 %)
\t             local_timer:236      \t\t     2.80 us
\t                     eth 0:36       \t\t     1.00 us
  Softirq interference\t\t\t\t\t     5.00 us (5.67 %)
\t                   TIMER:1        \t     5.00 us
  Thread interference\t\t\t\t\t     7.42 us (8.42 %)
\t             migration/3:27       \t\t     7.42 us
------------------------------------------------------------------------
  Thread latency:\t\t\t\t\t    88.12 us (100%)
";

fn read(text: &str) -> (Analyses, Vec<RtlaLine>) {
    let mut analyses = Analyses::default();
    let lines = (1..).zip(text.lines()).map(|(number, line)| analyses.line(number, line.trim())).collect();
    analyses.end();
    (analyses, lines)
}

fn parts(breakdown: &Breakdown) -> Vec<(PartKind, &str, Option<u32>, i64, bool)> {
    let row = |part: &BreakdownPart| (part.kind, part.id, part.time.0, part.is_sum);
    breakdown
        .parts
        .iter()
        .map(|part| (row(part), part.name.as_str()))
        .map(|((k, i, t, s), n)| (k, n, i, t, s))
        .collect()
}

#[test]
fn all_parts_of_a_threads_latency() {
    let (analyses, lines) = read(THREAD);
    assert!(lines.iter().all(|lines| *lines == RtlaLine::Read), "{lines:?}");
    let [found] = analyses.breakdowns.as_slice() else { panic!("{:?}", analyses.breakdowns) };
    assert_eq!((found.tool, found.cpu, found.total, found.line), (Tool::RtlaTimerlat, Cpu(3), Ns(88_120), 1));
    assert_eq!(found.stack, ["timerlat_irq", "ext4_sync+0x5/0x10"]);
    assert_eq!(
        parts(found),
        [
            (IrqDelay, "exit from idle", None, 36_510, true),
            (IrqDelay, "up to, by an interrupt before", None, 1_500, false),
            (IrqLatency, "", None, 38_010, false),
            (TimerIrq, "", None, 9_590, false),
            (BlockingThread, "", None, 23_790, true),
            (BlockingThread, "kworker/u8:2", Some(4532), 23_790, false),
            (Nmi, "", None, 1_000, false),
            (Irq, "", None, 3_800, true),
            (Irq, "local_timer", Some(236), 2_800, false),
            (Irq, "eth 0", Some(36), 1_000, false),
            (Softirq, "", None, 5_000, true),
            (Softirq, "TIMER", Some(1), 5_000, false),
            (Thread, "", None, 7_420, true),
            (Thread, "migration/3", Some(27), 7_420, false),
        ]
    );
}

#[test]
fn an_interrupts_latency_names_the_thread_without_a_time() {
    let text = "## CPU 0 hit stop tracing, analyzing it ##\n\
        IRQ handler delay:\t\t                \t     0.00 us (0.00 %)\n\
        IRQ latency:\t\t\t\t\t\t     1.41 us\n\
        Blocking thread:\n\t                 objtool:1164041  \n\
        ------------------------------------------------------------------------\n\
        IRQ latency:\t\t\t\t\t     1.41 us (100%)\n\n\
        Max timerlat IRQ latency from idle: 1.41 us in cpu 0\n\n\
        Printing CPU tasks:\n    [000]  swapper/0:0\n    [001]  a b:c:17 kworker:work_fn:<...>\n  Saving trace to timerlat_trace.txt\n";
    let (analyses, lines) = read(text);
    assert_eq!(
        parts(&analyses.breakdowns[0]),
        [
            (IrqDelay, "", None, 0, false),
            (IrqLatency, "", None, 1_410, false),
            (BlockingThread, "", None, 0, true),
            (BlockingThread, "objtool", Some(1_164_041), 0, false),
        ]
    );
    assert_eq!(analyses.breakdowns[0].total, Ns(1_410));
    let tasks: Vec<_> = lines.iter().filter(|lines| matches!(lines, RtlaLine::Task(..))).collect();
    assert_eq!(
        tasks,
        [&RtlaLine::Task(Tid(0), "swapper/0".into()), &RtlaLine::Task(Tid(17), "a b:c".into())]
    );
    assert_eq!(lines.iter().filter(|lines| **lines == RtlaLine::Nothing).count(), 2, "the two empty lines");
}

#[test]
fn lost_tabs_make_no_difference() {
    let squeezed: String = THREAD
        .lines()
        .map(|line| format!("{}\n", line.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect();
    let (analyses, _) = read(&squeezed);
    assert_eq!(analyses.breakdowns, read(THREAD).0.breakdowns);
    let glued = THREAD.replace('\t', "").replace(":   ", ":");
    assert_eq!(read(&glued).0.breakdowns[0].total, Ns(88_120));
}

#[test]
fn a_cut_analysis_is_kept_and_took_as_long_as_its_parts_together() {
    // After so many lines; the first one with a time of its own is the third.
    let together = |lines| match lines {
        ..=2 => None,
        3 => Some(36_510),
        4 => Some(38_010),
        // The handler's beginning is in its own duration.
        5 => Some(46_100),
        6..=10 => Some(69_890),
        11 => Some(70_890),
        12..=14 => Some(74_690),
        15..=16 => Some(79_690),
        _ => Some(87_110),
    };
    let whole = read(THREAD).0.breakdowns.remove(0);
    for count in 2..THREAD.lines().count() {
        let cut: String = THREAD.lines().take(count).map(|line| format!("{line}\n")).collect();
        let (analyses, _) = read(&format!("{cut}{THREAD}"));
        assert_eq!(analyses.breakdowns.last().map(|last| &last.parts), Some(&whole.parts), "{count}");
        let (analyses, _) = read(&cut);
        let total = analyses.breakdowns.first().map(|first| first.total.0);
        assert_eq!(total, together(count), "{count}");
        assert!(analyses.breakdowns.iter().all(|cut| cut.is_cut), "{count}");
    }
    assert!(!whole.is_cut);
    // What an interrupt before took at most is within the delay.
    let before = THREAD.replace("1.50 us\n", "90.00 us\n");
    let cut: String = before.lines().take(5).map(|line| format!("{line}\n")).collect();
    assert_eq!(read(&cut).0.breakdowns[0].total, Ns(46_100));
}

#[test]
fn the_line_that_rtla_does_not_end_is_two() {
    let glued = THREAD.replace("1.50 us\n", "1.50 us");
    assert_eq!(read(&glued).0.breakdowns[0].parts, read(THREAD).0.breakdowns[0].parts);
}

#[test]
fn a_row_of_the_table_may_have_one_stage_only() {
    let table = "CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n\
        2 #0         |        -         -         -         - |      161       161       161       161\n\
        8 #1         |       54        54        54        54 |        -         -         -         -\n\
        9 #0         |        -         -         -         - |        -         -         -         -\n";
    let (analyses, lines) = read(table);
    let rows: Vec<_> = analyses
        .breakdowns
        .iter()
        .map(|row| (row.cpu, row.total.0, row.parts.iter().map(|part| part.kind).collect::<Vec<_>>()))
        .collect();
    assert_eq!(rows, [(Cpu(2), 161_000, vec![Thread]), (Cpu(8), 54_000, vec![IrqLatency])]);
    assert!(lines.iter().all(|line| *line == RtlaLine::Read), "{lines:?}");
}

/// As a commit message quotes it: of 127 rows two are there, and the last line is of all.
#[test]
fn a_table_whose_last_line_has_more_than_its_rows_lacks_some() {
    let title =
        "CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n";
    let row = "1 #43200096  |        0         0         1         2 |        3         2         6        12\n...\n";
    let all = |most: &str| {
        format!(
            "ALL #119144 e4 |                  0         5         4 |                  2        28        {most}\n"
        )
    };
    let damage = |text: String| read(&text).0.damage().map(|damage| damage.what);
    let less = damage(format!("{title}{row}{}", all("16"))).unwrap_or_default();
    assert!(less.contains("ALL has a latency of 16.00 us, and no row has one above 12.00 us"), "{less}");
    assert_eq!(damage(format!("{title}{row}{}", all("12"))), None);
    assert_eq!(damage(format!("{title}{}{title}{row}", all("16"))), None, "of another run");
    assert_eq!(damage(format!("{title}{}", all("16"))), None, "without a row there is nothing to correct");
}

#[test]
fn strange_lines_within_are_reported() {
    for line in ["IRQ latency: much (100%)", "what", "x:y 1.00 us", "Thread latency: 1.x us (100%)"] {
        let (_, lines) = read(&format!("## CPU 0 hit stop tracing, analyzing it ##\n{line}\n"));
        assert_eq!(lines[1], RtlaLine::Strange, "{line}");
    }
    for line in [
        "## CPU x hit stop tracing, analyzing it ##",
        "## CPU 3",
        "-> f",
        "dear all",
        "0 1 2",
        "max: 5",
        "0 #29 1 2 3.5 4 5 6 7",
    ] {
        assert_eq!(read(line).1, [RtlaLine::Nothing], "{line}");
    }
}

#[test]
fn tables_are_known_and_osnoise_gives_its_longest_noise() {
    let table = "\x1b[2;37;40m                  Operating System Noise           \x1b[0;0;0m\n\
        duration:   0 00:00:03 | time is in us\n\
        \x1b[2;30;47mCPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW\x1b[0;0;0m\n\
          0 #29          1450000         3392    99.76606         710          546           0            0          350            0           62\n\
          1 #29          1450000         3392    99.76606         710           46           0            0          350            0           62\n\
          0 #30          1450000         3392    99.76606         710          999           0            0          350            0           62\n";
    let (analyses, lines) = read(table);
    assert!(lines.iter().all(|lines| *lines == RtlaLine::Read), "{lines:?}");
    let found: Vec<_> =
        analyses.breakdowns.iter().map(|found| (found.tool, found.cpu, found.total, found.line)).collect();
    assert_eq!(
        found,
        [(Tool::RtlaOsnoise, Cpu(1), Ns::from_us(46), 5), (Tool::RtlaOsnoise, Cpu(0), Ns::from_us(999), 6)]
    );
    let timerlat = "                                     Timer Latency\n\
          0 00:00:01   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n\
        CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n\
          0 #1         |        1         1         1         1 |       32        32        32        32\n\
          1 #1         |        1         1         1         1 |        -         -         -         -\n\
        ---------------|----------------------------------------|---------------------------------------\n\
        ALL #1      e0 |                  1         1         1 |                 32        32        32\n\
        rtla timerlat hit stop tracing\n# RTLA timerlat histogram\nIndex   IRQ-000   Thr-000\n\
        0             1         0\nover:         0         0\ncount:        1         1\nALL:\n";
    let (analyses, said) = read(timerlat);
    let rows: Vec<_> =
        analyses.breakdowns.iter().map(|row| (row.tool, row.cpu, row.total, parts(row))).collect();
    let irq = |us: i64| (IrqLatency, "", None, us * 1_000, false);
    let thread = (Thread, "", None, 32_000, false);
    let means = vec![(MeanIrqLatency, "", None, 1_000, false), (MeanThreadLatency, "", None, 32_000, false)];
    assert_eq!(
        rows,
        [
            (Tool::RtlaTimerlatTop, Cpu(0), Ns::from_us(32), [vec![irq(1), thread], means].concat()),
            (Tool::RtlaTimerlatTop, Cpu(1), Ns::from_us(1), vec![irq(1)]),
        ]
    );
    assert!(said.iter().all(|said| *said == RtlaLine::Read), "{said:?}");
}

#[test]
fn a_table_in_nanoseconds_or_without_its_title_is_read() {
    let row =
        "  2 #812       |      401       380       420      1902 |     5210      4800      5300     88123";
    let totals =
        |text: &str| -> Vec<_> { read(text).0.breakdowns.iter().map(|row| (row.cpu, row.total)).collect() };
    let head =
        "CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max";
    assert_eq!(totals(&format!("{head}\n{row}\n")), [(Cpu(2), Ns::from_us(88_123))]);
    let unit = "  0 00:00:01   |          IRQ Timer Latency (ns)        |         Thread Timer Latency (ns)";
    assert_eq!(totals(&format!("Timer Latency\n{unit}\n{head}\n{row}\n{row}\n")), [(Cpu(2), Ns(88_123))]);
    assert_eq!(totals(row), []);
}

#[test]
fn an_analysis_without_its_first_line_is_read() {
    let rest: String = THREAD.lines().skip(2).map(|line| format!("{line}\n")).collect();
    let (analyses, said) = read(&rest);
    assert!(said.iter().all(|said| *said == RtlaLine::Read), "{said:?}");
    let [found] = analyses.breakdowns.as_slice() else { panic!("{:?}", analyses.breakdowns) };
    // By `migration/3`, one of its threads.
    assert_eq!((found.cpu, found.total), (Cpu(3), Ns(88_120)));
    let unknown = read(&rest.replace("migration/3", "stress")).0.breakdowns.remove(0);
    assert_eq!(unknown.cpu, Cpu::UNKNOWN);
    assert_eq!(read("IRQ latency is bad\nThe IRQ latency: 3\n").0.breakdowns, []);
}

#[test]
fn text_behind_the_total_is_no_part_of_it() {
    let text = "## CPU 2 hit stop tracing, analyzing it ##\n  IRQ handler delay:  (exit from idle)  40.00 us (80.00 %)\n\
        IRQ latency:  41.00 us\n  Timerlat IRQ duration:  2.00 us (4.00 %)\n  Blocking thread:  1.00 us (2.00 %)\n\
        swapper/2:0  1.00 us\n  Thread latency:  50.00 us (100%)Max timerlat IRQ latency from idle: 41.00 us in cpu 2\n";
    let (analyses, _) = read(text);
    assert_eq!(analyses.breakdowns[0].total, Ns(50_000));
}

#[test]
fn the_row_of_columns_is_enough_for_osnoise_and_hwnoise() {
    let head =
        "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI";
    let hardware = "  3 #321  83460000  71178  99.91471  2107  2103  19  2";
    for (head, row) in [
        (head.to_owned(), hardware.to_owned()),
        (format!("{head}          IRQ      Softirq       Thread"), format!("{hardware}  350  0  62")),
    ] {
        let (analyses, lines) = read(&format!("{head}\n{row}\n"));
        assert_eq!(lines, [RtlaLine::Read, RtlaLine::Read]);
        let [found] = analyses.breakdowns.as_slice() else { panic!("{:?}", analyses.breakdowns) };
        let hits = found.part(Hardware).and_then(|part| part.id);
        assert_eq!(
            (found.tool, found.cpu, found.total, hits),
            (Tool::RtlaOsnoise, Cpu(3), Ns::from_us(2_103), Some(19))
        );
    }
    assert_eq!(read(hardware).1, [RtlaLine::Nothing], "a row alone shows nothing");
}
