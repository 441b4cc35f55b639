//! Rows of switches that begin with the thread that comes.

use super::*;

/// Rows of a CPU on which two threads take turns; each begins with one of the two.
fn turns(rows: usize, head_is_next: impl Fn(usize) -> bool) -> String {
    let row = |at: usize| {
        let (prev, next) = if at.is_multiple_of(2) { (7, 8) } else { (8, 7) };
        let head = if head_is_next(at) { next } else { prev };
        format!(
            " t{head}-{head} [001] .... 5.{at:06}: sched_switch: prev_comm=t{prev} prev_pid={prev} prev_prio=120 prev_state=S ==> \
             next_comm=t{next} next_pid={next} next_prio=120\n"
        )
    };
    (0..rows).map(row).collect()
}

/// True of each switch whose running thread is the one that leaves.
fn are_as_linux_has_them(text: &str) -> Vec<bool> {
    let of_switch = |event: &Event| match event.kind {
        Switch(switch) => Some(event.context.tid == switch.prev_tid),
        _ => None,
    };
    all(text).0.iter().filter_map(of_switch).collect()
}

#[test]
fn rows_that_begin_with_the_next_thread_are_read_as_such() {
    assert_eq!(are_as_linux_has_them(&turns(6, |_| true)), [true; 6]);
    // One row of another form beside many.
    assert_eq!(are_as_linux_has_them(&turns(6, |at| at != 2)), [true; 6]);
    assert_eq!(are_as_linux_has_them(&turns(6, |_| false)), [true; 6]);
}

#[test]
fn each_row_is_read_by_its_own_head() {
    assert_eq!(are_as_linux_has_them(&turns(1, |_| true)), [true; 1]);
    assert_eq!(are_as_linux_has_them(&turns(12, |at| at < 6)), [true; 12]);
    // A third thread at the head is one whose switch was not recorded.
    let third = turns(1, |_| false).replace(" t7-7 ", " t9-9 ");
    assert_eq!(are_as_linux_has_them(&third), [false; 1]);
}

#[test]
fn an_idle_task_with_an_id_of_its_own_at_the_head_is_idle() {
    let row = " cpuidle-1-282 [001] .... 5.000001: sched_switch: prev_comm=cpuidle-1 prev_pid=0 prev_prio=-2 prev_state=R+ ==> \
               next_comm=app next_pid=7 next_prio=53\n";
    assert_eq!(all(row).0[0].context.tid, Tid::IDLE);
}

#[test]
fn blanks_around_the_arrow_are_of_no_matter() {
    for arrow in ["==>  next", " ==>   next", "==> next"] {
        let row = turns(1, |_| false).replace("==> next", arrow);
        assert_eq!(are_as_linux_has_them(&row), [true; 1], "{arrow}");
    }
}
