//! The shared recordings as the installed trace-cmd prints them: every line is understood,
//! and each way of printing shows the same events as the file they were printed from.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use whylate_base::Ns;
use whylate_events::{
    ContextFlags, Event, EventKind, EventSource, HrtimerExpiry, HrtimerStart, KindSet, Switch, TaskState,
    TraceInfo,
};
use whylate_intake::{from_reader, open};
use whylate_testing::{Need, skip};

/// Every trace.dat of the shared recordings, which are not part of the project.
fn recordings() -> Vec<PathBuf> {
    let root = std::env::var_os("WHYLATE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"), PathBuf::from);
    let Ok(directory) = std::fs::read_dir(&root) else {
        skip(Need::Recordings, format_args!("{} does not exist", root.display()));
        return Vec::new();
    };
    let mut paths: Vec<_> = directory.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dat"));
    paths.sort();
    paths
}

/// `None` when trace-cmd is not installed.
fn report(path: &Path, options: &[&str]) -> Option<(Vec<Event>, TraceInfo)> {
    // On a busy machine trace-cmd 3.1 was seen to print nothing, or lines without an event, and everything the next time.
    let mut failures = Vec::new();
    for _ in 0..5 {
        let output = Command::new("trace-cmd").arg("report").args(options).arg("-i").arg(path).output();
        let Ok(output) = output else {
            skip(Need::Program, "trace-cmd is not installed");
            return None;
        };
        let begin = String::from_utf8_lossy(&output.stdout).lines().take(3).collect::<Vec<_>>().join("\n");
        match from_reader(Cursor::new(output.stdout), "trace-cmd report", KindSet::ALL) {
            Ok(source) => return Some(drain(source)),
            Err(error) => failures.push(format!(
                "{}: {error}\n{begin}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }
    panic!("{}: trace-cmd printed no event five times:\n{}", path.display(), failures.join("\n"));
}

fn drain(mut source: Box<dyn EventSource>) -> (Vec<Event>, TraceInfo) {
    let events = whylate_events::drain(&mut source).collect();
    (events, source.info().clone())
}

/// What trace-cmd prints of an event, so that its text and the file can be compared.
fn comparable(events: &[Event], options: &[&str]) -> Vec<Event> {
    let is_raw = options.contains(&"-R");
    // A stack has as many frames as the reader has names for; here it is one event.
    let same_stack = |a: &mut Event, b: &mut Event| {
        let are_frames = [&a.kind, &b.kind].iter().all(|kind| matches!(kind, EventKind::StackFrame { .. }));
        are_frames && (a.ts, a.cpu) == (b.ts, b.cpu)
    };
    let mut events = events.to_vec();
    events.dedup_by(same_stack);
    let mut events: Vec<Event> = events.into_iter().map(|event| as_printed(event, is_raw, options)).collect();
    // Simultaneous events of two CPUs have no order.
    events.sort_by_key(|event| (event.ts, event.cpu));
    events
}

fn as_printed(mut event: Event, is_raw: bool, options: &[&str]) -> Event {
    if options.contains(&"-l") {
        // The other flags have no column, or share one.
        let shown = ContextFlags::IRQS_OFF
            | ContextFlags::NEED_RESCHED
            | ContextFlags::HARDIRQ
            | ContextFlags::SOFTIRQ;
        event.context.flags.0 &= shown.0;
    } else {
        event.context.flags = ContextFlags::default();
        event.context.preempt_depth = None;
    }
    if !options.contains(&"-t") {
        // trace-cmd rounds to the microsecond.
        event.ts = Ns((event.ts.0 + 500) / 1_000 * 1_000);
    }
    match &mut event.kind {
        // Its own letters do not distinguish preempted from runnable, nor parked from dead.
        EventKind::Switch(Switch { prev_state, .. }) if !is_raw && *prev_state == TaskState::Preempted => {
            *prev_state = TaskState::Runnable;
        }
        EventKind::StackFrame { .. } => event.kind = EventKind::Other,
        // Raw, a function is a name or an address, as it happens.
        EventKind::HrtimerStart(HrtimerStart { function, .. })
        | EventKind::HrtimerExpire(HrtimerExpiry { function, .. })
        | EventKind::TimerExpire { function, .. }
            if is_raw =>
        {
            *function = Default::default();
        }
        _ => {}
    }
    event
}

#[test]
fn every_report_tells_what_the_file_holds() {
    for path in recordings() {
        let (held, _) = drain(open(&path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}")));
        for options in [&["-t"][..], &["-t", "-R"], &["-t", "-l"], &[]] {
            let Some((printed, info)) = report(&path, options) else { return };
            let name = format!("{} with {options:?}", path.display());
            assert_eq!(info.damage, [], "{name}");
            let (held, printed) = (comparable(&held, options), comparable(&printed, options));
            for (held, printed) in held.iter().zip(&printed) {
                assert_eq!(held, printed, "{name}");
            }
            assert_eq!(held.len(), printed.len(), "{name}");
        }
    }
}
