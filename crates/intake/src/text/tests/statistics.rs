//! Statistics of the scheduler as the only rows that show since when a thread waits or runs.

use super::*;

/// When each thread was woken, in microseconds, as far as events show it.
fn woken(text: &str) -> Vec<(i32, i64)> {
    let (events, info) = all(text);
    assert_eq!(info.damage, [], "{text}");
    let of = |event: &Event| match event.kind {
        Waking(wake) | Wakeup { wake, .. } => Some((wake.tid.0, event.ts.0 / 1_000)),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn wait(us: i64, tid: i32, delay: i64) -> String {
    format!("  hog-20  [002] 9.{us:06}: sched_stat_wait: comm=app pid={tid} delay={delay} [ns]\n")
}

fn switch(us: i64, (prev, state): (i32, &str), next: i32) -> String {
    format!("  hog-{prev}  [002] 9.{us:06}: sched_switch: hog:{prev} [120] {state} ==> app:{next} [120]\n")
}

fn wakeup(us: i64, tid: i32) -> String {
    format!("  hog-20  [002] 9.{us:06}: sched_wakeup: app:{tid} [120] success=1 CPU:002\n")
}

#[test]
fn a_wait_without_a_row_of_its_beginning_began_by_its_length_before() {
    let other = wakeup(100, 40);
    // Wake-ups of other threads show nothing of this one.
    assert_eq!(woken(&(other.clone() + &wait(500, 30, 300_000))), [(40, 9_000_100), (30, 9_000_200)]);
    // It may have begun before the first row.
    assert_eq!(woken(&(other.clone() + &wait(500, 30, 900_000))), [(30, 8_999_600), (40, 9_000_100)]);
    assert_eq!(woken(&wait(500, 30, 900_000)), [(30, 8_999_600)]);
    // It left for a sleep, and no row shows how that ended.
    let slept = other.clone() + &switch(200, (30, "S"), 20) + &wait(700, 30, 100_000);
    assert_eq!(woken(&slept), [(40, 9_000_100), (30, 9_000_600)]);
}

#[test]
fn a_wait_of_which_rows_show_the_beginning_is_nothing_new() {
    let other = wakeup(100, 40);
    assert_eq!(woken(&(wakeup(200, 30) + &wait(500, 30, 290_000))), [(30, 9_000_200)]);
    let preempted = other.clone() + &switch(200, (30, "R"), 20) + &wait(700, 30, 500_000);
    assert_eq!(woken(&preempted), [(40, 9_000_100)]);
    // Once is enough.
    let twice = other + &wait(500, 30, 300_000) + &wait(510, 30, 310_000);
    assert_eq!(woken(&twice), [(40, 9_000_100), (30, 9_000_200)]);
}

#[test]
fn the_run_time_shows_since_when_a_thread_has_had_its_cpu() {
    let runs = |us: i64, cpu: u32, end: &str| {
        format!(
            "  hog-20  [{cpu:03}] 9.{us:06}: sched_stat_runtime: comm=hog pid=20 runtime=400000 [ns]{end}\n"
        )
    };
    let seen = |text: &str| {
        let (events, info) = all(text);
        assert_eq!(info.damage, [], "{text}");
        let of = |event: &Event| (event.cpu.0, event.context.tid.0, event.ts.0 / 1_000);
        events.iter().map(of).collect::<Vec<_>>()
    };
    for end in [" vruntime=2669564645 [ns]", ""] {
        assert_eq!(seen(&runs(500, 2, end)), [(2, 20, 9_000_100), (2, 20, 9_000_500)], "{end}");
        let known = wakeup(50, 40) + &runs(500, 2, end);
        assert_eq!(seen(&known), [(2, 20, 9_000_050), (2, 20, 9_000_500)], "{end}");
        let elsewhere = wakeup(50, 40) + &runs(500, 3, end);
        assert_eq!(seen(&elsewhere), [(2, 20, 9_000_050), (3, 20, 9_000_100), (3, 20, 9_000_500)], "{end}");
    }
    // A row in between shows another thread: it counts from its own beginning on.
    let idle = "  <idle>-0  [002] 9.000050: sched_wakeup: app:40 [120] success=1 CPU:002\n".to_owned();
    assert_eq!(seen(&(idle.clone() + &runs(500, 2, "")))[1..], [(2, 20, 9_000_100), (2, 20, 9_000_500)]);
    let later = idle.replace("9.000050", "9.000200") + &runs(500, 2, "");
    assert_eq!(seen(&later)[1..], [(2, 20, 9_000_500)]);
    // It is printed by another thread's context, where that counts its CPU's thread.
    let of_another = runs(500, 2, "").replace("pid=20", "pid=21");
    assert_eq!(seen(&of_another), [(2, 20, 9_000_500)]);
}

#[test]
fn statistics_of_the_first_kernels_that_had_them_are_read() {
    let text = "  hog-20 [001] 5.000010: sched_stat_wait: task: app:7 wait: 9000 [ns]\n\
                \u{20} hog-20 [001] 5.000012: sched_switch: task hog:20 [120] (S) ==> app:7 [120]\n\
                \u{20} app-7  [001] 5.000030: sched_stat_runtime: task: app:7 runtime: 5000 [ns], vruntime: 71 [ns]\n\
                \u{20} app-7  [001] 5.000031: sched_stat_sleep: task: hog:20 sleep: 4000 [ns]\n";
    let (events, info) = all(text);
    assert_eq!(info.damage, []);
    let wakes: Vec<(i64, i32)> = events
        .iter()
        .filter_map(|event| match event.kind {
            Waking(wake) => Some((event.ts.0, wake.tid.0)),
            _ => None,
        })
        .collect();
    assert_eq!(wakes, [(5_000_001_000, 7), (5_000_031_000, 20)]);
}

/// The end of a sleep is counted as its thread is woken, by the thread that has the CPU.
#[test]
fn the_end_of_a_sleep_has_its_waker() {
    let context = |flags: &str| {
        let text = format!(
            "  hog-20  [002] {flags} 9.000010: sched_stat_blocked: comm=app pid=7 delay=940000 [ns]\n"
        );
        let (events, _) = all(&text);
        let waking = events.iter().find(|event| matches!(event.kind, Waking(_))).expect("a wake-up");
        (waking.context.tid.0, waking.context.flags.contains(ContextFlags::BYSTANDER))
    };
    assert_eq!(context("d...."), (20, false));
    assert_eq!(context("d.h.."), (20, true), "of an interrupt");
    assert_eq!(context(""), (20, true), "not known");
}
