//! Every recording at hand, compared with what `trace-cmd report` prints of it: order,
//! time, CPU, thread, name and every field.

mod common;

use whylate_events::{Event, EventKind, EventSource, KindSet, TaskState, drain};
use whylate_ftrace::dat::{RawEvent, TraceFile};
use whylate_ftrace::symbols::Symbols;

/// One line of `trace-cmd report -t -R`.
struct Line<'t> {
    comm: &'t str,
    tid: i32,
    cpu: u32,
    ts: i64,
    name: &'t str,
    fields: &'t str,
}

/// `comm-tid  [cpu] seconds.nanoseconds: name:   fields`; comms may hold blanks, dashes and brackets.
fn parse(line: &str) -> Option<Line<'_>> {
    line.match_indices(" [").find_map(|(at, _)| {
        let (comm, tid) = line[..at].trim_end().rsplit_once('-')?;
        let (cpu, rest) = line[at + 2..].split_once("] ")?;
        let (time, rest) = rest.trim_start().split_once(": ")?;
        let (seconds, fraction) = time.split_once('.')?;
        let (name, fields) = rest.split_once(':')?;
        Some(Line {
            comm: comm.trim_start(),
            tid: tid.parse().ok()?,
            cpu: cpu.parse().ok()?,
            ts: seconds.parse::<i64>().ok()? * 1_000_000_000 + fraction.parse::<i64>().ok()?,
            name,
            fields: fields.trim_start(),
        })
    })
}

/// The count of `CPU:1 [77 EVENTS DROPPED]`.
fn dropped(line: &str) -> Option<u64> {
    line.strip_prefix("CPU:")?.split_once('[')?.1.strip_suffix(" EVENTS DROPPED]")?.parse().ok()
}

fn int(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as i64),
        None => text.parse::<i64>().ok().or_else(|| text.parse::<u64>().ok().map(|value| value as i64)),
    }
}

/// Compares each field that the line shows; gives how many there were.
fn compare_fields(event: &RawEvent<'_>, line: &Line<'_>, symbols: &Symbols) -> Result<usize, String> {
    let format = event.format.ok_or("no format")?;
    let names: Vec<&str> = format.own_fields().map(|field| field.name.as_str()).collect();
    let mut rest = line.fields;
    let mut compared = 0;
    for (index, name) in names.iter().enumerate() {
        let Some(value) = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) else {
            return Err(format!("expected {name} at `{rest}`"));
        };
        // A string may hold anything, also blanks: it ends where the next field's name begins.
        let end =
            names.get(index + 1).and_then(|next| value.find(&format!(" {next}="))).unwrap_or(value.len());
        let shown = &value[..end];
        rest = value[end..].trim_start();
        if shown.starts_with("ARRAY[") {
            continue;
        }
        let same = match event.int(name) {
            // trace-cmd prints narrow numbers now signed, now unsigned, by the print format's
            // own conversion: the same bits are the same number.
            Some(ours) if int(shown).is_none() => {
                // A %ps of the print format: the function's name.
                symbols.name(ours as u64) == shown.as_bytes()
            }
            Some(ours) => {
                let bits = 64 - 8 * format.field(name).map_or(8, |field| field.size.clamp(1, 8)) as u32;
                int(shown).is_some_and(|theirs| (ours << bits) == (theirs << bits))
            }
            // bprint's arguments are an array of words, of which trace-cmd prints a 0.
            None if format.name == "bprint" && *name == "buf" => true,
            None => {
                let ours = String::from_utf8_lossy(event.text(name).unwrap_or_default()).into_owned();
                ours.trim_end() == shown.trim_end()
            }
        };
        if !same {
            return Err(format!("{name}: {shown} is not {:?} / {:?}", event.int(name), event.text(name)));
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn every_event_is_as_trace_cmd_says() {
    for path in common::recordings() {
        let Some(text) = common::ask::trace_cmd_report(&path, &["-t", "-R"]) else { return };
        let file = TraceFile::open(&path).expect("a trace.dat");
        let (mut events, symbols) = (file.raw_events(), file.symbols());
        let (mut count, mut fields) = (0, 0);
        for line in text.lines().filter_map(parse) {
            let event = events.next().unwrap_or_else(|| panic!("{}: ends at {count}", path.display()));
            let place = || format!("{}: event {count}, {} {}", path.display(), line.ts, line.name);
            assert_eq!(
                (event.ts.0, event.cpu.0, event.context.tid.0),
                (line.ts, line.cpu, line.tid),
                "{}",
                place()
            );
            assert_eq!(event.format.map(|format| format.name.as_str()), Some(line.name), "{}", place());
            match file.comm(event.context.tid) {
                Some(comm) if line.tid != 0 => assert_eq!(comm, line.comm, "{}", place()),
                _ => assert!(["<idle>", "<...>"].contains(&line.comm), "{}", place()),
            }
            fields += compare_fields(&event, &line, &symbols)
                .unwrap_or_else(|error| panic!("{}: {error}", place()));
            count += 1;
        }
        assert!(events.next().is_none(), "{}: more than trace-cmd's {count} events", path.display());
        assert!(count > 0, "{}: trace-cmd prints nothing", path.display());
        let mut typed = file.events(KindSet::NONE);
        assert!(typed.next_event().is_none());
        assert_eq!(
            typed.info().lost_events,
            text.lines().filter_map(dropped).sum::<u64>(),
            "{}",
            path.display()
        );
        println!("{}: {count} events, {fields} fields", path.display());
    }
}

/// The text of a field, as the typed event has it.
fn text(event: &RawEvent<'_>, name: &str) -> String {
    String::from_utf8_lossy(event.text(name).unwrap_or_default()).into_owned()
}

/// The typed event, expressed in the names of the record's fields.
fn typed_fields(event: &Event) -> Vec<(&'static str, String)> {
    let n = |name, value: i64| (name, value.to_string());
    match event.kind {
        EventKind::Switch(s) => vec![
            ("prev_comm", s.prev_comm.to_string()),
            n("prev_pid", s.prev_tid.0.into()),
            n("prev_prio", s.prev_prio.0.into()),
            ("next_comm", s.next_comm.to_string()),
            n("next_pid", s.next_tid.0.into()),
            n("next_prio", s.next_prio.0.into()),
        ],
        EventKind::Waking(w) | EventKind::Wakeup { wake: w, .. } => vec![
            ("comm", w.comm.to_string()),
            n("pid", w.tid.0.into()),
            n("prio", w.prio.0.into()),
            n("target_cpu", w.target_cpu.0.into()),
        ],
        EventKind::Migrate { tid, from, to } => {
            vec![n("pid", tid.0.into()), n("orig_cpu", from.0.into()), n("dest_cpu", to.0.into())]
        }
        EventKind::IrqEntry { irq, name } => vec![n("irq", irq.into()), ("name", name.to_string())],
        EventKind::IrqExit { irq } => vec![n("irq", irq.into())],
        EventKind::SoftirqRaise { vec }
        | EventKind::SoftirqEntry { vec }
        | EventKind::SoftirqExit { vec } => {
            vec![n("vec", vec.into())]
        }
        EventKind::HrtimerStart(t) => {
            vec![n("hrtimer", t.hrtimer as i64), n("expires", t.expires.0), n("softexpires", t.softexpires.0)]
        }
        EventKind::HrtimerExpire(t) => vec![n("hrtimer", t.hrtimer as i64), n("now", t.now.0)],
        EventKind::HrtimerCancel { hrtimer } | EventKind::HrtimerExpireExit { hrtimer } => {
            vec![n("hrtimer", hrtimer as i64)]
        }
        EventKind::TimerExpire { timer, .. } | EventKind::TimerExpireExit { timer } => {
            vec![n("timer", timer as i64)]
        }
        EventKind::CpuIdle { state } => vec![n("state", state.map_or(u32::MAX.into(), i64::from))],
        EventKind::SyscallExit(s) => vec![n("ret", s.ret)],
        _ => Vec::new(),
    }
}

/// The raw fields are trace-cmd's, by the test above; the typed ones must be the same.
#[test]
fn typed_events_hold_what_was_recorded() {
    for path in common::recordings() {
        let file = TraceFile::open(&path).expect("a trace.dat");
        let mut raw_events = file.raw_events();
        let mut source = file.events(KindSet::ALL);
        let mut events = common::records(drain(&mut source));
        let mut count = 0;
        while let Some(raw) = raw_events.next() {
            let event = events.next().unwrap_or_else(|| panic!("{}: ends at {count}", path.display()));
            let name = raw.format.map_or("", |format| format.name.as_str());
            let place = || format!("{}: event {count}, {} {name}", path.display(), raw.ts.0);
            assert_eq!((event.ts, event.cpu, event.context), (raw.ts, raw.cpu, raw.context), "{}", place());
            for (field, value) in typed_fields(&event) {
                let recorded = raw.int(field).map_or_else(|| text(&raw, field), |value| value.to_string());
                assert_eq!(value, recorded, "{}: {field}", place());
            }
            if let EventKind::Switch(switch) = event.kind {
                let state = raw.int("prev_state");
                assert_eq!(state == Some(0), switch.prev_state == TaskState::Runnable, "{}", place());
            }
            count += 1;
        }
        assert!(events.next().is_none());
        drop(events);
        let info = source.info();
        assert_eq!((info.events, &info.damage[..]), (count, &[][..]), "{}", path.display());
    }
}
