//! Tables of `perf sched timehist` as text has them.

use super::*;

/// An example of one recording, and behind it one of another.
#[test]
fn tables_of_two_recordings_are_two() {
    const TITLE: &str =
        "            time    cpu  task name                       wait time  sch delay   run time\n";
    let rows = |at: u32, tid: u32| {
        format!(
            "  {at}.000100 [0000]  app[{tid}]      0.000      0.000      0.000\n  \
             {at}.030000 [0000]  hog[8]      0.000      0.000      29.900\n  \
             {at}.031000 [0000]  app[{tid}]     29.900     20.000      1.000\n"
        )
    };
    let woken = |text: &str| {
        let (events, info) = all(text);
        let woken: Vec<_> = events.iter().filter(|event| matches!(event.kind, Waking(_))).collect();
        let at = woken.iter().map(|event| event.ts.0 / 1_000_000).collect::<Vec<_>>();
        (at, info.left_out.len())
    };
    let (late, early) = (rows(5_000, 7), rows(90, 9));
    let both = vec![90_010, 5_000_010];
    assert_eq!(woken(&format!("{TITLE}{late}\n{early}")), (both.clone(), 1));
    assert_eq!(woken(&format!("{TITLE}{early}{TITLE}{late}")), (both.clone(), 1));
    // Sorted by something else, or with a remark between: one recording.
    assert_eq!(woken(&format!("{late}{early}")), (both.clone(), 0));
    assert_eq!(woken(&format!("{TITLE}{early}\n{late}")), (both, 0));
}

#[test]
fn a_table_of_perf_sched_latency_beside_rows_is_shown() {
    let rows = "  5000.000100 [0000]  app[7]      0.000      0.000      0.000\n  \
                5000.030000 [0000]  hog[8]      0.000      0.000      29.900\n";
    let table = " ----------------------------------\n  \
         Task  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start  | Max delay end |\n \
         ----------------------------------\n  \
         hog:(3) |  30.125 ms |  12 | avg:  0.052 ms | max:  0.402 ms | max start:  80.000100 s | max end:  80.000502 s\n  \
         app:7 |  1.125 ms |  2 | avg: 7.500 ms | max: 12.250 ms | max start: 81.100000 s |\n max end: 81.112250 s\n \
         ----------------------------------\n";
    let sum = "  TOTAL:  |  31.250 ms |  14 |\n -----------------\n";
    let beside = |text: &str| {
        let (_, info) = all(text);
        let skipped = info.damage.iter().any(|one| one.what.contains("skipped lines"));
        let shown = info.damage.iter().find(|one| one.what.contains("perf sched latency"));
        (shown.map(|one| one.what.clone()).unwrap_or_default(), skipped)
    };
    let worst = "its largest delay is 12.250 ms, of app:7, from 81.100000 s to 81.112250 s";
    for text in [format!("{table}{sum}\n{rows}"), format!("{rows}\n{table}{sum}")] {
        let (shown, skipped) = beside(&text);
        assert!(shown.contains(&format!("{worst}. ")) && !skipped, "{shown}");
    }
    let (cut, _) = beside(&format!("{table}\n{rows}"));
    assert!(cut.contains(&format!("{worst}, and rows of it may be missing")), "{cut}");
    assert_eq!(beside(rows).0, "");
}
