//! Reports without samples, read as any measurement is.

use super::*;
use crate::latencies::perf_sched::tests::TABLES;
use crate::latencies::rtla_top::tests::{OSNOISE, TIMERLAT};

const HWLATDETECT: &str = "hwlatdetect:  test duration 60 seconds\n        Latency threshold: 10us\nMax Latency: 19us\n\
    Samples exceeding threshold: 6\n";

fn all() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().chain([TIMERLAT, OSNOISE, HWLATDETECT])
}

#[test]
fn what_a_mail_or_a_script_adds_is_taken_off() {
    for text in all() {
        for mark in ["> > ", "# "] {
            let marked: String = text.lines().map(|line| format!("{mark}{line}\n")).collect();
            assert_eq!(run(&marked), run(text), "{mark}{text}");
        }
    }
}

#[test]
fn runs_of_one_table_are_taken_together_and_none_is_left_out() {
    let later = TIMERLAT.replace("#12320", "#320").replace("41\n", "97\n");
    for (text, largest) in [
        (format!("{TIMERLAT}\nwith it\n{later}"), "41.00 us in run 1, 97.00 us in run 2"),
        (format!("{later}\nwithout it\n{TIMERLAT}"), "97.00 us in run 1, 41.00 us in run 2"),
    ] {
        let both = run(&text);
        assert_eq!((both.threads.len(), both.all().max()), (8, Some(Ns::from_us(97))), "{text}");
        let notes = both.notes.join("\n");
        assert!(notes.contains("the file holds 2 runs of rtla") && notes.contains(largest), "{notes}");
    }
}

/// What is left of a table has no larger latency than the table, whatever was cut off.
#[test]
fn a_report_that_was_cut_anywhere_is_survived() {
    for text in all() {
        let whole = run(text).all().max();
        for at in 0..text.len() {
            let cut = read(Path::new("x"), &text.as_bytes()[..at]);
            assert!(!cut.is_ok_and(|run| run.all().max() > whole), "{at}: {text}");
        }
    }
}

/// A measurement with samples counts, and no report beside it.
#[test]
fn samples_come_before_reports() {
    for report in all() {
        assert_eq!(run(&format!("{RTLA}\n{report}")).all(), run(RTLA).all(), "{report}");
    }
}
