//! Rows whose head does not have the number of the fields, and a log of the kernel beside rows.

use super::*;

#[test]
fn the_switch_before_it_has_the_number_of_a_thread_with_a_name_alone() {
    let text = "app [001] ..... 5.000010: softirq_raise: vec=3 [action=NET_RX]\n\
                app [001] d..2. 5.000100: sched_switch: prev_comm=app prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n\
                <idle> [001] dNh2. 5.000300: sched_wakeup: comm=b pid=8 prio=120 target_cpu=001\n\
                <idle> [001] d..2. 5.000310: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=8 next_prio=120\n\
                b [001] ..s1. 5.000405: softirq_entry: vec=3 [action=NET_RX]\n\
                other [001] ..s1. 5.000407: softirq_exit: vec=3 [action=NET_RX]\n";
    let (events, info) = all(text);
    assert_eq!(info.damage, []);
    let threads: Vec<i32> = events.iter().map(|event| event.context.tid.0).collect();
    assert_eq!(threads, [-1, 7, 0, 0, 8, -1]);
    let unknown = events.iter().filter(|event| event.context.flags.contains(ContextFlags::BYSTANDER));
    assert_eq!(unknown.count(), 2);
    // Neither the time alone nor the CPU alone makes a row of it.
    for line in [
        "app [001] 5.000010: one: x",
        "see app=b [001] ..... 5.000010: one: x",
        "see: [001] ..... 5.1: one: x",
    ] {
        assert_eq!(line::split(line), None, "{line}");
    }
}

#[test]
fn messages_of_the_log_beside_rows_are_read() {
    let row = "app-7 [001] ..... 5.000010: softirq_raise: vec=3 [action=NET_RX]\n";
    let message = "NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!\n";
    for text in [format!("{message}{row}"), format!("{row}{message}")] {
        let (_, info) = all(&text);
        let words = "the text has messages of the kernel's log beside its rows. Its line";
        let found = info.damage.iter().find(|damage| damage.what.starts_with(words));
        assert!(found.is_some_and(|found| found.what.contains("the softirq NET_RX was pending")), "{info:?}");
        assert_eq!(info.quality(), Quality::Whole);
    }
    let prose = format!("They are not seen, but soft lockups (in clear_it()) are.\n{row}");
    assert!(all(&prose).1.damage.iter().all(|damage| !damage.what.contains("beside its rows")));
}

#[test]
fn in_a_container_the_number_at_the_head_is_of_another_namespace() {
    let switch = |head: &str, time: u32, prev: &str, next: &str| {
        format!("{head} [001] 5.{time:06}: sched:sched_switch: {prev} [120] S ==> {next} [120]\n")
    };
    let text = "  app    12 [001] 5.000050: sched:sched_wakeup: b:70013 [120] success=1 CPU:001\n".to_owned()
        + &switch("  app    12", 100, "app:70012", "swapper/1:0")
        + &switch("swapper     0", 200, "swapper/1:0", "b:70013")
        + "  b    13 [001] 5.000250: sched:sched_stat_runtime: comm=b pid=70013 runtime=9000 [ns] vruntime=7 [ns]\n"
        + "  b    13 [001] 5.000260: irq:softirq_raise: vec=3 [action=NET_RX]\n"
        + &switch("  b    13", 300, "b:70013", "swapper/1:0");
    let (events, info) = all(&text);
    let mut threads: Vec<i32> = events.iter().map(|event| event.context.tid.0).collect();
    threads.dedup();
    assert_eq!(threads, [-1, 70012, 0, 70013], "{info:?}");
    // One row with the same number shows that they are of one namespace.
    let one = text + &switch("  c    70014", 400, "c:70014", "app:70012");
    assert!(all(&one).0.iter().any(|event| event.context.tid.0 == 12));
}

#[test]
fn a_number_in_place_of_a_name_is_of_a_thread_where_a_switch_shows_it() {
    let text = "  app    12 [001] 5.000050: sched:sched_wakeup: b:13 [120] CPU:001\n\
                :256   256 [002] 5.000060: vpa-dtl: timebase: 7 dispatch_reason:decrementer\n\
                   :-1    -1 [003] 5.000070: vpa-dtl: timebase: 8 dispatch_reason:decrementer\n\
                :256   256 [003] 5.000080: vpa-dtl: timebase: 9 dispatch_reason:decrementer\n\
                app    12 [001] 5.000100: sched:sched_switch: app:12 [120] S ==> b:13 [120]\n\
                :13    13 [001] 5.000110: irq:softirq_raise: vec=3 [action=NET_RX]\n";
    let (events, info) = all(text);
    let threads: Vec<i32> = events.iter().map(|event| event.context.tid.0).collect();
    assert_eq!((threads, info.damage.len()), (vec![12, -1, -1, -1, 12, 13], 0), "{info:?}");
}
