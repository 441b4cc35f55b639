//! Text of any size: read as asked for, in bounded memory, and in order.

use super::*;
use crate::text::window::WINDOW;

/// Lines of a trace, one per microsecond, as they are asked for; a limit catches a reader that reads ahead without bound.
struct Endless {
    next: u64,
    limit: u64,
    held: Vec<u8>,
}

impl Endless {
    fn new(limit: u64) -> Self {
        Endless { next: 0, limit, held: Vec::new() }
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.held.len() < buffer.len() {
            assert!(self.next < self.limit, "line {} was asked for", self.next);
            let (seconds, us) = (self.next / 1_000_000, self.next % 1_000_000);
            self.held.extend(format!("a-1 [000] {seconds}.{us:06}: x: y\n").bytes());
            self.next += 1;
        }
        let rest = self.held.split_off(buffer.len());
        buffer.copy_from_slice(&std::mem::replace(&mut self.held, rest));
        Ok(buffer.len())
    }
}

#[test]
fn no_more_is_read_than_the_window_holds() {
    let ahead = 3 * WINDOW as u64 + 20_000;
    let mut source = open(Vec::new(), Endless::new(ahead), KindSet::ALL).expect("events");
    for us in 0..WINDOW as i64 {
        assert_eq!(source.next_event().map(|event| event.ts), Some(Ns::from_us(us)));
    }
    assert_eq!(source.comms(), [(Tid(1), Comm::from("a"))]);
}

fn lines(times: impl Iterator<Item = u64>) -> Vec<u8> {
    times
        .flat_map(|us| format!("a-1 [000] {}.{:06}: x: y\n", us / 1_000_000, us % 1_000_000).into_bytes())
        .collect()
}

#[test]
fn what_is_far_too_late_is_left_out_and_reported() {
    let count = 2 * WINDOW as u64;
    // The first line of all comes last, and one that is only a little late.
    let order = (1..count).chain([0, count - 10]);
    let (events, info) = all(std::str::from_utf8(&lines(order)).expect("text"));
    assert!(events.is_sorted_by_key(|event| event.ts));
    assert_eq!(events.len() as u64, count);
    assert_eq!(info.events, count + 1);
    let damages: Vec<_> = info.damage.iter().map(|damage| damage.what.as_str()).collect();
    assert!(damages.iter().any(|what| what.starts_with("time runs backwards at 1 places")), "{damages:?}");
    let late = format!("far before them in the text: 1, the first is line {count}");
    assert!(damages.iter().any(|what| what.ends_with(&late)), "{damages:?}");
}

#[test]
fn files_of_several_cpus_may_follow_one_another() {
    let text = [lines(0..WINDOW as u64 / 2), lines(0..WINDOW as u64 / 2)].concat();
    let (events, info) = all(std::str::from_utf8(&text).expect("text"));
    assert!(events.is_sorted_by_key(|event| event.ts));
    assert_eq!((events.len(), info.damage.len()), (WINDOW, 1), "{:?}", info.damage);
}

struct Unplugged;

impl Read for Unplugged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("unplugged"))
    }
}

#[test]
fn what_was_read_before_an_error_is_kept() {
    let source = open(b"a-1 [000] 1.5: x: y\na-1 [000] 1.6: cut".to_vec(), Unplugged, KindSet::ALL);
    let mut source = source.expect("an event");
    assert_eq!(drain(&mut source).count(), 1);
    let damages = &source.info().damage;
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert_eq!(
        (damages[0].offset, damages[0].what.as_str()),
        (Some(2), "reading failed (unplugged): what follows is missing")
    );
    assert!(matches!(open(b"hello\n".to_vec(), Unplugged, KindSet::ALL).err(), Some(TextError::Io(_))));
}

#[test]
fn a_line_without_end_is_cut_and_reported() {
    let text = format!("a-1 [000] 1.5: x: {}\na-1 [000] 1.6: x: y\n", "y".repeat(1 << 20));
    let (events, info) = all(&text);
    assert_eq!(events.len(), 2);
    assert_eq!(info.damage.len(), 1);
    assert_eq!(info.damage[0].offset, Some(1));
    assert!(info.damage[0].what.starts_with("lines far longer than a trace's"), "{:?}", info.damage);
}

#[test]
fn facts_told_in_the_middle_are_true_from_there() {
    let header = "# latency: 4 us, #3/3, CPU#1 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:4)\n";
    let (events, _) = all(&format!("a-1 [000] 1.5: x: y\n{header}a-1 [000] 1.6: x: y\n"));
    let kinds: Vec<_> = events.iter().map(|event| (event.ts.0, matches!(event.kind, Marker(_)))).collect();
    assert_eq!(kinds, [(1_500_000_000, false), (1_500_000_000, true), (1_600_000_000, false)]);
}

/// A mail program breaks the longest line of a header before the mark in it.
#[test]
fn the_number_of_cpus_in_a_line_of_its_own_is_read() {
    let header = "# tracer: irqsoff\n# irqsoff latency trace v1.1.5 on 6.10\n\
                  # latency: 40 us, #1/1, CPU#260 | (M:desktop VP:0, KP:0, SP:0 HP:0\n#P:512)\n";
    let (_, info) = all(&format!("{header}  app-7   260d..1.    0us : spin <-work\n"));
    assert_eq!(info.cpus, 512);
}

#[test]
fn a_byte_order_mark_and_hard_blanks_are_nothing() {
    let (events, info) = all("\u{feff}a-1\u{a0}[000]\u{a0}1.5:\u{a0}softirq_raise: vec=1\n");
    assert_eq!((events.len(), events[0].kind, info.damage), (1, SoftirqRaise { vec: 1 }, vec![]));
}

#[test]
fn a_trace_in_a_string_has_lines_at_its_escaped_line_ends() {
    let switch = |us: u32, from: &str, to: &str| {
        format!(
            "  x-1   (    1) [002] d..3 9.{us:06}: sched_switch: prev_comm={from} prev_pid=1 prev_prio=120 prev_state=S ==> next_comm={to} next_pid=2 next_prio=120"
        )
    };
    let rows = [switch(1, "x", "y"), switch(7, "y", "x"), switch(9, "x", "y")];
    for text in [
        format!("{{\"trace\": \"{}\\n\"}}\n", rows.join("\\n")),
        format!("=0 next_prio=9\\n{}", rows.join("\\n")),
    ] {
        let (events, info) = all(&text);
        assert_eq!((events.len(), info.events), (3, 3), "{text}");
        assert!(events.iter().all(|event| matches!(event.kind, EventKind::Switch(_))), "{events:?}");
    }
    let marker = "x-1 [002] .... 9.000001: tracing_mark_write: one\\ntwo\n";
    assert_eq!(all(marker).1.events, 1);
}

#[test]
fn a_recording_behind_a_remark_whose_time_goes_back_far_is_left_out() {
    let row = |seconds: u32, us: u32| {
        format!(
            "  osnoise/7-{} [007] d..h2.. {seconds}.{us:06}: irq_noise: IPI:6 start {seconds}.{us:06}000 duration 104 ns\n",
            1000 + seconds
        )
    };
    let piece = |seconds: u32| format!("{}{}", row(seconds, 1), row(seconds, 9));
    let read = |text: String| {
        let info = all(&text).1;
        let is_further =
            info.damage.iter().any(|damage| damage.what.starts_with("another recording follows"));
        (info.events, is_further)
    };
    assert_eq!(read(format!("BEFORE:\n{}\nAFTER:\n{}", piece(940), piece(530))), (2, true));
    // Pieces of one recording in another order, without a remark, and of other CPUs.
    assert_eq!(read(format!("{}and before that:\n{}", piece(940), piece(938))), (4, false));
    assert_eq!(read(format!("{}{}", piece(940), piece(530))), (4, false));
    let other = piece(530).replace("[007]", "[003]");
    assert_eq!(read(format!("{}and:\n{other}", piece(940))), (4, false));
}

/// A page or a document breaks rows that are wider than a mail's, some in the midst of a word.
#[test]
fn rows_that_a_page_broke_are_whole() {
    let head = "pump  1101 [000]  3854.0854";
    let wakeup = "sched:sched_wakeup: comm=drill pid=1102 prio=120";
    let rows = [
        format!("{head}52:     {wakeup} target_c\npu=003\n"),
        format!("{head}53:     {} target_cpu=0\n03\n", wakeup.replace("drill", "d")),
        format!("{head}54:     {wakeup} target_cpu=003\n"),
        format!(
            "{head}55:     sched:sched_switch: prev_comm=pump prev_pid=1101 prev_prio=120\n{}prev_state=S ==> next_comm=drill next_pid=1102 next_prio=120\n",
            " ".repeat(50)
        ),
    ];
    let (events, info) = all(&rows.concat());
    assert_eq!(info.damage, []);
    let woken: Vec<Cpu> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Wakeup { wake, .. } => Some(wake.target_cpu),
            _ => None,
        })
        .collect();
    assert_eq!(woken, [Cpu(3), Cpu(3), Cpu(3)], "{events:?}");
    assert!(
        matches!(&events[3].kind, EventKind::Switch(switch) if switch.next_tid == Tid(1102)),
        "{events:?}"
    );
    // Prose behind a row that was cut is not its rest.
    let (_, info) = all(&format!("{}{head}56:     {wakeup} tar\nand so it went on\n", rows[2]));
    assert_eq!(info.damage.len(), 2, "{:?}", info.damage);
}

/// The columns before the duration were cut.
#[test]
fn calls_without_their_cpu_are_read() {
    let calls = "> It takes long:\n>               |  acme_read() {\n> ! 136.698 us  |    acme_spin();\n> # 1137.582 us |  }\n> Why?\n";
    let (events, info) = all(calls);
    let names: Vec<String> = events.iter().map(|event| format!("{:?}", event.kind)).collect();
    assert_eq!(events.len(), 4, "{names:?}");
    assert!(matches!(events[0].kind, EventKind::FunctionEntry { depth: 0, .. }), "{names:?}");
    assert!(
        info.damage.iter().any(|damage| damage.what.contains("do not show their CPU")),
        "{:?}",
        info.damage
    );
    // A drawing.
    let drawn = "cpu 0 | cpu 1\n|  acme_read() {\n|  acme_write() {\n";
    assert!(read(drawn.as_bytes(), KindSet::ALL).is_err());
}

#[test]
fn rows_that_were_broken_before_the_name_of_their_event_are_joined() {
    let row = "     kworker/1:2-71     [001] d...   450.048063:";
    let event = "workqueue_queue_work: work struct=00000000573429cf function=scan_bus";
    let (whole, broken) = (
        format!("{row} {event}\n"),
        format!("{row}\n{event}\n").replace("\n", "\n> ").replace("     kw", ">      kw"),
    );
    let ((events, _), (joined, info)) = (all(&whole), all(broken.trim_end_matches("> ")));
    assert_eq!((joined, &info.damage), (events, &vec![]));
}
