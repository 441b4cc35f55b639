//! Rows without priorities beside rows with them, and one run in both forms.

use super::*;

const ROWS: &str = "\
 77.100100 [0001]  hog[20]     0.000  0.000  0.100
 77.100300 [0001]  app[30]     0.100  0.050  0.200
 77.100600 [0001]  hog[20]     0.200  0.000  0.300
 77.100900 [0001]  app[30]     0.300  0.020  0.300
";

/// The priorities of a thread in the switches to it and away from it.
fn priorities(text: &str, tid: i32) -> Vec<i32> {
    let of = |event: Event| match event.kind {
        Switch(switch) if switch.prev_tid == Tid(tid) => Some(switch.prev_prio.0),
        Switch(switch) if switch.next_tid == Tid(tid) => Some(switch.next_prio.0),
        _ => None,
    };
    all(text).0.into_iter().filter_map(of).collect()
}

fn waking(us: i64, prio: i32) -> String {
    format!("hog  20 [001]  77.{us:06}: sched:sched_waking: comm=app pid=30 prio={prio} target_cpu=001\n")
}

fn switch(us: i64, prev: (&str, i32), next: (&str, i32)) -> String {
    format!(
        "{0}  {1} [001]  77.{us:06}: sched:sched_switch: prev_comm={0} prev_pid={1} prev_prio=120 prev_state=S ==> \
         next_comm={2} next_pid={3} next_prio=24\n",
        prev.0, prev.1, next.0, next.1
    )
}

#[test]
fn a_priority_that_one_row_shows_is_that_of_all() {
    let unknown = Priority::UNKNOWN.0;
    assert_eq!(priorities(ROWS, 30), [unknown; 4]);
    assert_eq!(priorities(&(ROWS.to_owned() + &waking(100250, 24)), 30), [24; 4]);
    assert_eq!(priorities(&(ROWS.to_owned() + &waking(100250, 24)), 20), [unknown; 3]);
    // With several it is not known which it had when.
    let changed = ROWS.to_owned() + &waking(100250, 24) + &waking(100880, 120);
    assert_eq!(priorities(&changed, 30), [unknown; 4]);
}

#[test]
fn of_one_run_in_two_forms_the_events_are_taken() {
    let events = switch(100100, ("hog", 20), ("app", 30)) + &switch(100300, ("app", 30), ("hog", 20));
    let (both, info) = all(&format!("{ROWS}\n{events}"));
    assert_eq!(both.len(), 2, "{both:?}");
    let noted = |info: &TraceInfo| info.damage.iter().any(|damage| damage.what.contains("timehist"));
    assert!(noted(&info) && info.left_out.is_empty(), "{info:?}");
    assert_eq!(info.format, all(&events).1.format);
    // Those of another run do not replace the rows.
    let (other, info) = all(&format!("{ROWS}\n{}", events.replace(" 77.", " 79.")));
    assert!(other.len() > 4 && !noted(&info), "{other:?}");
}
