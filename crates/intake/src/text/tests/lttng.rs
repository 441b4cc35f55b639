//! Lines of LTTng, as babeltrace prints them.

use super::*;

fn lines(lines: &[&str]) -> (Vec<Event>, TraceInfo) {
    all(&lines.join("\n"))
}

#[test]
fn switches_and_wakes_have_the_kernels_priorities_and_states() {
    let (events, info) = lines(&[
        r#"[10:20:30.000001000] (+?.?????????) box sched_waking: { cpu_id = 1 }, { pid = 7, tid = 8, procname = "a, b" }, { comm = "drill", tid = 12, prio = -81, target_cpu = 2 }"#,
        r#"[10:20:30.000003000] (+0.000002000) box sched_switch: { cpu_id = 2 }, { }, { prev_comm = "mill", prev_tid = 9, prev_prio = 20, prev_state = ( "TASK_RUNNING" : container = 256 ), next_comm = "drill", next_tid = 12, next_prio = -81 }"#,
        r#"[10:20:30.000005000] (+0.000002000) box irq_softirq_entry: { cpu_id = 2 }, { vec = 3 }"#,
        r#"[10:20:30.000006000] (+0.000001000) box sched_switch: { cpu_id = 2 }, { }, { prev_comm = "drill", prev_tid = 12, prev_prio = -81, prev_state = 1, next_comm = "swapper/2", next_tid = 0, next_prio = 20 }"#,
    ]);
    assert_eq!(info.damage, []);
    assert_eq!(info.format, "LTTng text");
    let [waking, preempted, softirq, slept] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((waking.ts, waking.cpu, waking.context.tid), (Ns(37_230_000_001_000), Cpu(1), Tid(8)));
    assert_eq!(waking.context.flags, ContextFlags::IRQS_UNKNOWN);
    let EventKind::Waking(wake) = waking.kind else { panic!("{waking:?}") };
    assert_eq!((wake.comm.to_string().as_str(), wake.tid, wake.prio), ("drill", Tid(12), Priority(19)));
    assert_eq!(wake.target_cpu, Cpu(2));
    let EventKind::Switch(switch) = preempted.kind else { panic!("{preempted:?}") };
    assert_eq!((switch.prev_state, switch.prev_prio), (TaskState::Preempted, Priority(120)));
    assert_eq!(switch.next_prio, Priority(19));
    // Without a context, the thread is the one that runs there.
    assert_eq!((softirq.context.tid, softirq.kind), (Tid(12), EventKind::SoftirqEntry { vec: 3 }));
    let EventKind::Switch(switch) = slept.kind else { panic!("{slept:?}") };
    assert_eq!((slept.context.tid, switch.next_tid), (Tid(12), Tid(0)));
}

#[test]
fn clocks_in_seconds_or_with_a_date() {
    for (time, ns) in
        [("5.000000007", 5_000_000_007), ("2026-02-03 00:01:00.5", 60_500_000_000), ("00:00:00.000000001", 1)]
    {
        let line = format!("[{time}] (+0.5) irq_handler_exit: {{ cpu_id = 0 }}, {{ irq = 28, ret = 1 }}");
        let event = one(&line);
        assert_eq!((event.ts, event.kind), (Ns(ns), EventKind::IrqExit { irq: 28 }), "{line}");
    }
}

#[test]
fn events_of_no_use_keep_their_thread_and_cut_ones_are_told() {
    let event = one(
        r#"[0:0:1.5] (+0.5) box my_module: { cpu_id = 3 }, { tid = 40 }, { inner = { x = 1 }, s = "}, {" }"#,
    );
    assert_eq!((event.kind, event.cpu), (EventKind::Other, Cpu(3)));
    let (events, info) = lines(&[
        "[0:0:1.5] (+0.5) box irq_handler_exit: { cpu_id = 3 }, { irq = 1, ret = 1 }",
        "[0:0:1.6] (+0.1) box irq_handler_exit: { cpu_id = 3 }, { irq = 1, re",
        "",
        "[0:0:1.7] (+0.1) box irq_handler_exit: { cpu_id = 3 }, { irq = 1, ret = 1 }",
    ]);
    assert_eq!(events.len(), 2);
    assert_eq!(info.damage.len(), 1, "{:?}", info.damage);
}

proptest! {
    #[test]
    fn no_line_panics(rest in "[]\\[ -~]{0,60}", fields in "[a-z_0-9 ={}()\",\\[-]{0,60}") {
        let _ = read(format!("[1.5] (+0.5){rest}: {{ cpu_id = 1 }}, {{ {fields} }}\n").as_bytes(), KindSet::ALL);
        let _ = read(format!("[1.5] (+0.5) box sched_switch: {{ cpu_id = 1 }}, {{ {fields} }}\n").as_bytes(), KindSet::ALL);
    }
}

#[test]
fn callbacks_of_ros_2_have_the_name_of_their_topic_timer_or_function() {
    let of = |name: &str, fields: &str| {
        format!(
            r#"[0:0:1.5] (+0.5) box ros2:{name}: {{ cpu_id = 3 }}, {{ vpid = 7, vtid = 8, procname = "node" }}, {{ {fields} }}"#
        )
    };
    let text = [
        of("rcl_subscription_init", r#"subscription_handle = 0xA0, topic_name = "/scan", queue_depth = 10"#),
        of("rclcpp_subscription_init", "subscription_handle = 0xA0, subscription = 0xB0"),
        of("rclcpp_subscription_callback_added", "subscription = 0xB0, callback = 0xC0"),
        of(
            "rclcpp_callback_register",
            r#"callback = 0xC0, symbol = "void (Node::?)(std::shared_ptr<Scan>)""#,
        ),
        of("rcl_timer_init", "timer_handle = 0xD0, period = 10000000"),
        of("rclcpp_timer_callback_added", "timer_handle = 0xD0, callback = 0xE0"),
        of(
            "rclcpp_callback_register",
            r#"callback = 0xF0, symbol = "void (Node::?)(std::shared_ptr<Stop>)""#,
        ),
        of("callback_start", "callback = 0xC0, is_intra_process = 0"),
        of("callback_end", "callback = 0xC0"),
        of("callback_start", "callback = 0xE0, is_intra_process = 0"),
        of("callback_start", "callback = 0xF0, is_intra_process = 1"),
        of("callback_start", "callback = 0x99, is_intra_process = 0"),
    ];
    let (events, info) = lines(&text.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(info.damage, []);
    let called: Vec<String> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Marker(marker) => Some(marker.to_string()),
            _ => None,
        })
        .collect();
    let names = ["/scan", "timer 10.00 ms", "Node::?", "0x99"];
    assert_eq!(called, names.map(|name| format!("whylate: callback {name}")));
    assert!(events.iter().all(|event| event.context.tid == Tid(8)), "{events:?}");
}
