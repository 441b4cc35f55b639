//! Rows whose thread has a name alone, and a log of the kernel beside rows.

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
