//! Rows that people shortened or put into the strings of a program, and rows to which an option of trace-cmd adds something.

use super::*;
use whylate_events::Switch;

fn switch_of(body: &str) -> Option<Switch> {
    let (events, _) = all(&format!("  pump-31  [002] d..2.  7.000100: sched_switch: {body}\n"));
    match events[0].kind {
        EventKind::Switch(switch) => Some(switch),
        _ => None,
    }
}

#[test]
fn a_switch_without_priorities_is_one() {
    let fields = "prev_comm=pump prev_pid=31 prev_state=R+ ==> next_comm=irq/9 x next_pid=44";
    let switch = switch_of(fields).expect(fields);
    assert_eq!((switch.prev_tid, switch.prev_prio), (Tid(31), Priority::UNKNOWN));
    assert_eq!((switch.next_tid, switch.next_comm.as_str()), (Tid(44), "irq/9 x"));
    assert_eq!((switch.prev_state, switch.next_prio), (TaskState::Preempted, Priority::UNKNOWN));
    let idle = switch_of("prev_comm=swapper/2 prev_pid=0 ==> next_comm=pump next_pid=31").expect("a switch");
    assert_eq!((idle.prev_prio, idle.prev_state), (Priority::DEFAULT, TaskState::Other));
    // A row that was cut may lack digits of its last number.
    for cut in [
        "prev_comm=pump prev_pid=31 prev_prio=49 prev_state=S ==> next_comm=irq/9 next_pid=4",
        "prev_comm=pump prev_pid=31 prev_state=S ==> next_comm=irq/9 next_p",
        "prev_comm=pump prev_pid=31 prev_state=S ==> next_comm=irq/9 next_pid=4...",
    ] {
        assert_eq!(switch_of(cut), None, "{cut}");
    }
}

/// The wake-up has a priority, so that the rows without it get it.
#[test]
fn priorities_that_other_rows_show_are_those_of_shortened_ones() {
    let text = "  pump-31  [002] d..2.  7.000100: sched_switch: prev_comm=pump prev_pid=31 prev_state=R ==> next_comm=mill next_pid=44\n\
                \u{20} mill-44  [002] d..2.  7.000200: sched_wakeup: comm=oil pid=45 target_cpu=001\n\
                \u{20} mill-44  [002] d..2.  7.000300: sched_wakeup: comm=pump pid=31 prio=49 target_cpu=002\n";
    let (events, info) = all(text);
    assert_eq!(info.damage, []);
    assert!(
        matches!(events[0].kind, EventKind::Switch(Switch { prev_prio: Priority(49), .. })),
        "{events:?}"
    );
    assert!(
        matches!(&events[1].kind, EventKind::Wakeup { wake, .. } if wake.prio == Priority::UNKNOWN),
        "{events:?}"
    );
}

#[test]
fn a_row_may_lack_the_depth_of_preemption_and_the_caller() {
    for (line, flags) in [
        ("  pump-31     2d..   17us : take_oil", ContextFlags::IRQS_OFF),
        (
            "  pump-31     2dNh   17us+: take_oil",
            ContextFlags::IRQS_OFF | ContextFlags::NEED_RESCHED | ContextFlags::HARDIRQ,
        ),
        ("  pump-31  [002] d..  0.000017: take_oil", ContextFlags::IRQS_OFF),
        ("  pump-31  [002] d.  0.000017: take_oil", ContextFlags::IRQS_OFF),
        ("  pump-31  [002] ..  0.000017: take_oil", ContextFlags::default()),
    ] {
        let event = one(line);
        assert_eq!((event.cpu, event.ts, event.context.tid), (Cpu(2), Ns::from_us(17), Tid(31)), "{line}");
        assert_eq!((event.context.flags, event.context.preempt_depth), (flags, None), "{line}");
        assert!(
            matches!(event.kind, EventKind::Function { name, .. } if name.as_str() == "take_oil"),
            "{line}"
        );
    }
}

/// `trace-cmd report --debug`: the place of each record behind it, and lines of the buffer between. Behind a page's begin the
/// clock may have gone back.
#[test]
fn rows_with_the_places_of_their_records_are_read() {
    let page = "CPU:3 [SUBBUFFER START] [7000000000000:0x32000]\n";
    let text = format!(
        "{page}  pump-31  [003] 7.400000: sched_switch:  pump:31 [49] S ==> mill:44 [120] [41207:0x2e8:64]\n \
         TIME EXTEND: delta:306454770 length:0\n  mill-44  [003] 7.500000: sched_waking:  comm=pump pid=31 prio=49 target_cpu=003 [0:0x3b4:40]\n\
         {page}  mill-44  [003] 7.200000: sched_switch:  mill:44 [120] R ==> pump:31 [49] [1168:0x3c:64]\n"
    );
    let (events, info) = all(&text);
    let of = |kind: fn(&EventKind) -> bool| events.iter().filter(|event| kind(&event.kind)).count();
    assert_eq!(of(|kind| matches!(kind, EventKind::Switch(_))), 2, "{events:?}");
    assert_eq!(of(|kind| matches!(kind, EventKind::Waking(_))), 1, "{events:?}");
    assert!(of(|kind| matches!(kind, EventKind::Lost { .. })) >= 2, "{events:?}");
    assert_eq!((info.left_out.len(), info.damage.len()), (1, 1), "{info:?}");
    assert!(info.damage[0].what.contains("time runs backwards"), "{info:?}");
    let (events, _) = all("  pump-31 [003] 7.5: tracing_mark_write: at [0:0x3:4] of [5]\n");
    assert!(matches!(events[0].kind, EventKind::Marker(text) if text.as_str() == "at [0:0x3:4] of [5]"));
}

#[test]
fn calls_without_the_name_of_their_event_are_rows() {
    let text = ">> <...>-31 [002] 7.000100::|  take_it() {\n>> <...>-31 [002] 7.000200::|    give_it();\n\
                >> <...>-31 [002] 7.000300::|  }\n";
    let (events, info) = all(text);
    let times: Vec<i64> = events.iter().map(|event| event.ts.0).collect();
    assert_eq!(times, [7_000_100_000, 7_000_200_000, 7_000_300_000], "{info:?}");
    assert!(events.iter().all(|event| event.kind == EventKind::Other && event.cpu == Cpu(2)), "{events:?}");
}

#[test]
fn a_bar_in_front_of_a_quoted_row_is_no_part_of_the_name() {
    let text = "|     pump-31      [002] d..2.  7.000100: sched_waking: comm=mill pid=44 prio=120 target_cpu=002\n\
                |  <idle>-0       [003] d..2.  7.000200: sched_waking: comm=oil pid=45 prio=120 target_cpu=003\n";
    let mut source = read(text.as_bytes(), KindSet::ALL).expect("rows");
    assert_eq!(drain(&mut source).count(), 2);
    assert!(source.comms().contains(&(Tid(31), Comm::from("pump"))), "{:?}", source.comms());
}

#[test]
fn strings_of_a_program_that_go_on_in_the_next_line_are_one_row() {
    const PIECES: [&str; 3] = [
        "    RAW = (\"  pump-31  [002] d..2.  7.000100: sched_switch: \"",
        "        \"prev_comm=pump prev_pid=31 prev_prio=49 prev_state=S ==> \"",
        "        \"next_comm=mill next_pid=44 next_prio=120\\n\"",
    ];
    for (ends, rest) in [(["", "", ""], "\n"), ([" \\", " \\", ","], "\n"), ([" +", " +", ";"], "")] {
        let lines: Vec<String> =
            PIECES.iter().zip(ends).map(|(line, end)| format!("{line}{end}\n")).collect();
        let (events, info) = all(&format!("{}{rest}", lines.concat()));
        assert_eq!((events.len(), info.damage), (1, vec![]), "{ends:?}");
        assert!(matches!(events[0].kind, EventKind::Switch(one) if one.next_tid == Tid(44)), "{events:?}");
    }
}

#[test]
fn a_row_in_a_string_has_the_name_of_its_thread_alone() {
    let row =
        "         <...>-44  [002] d..2.  7.000100: sched_wakeup: comm=pump pid=31 prio=49 target_cpu=002";
    for (text, expected) in
        [(format!("\"{row}\",\n\"CPU:2 [LOST 7 EVENTS]\"]\n"), 7), (format!("FIRST = \"{row}\\n\"\n"), 0)]
    {
        let mut source = read(text.as_bytes(), KindSet::ALL).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(drain(&mut source).filter(|event| event.context.tid == Tid(44)).count(), 1);
        assert!(source.comms().iter().all(|(_, comm)| !comm.as_str().contains('"')), "{text}");
        assert_eq!(source.info().lost_events, expected, "{text}");
    }
}

#[test]
fn a_row_with_a_damaged_stamp_is_left_out() {
    let row = |stamp: &str| {
        format!("  app-7 [001] d..2. {stamp}: sched_waking: comm=b pid=8 prio=120 target_cpu=001\n")
    };
    let (events, info) = all(&(row("5.010411") + &row("5.0100459") + &row("5.010500")));
    assert_eq!(events.len(), 2);
    let words =
        "rows left out, whose stamp has more decimals than those of the others: 1, the first is line 2";
    assert!(info.damage.iter().any(|damage| damage.what.starts_with(words)), "{:?}", info.damage);
    assert_eq!(all(&row("5.0100459")).0.len(), 1);
}
