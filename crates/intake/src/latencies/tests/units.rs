//! Which unit a summary counts in.

use super::{DATASET, HISTOGRAM, run};
use whylate_base::Ns;

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
    let status = IN_NS.replace("937027", "  1025");
    let both = HISTOGRAM.replace("# Histogram\n", &format!("{status}# Histogram\n"));
    assert_eq!((run(&both).threads.len(), run(&both).all().max()), (2, Some(Ns(1_026))));
}

#[test]
fn wide_columns_of_old_summaries_are_microseconds() {
    let old = "T: 0 (  811) P:80 I:   10000 C:   20000 Min:      17 Act:      33 Avg:     21 Max:      64\n";
    let all = run(old).all();
    assert_eq!((all.min(), all.max()), (Some(Ns::from_us(17)), Some(Ns::from_us(64))));
    let signal = "T: 0 (  811) P:80 C:   20000 Min:      17 Act:      33 Avg:      21 Max:      64\n";
    assert_eq!(run(signal).all().max(), Some(Ns::from_us(64)));
}

#[test]
fn a_unit_that_nothing_tells_is_doubted() {
    let status =
        |mean| format!("T: 0 (  77) P:90 I:1000 C: 50000 Min:   611 Act:  905 Avg: {mean} Max:  7200\n");
    let notes = |mean| run(&status(mean)).notes.join("; ");
    assert!(notes(1_201).contains("the mean is 1.20 ms, and the interval"), "{}", notes(1_201));
    assert!(!notes(999).contains("cyclictest -N"), "{}", notes(999));
    let doubted = |text: &str| run(text).notes.iter().any(|note| note.contains("cyclictest -N"));
    assert!(!doubted(HISTOGRAM) && !doubted(IN_NS));
    assert!(doubted("       0:       0:   21000\n       0:       1:   20000\n"));
    assert!(!doubted("       0:       0:   21000\n       0:       1:     200\n"));
}

#[test]
fn few_samples_beyond_the_classes_leave_the_mean_as_it_is() {
    let of = |max: u32| run(&DATASET.replace("[2, 7]", &format!("[2, {max}]"))).threads[1].histogram.mean();
    assert_eq!((of(7), of(700)), (Some(Ns(1_900)), None));
}

#[test]
fn two_rows_of_timerlat_make_no_wide_classes() {
    let text = |rows: &str, ends: &str| {
        format!(
            "# RTLA timerlat histogram\n# Time unit is microseconds (us)\nIndex   IRQ-000   Thr-000\n{rows}over: 0 0\n{ends}"
        )
    };
    let few = text("9     1     0\n24    0     1\n", "count: 1 1\nmin: 9 24\navg: 9 24\nmax: 9 24\n");
    let run_of_few = run(&few);
    assert!(run_of_few.notes[0].starts_with("counted in classes of 1 us"), "{:?}", run_of_few.notes);
    // Its exact extremes show that classes are wider than their distance from these.
    let wide = text("10     2     0\n20    0     2\n", "count: 2 2\nmin: 13 23\navg: 15 25\nmax: 18 29\n");
    let extremes = "counted in classes of 10 us: percentiles are rounded down to their class, minimum and maximum to whole us";
    assert_eq!(run(&wide).notes[0], extremes);
    let many: String = (1..8).map(|row| format!("{} 1 1\n", row * 5)).collect();
    let many = text(&many, "count: 7 7\nmin: 5 5\navg: 20 20\nmax: 35 35\n");
    assert!(run(&many).notes[0].starts_with("counted in classes of 5 us"), "{:?}", run(&many).notes);
}

#[test]
fn of_the_latest_thread_of_timerlat_the_interrupt_s_part_is_known() {
    let text = "# RTLA timerlat histogram\nIndex   IRQ-000   Thr-000   IRQ-003   Thr-003\n0 9 8 9 8\nover: 1 2 1 2\n\
                count: 10 10 10 10\nmin: 0 0 0 0\navg: 3 5 41 47\nmax: 20 30 390 412\n";
    let notes = run(text).notes.join("; ");
    let known = "on CPU 3 the timer's interrupt, which comes before the thread, was late by up to 390 us, in the mean 41 us of 47 us";
    assert!(notes.contains(known), "{notes}");
}

#[test]
fn the_one_measurement_in_strings_is_read() {
    let lines = [
        "# RTLA osnoise histogram",
        "Index   CPU-000   CPU-003",
        "2 5 1",
        "over: 0 1",
        "count: 5 2",
        "min: 2 2",
        "avg: 2 40",
        "max: 2 80",
    ];
    let json = format!("{{\"code\": 0, \"output\": \"{}\\n\", \"tail\": \"a\\nb\\nc\"}}", lines.join("\\n"));
    let parts: String = lines.map(|line| format!("    \"{line}\\n\"\n")).concat();
    let source = format!("def test():\n    text = (\n{parts}    )\n    assert read(text)[\"valid\"]\n");
    let array = format!("[\n{}\n]", lines.map(|line| format!("  \"{line}\"")).join(",\n"));
    for text in [&json, &source, &array] {
        assert_eq!(run(text).all().max(), Some(Ns::from_us(80)), "{text}");
    }
    // Of two it is not known which is meant.
    assert!(super::super::read(std::path::Path::new("x"), format!("[{json},\n{json}]").as_bytes()).is_err());
}

#[test]
fn the_mean_of_a_histogram_is_not_the_one_that_cyclictest_cut() {
    let text = |overflows: u32, max: u32| {
        format!(
            "# Histogram\n000007 000003\n000008 000001\n# Total: 000000004\n# Min Latencies: 00007\n# Avg Latencies: 00007\n\
             # Max Latencies: {max:05}\n# Histogram Overflows: {overflows:05}\n"
        )
    };
    let whole = run(&text(0, 8));
    assert_eq!(whole.threads[0].histogram.mean(), Some(Ns(7_250)));
    assert!(!whole.notes.iter().any(|note| note.contains("cut to whole")), "{:?}", whole.notes);
    // How late the two samples beyond the classes were is not in the text.
    let beyond = run(&text(2, 90));
    assert_eq!(beyond.threads[0].histogram.mean(), Some(Ns::from_us(7)));
    let note =
        "the mean of thread 0 is cyclictest's, which is cut to whole us: the classes do not hold all samples";
    assert!(beyond.notes.iter().any(|one| one == note), "{:?}", beyond.notes);
}
