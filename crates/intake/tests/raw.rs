//! Pages copied out of tracefs, compared with what the kernel's own `trace` file showed of them.

mod formats;

use formats::{drain, fixture, read, unpacked};
use std::fs;
use std::path::Path;
use whylate_events::{EventKind, KindSet};
use whylate_intake::{OpenError, open};

/// Copies the fixture to where it may be harmed.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { fs::copy(&from, &to).map(drop).expect("copied") }
    }
}

fn error(path: &Path) -> String {
    open(path, KindSet::ALL).err().map_or_else(|| panic!("was opened"), |error| error.to_string())
}

#[test]
fn pages_are_read_as_the_kernel_shows_them() {
    let (events, info) = read("raw_dump");
    let text = formats::read_bytes(unpacked("raw_dump.trace.txt.gz")).0;
    assert_eq!((events.len(), info.events, info.cpus), (text.len(), 694, 2));
    assert_eq!(info.clock.as_deref(), Some("mono"));
    assert_eq!((info.format.as_str(), info.damage), ("raw ring-buffer pages (trace_pipe_raw)", vec![]));
    for (event, shown) in events.iter().zip(&text) {
        // The text has microseconds, rounded.
        assert!((event.ts.0 - shown.ts.0).abs() <= 500, "{event:?} is not {shown:?}");
        assert_eq!((event.cpu, event.context.tid), (shown.cpu, shown.context.tid), "{event:?}");
        match (event.kind, shown.kind) {
            (EventKind::Switch(a), EventKind::Switch(b)) => assert_eq!(a, b),
            (EventKind::HrtimerExpire(a), EventKind::HrtimerExpire(b)) => assert_eq!(a.now, b.now),
            // Names of functions and addresses are as the machine chose to show them.
            (a, b) => assert_eq!(a.kind(), b.kind()),
        }
    }
}

#[test]
fn the_buffers_of_instances_are_read_as_well() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    copy(&fixture("raw_dump"), directory.path());
    copy(&fixture("raw_dump/per_cpu"), &directory.path().join("instances/second/per_cpu"));
    let source = open(directory.path(), KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    let (events, info) = drain(source);
    assert_eq!(info.events, 2 * 694);
    assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
}

#[test]
fn damage_names_the_file_it_is_in() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    copy(&fixture("raw_dump"), directory.path());
    let path = directory.path().join("per_cpu/cpu1/trace_pipe_raw");
    let mut pages = fs::read(&path).expect("pages");
    pages[4096 + 16..4096 + 20].copy_from_slice(&[0; 4]);
    fs::write(&path, pages).expect("written");
    let source = open(directory.path(), KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    let (events, info) = drain(source);
    assert!(info.events < 694 && info.events > 500, "{}", info.events);
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::Lost { .. })));
    let damage = info.damage.first().expect("damage");
    assert!(damage.offset.is_some_and(|at| (4096..8192).contains(&at)), "{damage}");
    assert!(damage.what.starts_with("per_cpu/cpu1/trace_pipe_raw: CPU 1: "), "{damage}");
}

#[test]
fn what_is_missing_is_asked_for() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path();
    copy(&fixture("raw_dump/per_cpu"), &path.join("per_cpu"));
    assert!(error(path).contains("no events/*/*/format to read them with; copy these"), "{}", error(path));
    copy(&fixture("raw_dump/events/sched"), &path.join("events/sched"));
    let (_, info) = drain(open(path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}")));
    assert!(
        info.damage.iter().any(|damage| damage.what.contains("header_page is not there")),
        "{:?}",
        info.damage
    );
    for cpu in ["cpu0", "cpu1"] {
        fs::write(path.join("per_cpu").join(cpu).join("trace_pipe_raw"), b"").expect("written");
    }
    assert!(error(path).contains("has a size of 0; read them from tracefs with `dd"), "{}", error(path));
}

#[test]
fn a_file_of_pages_alone_is_known_and_refused() {
    let path = fixture("raw_dump/per_cpu/cpu1/trace_pipe_raw");
    let error = open(&path, KindSet::ALL).err();
    assert!(matches!(error, Some(OpenError::RawAlone { .. })), "{error:?}");
    // Where events were lost before a page, the kernel's flags for it are sign-extended.
    let mut pages = fs::read(&path).expect("pages");
    for flags in [[0xc0, 0xff, 0xff, 0xff, 0xff], [0x80, 0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0, 0]] {
        pages[11..16].copy_from_slice(&flags);
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("trace_pipe_raw");
        fs::write(&path, &pages).expect("written");
        let error = open(&path, KindSet::ALL).err();
        assert!(matches!(error, Some(OpenError::RawAlone { .. })), "{flags:x?}: {error:?}");
    }
}
