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
