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

/// The whole table cut by `head`, and behind it that of CPU 0 alone, which goes further.
#[test]
fn a_second_output_of_the_same_recording_has_only_its_new_rows() {
    const TITLE: &str =
        "            time    cpu  task name                       wait time  sch delay   run time\n";
    const FIRST: &str = "  90.000100 [0000]  app[7]      0.000      0.000      0.000\n";
    const OTHER: &str = "  90.020000 [0001]  job[9]      0.000      0.000      0.000\n";
    const SECOND: &str = "  90.030000 [0000]  hog[8]      0.000      0.000      29.900\n";
    const LAST: &str = "  90.031000 [0000]  app[7]     29.900     20.000      1.000\n";
    let read = |text: &str| {
        let (events, info) = all(text);
        assert!(!info.damage.iter().any(|damage| damage.what.contains("backwards")), "{:?}", info.damage);
        (
            events.iter().map(|event| (event.ts, event.cpu, event.kind)).collect::<Vec<_>>(),
            info.left_out.len(),
        )
    };
    let once = read(&format!("{TITLE}{FIRST}{OTHER}{SECOND}{LAST}"));
    let indented = |row: &str| format!("   {row}");
    let (first, second) = (indented(FIRST), indented(SECOND));
    let again = read(&format!(
        "{TITLE}{FIRST}{OTHER}{SECOND}  #\n  # perf sched timehist --cpu 0\n{TITLE}{first}{second}{LAST}"
    ));
    assert_eq!(again, once);
    // A row of an earlier time that is new begins what is sorted in.
    let (events, cuts) =
        read_unsorted(&format!("{TITLE}{FIRST}{SECOND}\n{TITLE}{FIRST}{OTHER}{SECOND}{LAST}"));
    assert_eq!((events.contains(&Cpu(1)), cuts), (true, 1));
}

/// The CPUs of the events, and how many pieces end before others.
fn read_unsorted(text: &str) -> (Vec<Cpu>, usize) {
    let (events, info) = all(text);
    (events.iter().map(|event| event.cpu).collect(), info.left_out.len())
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

#[test]
fn a_delay_from_before_another_wake_up_is_doubted() {
    let doubted = |between: &str, delay: &str| {
        let text = format!(
            "  70.100000 [0002]  hub[5]                         awakened: app[7]\n{between}\
             \u{20} 70.500100 [0003]  <idle>      0.010      0.010      0.300\n  70.500160 [0003]  app[7]      0.000    {delay}      0.060\n"
        );
        let (_, info) = all(&text);
        info.damage.iter().any(|one| one.what.starts_with("rows whose `sch delay` began before another"))
    };
    let again = "  70.500080 [0001]  hub[6]                         awakened: app[7]\n";
    assert!(doubted(again, "400.100"));
    // One wake-up; a delay from the second one; a wake-up that came as it ran already.
    assert!(!doubted("", "400.100"));
    assert!(!doubted(again, "0.020"));
    let later = "  70.500130 [0001]  hub[6]                         awakened: app[7]\n";
    assert!(!doubted(later, "400.100"));
    // Also where an earlier row of the thread is shown.
    let left = "  70.090000 [0003]  app[7]      0.000      0.010      0.200\n";
    let (_, info) = all(&format!(
        "{left}  70.100000 [0002]  hub[5]                         awakened: app[7]\n{again}\
         \u{20} 70.500100 [0003]  <idle>      410.010      0.000      410.100\n  70.500160 [0003]  app[7]      410.100    400.100      0.060\n"
    ));
    assert!(info.damage.iter().any(|one| one.what.contains("began before another wake-up")), "{info:?}");
}
