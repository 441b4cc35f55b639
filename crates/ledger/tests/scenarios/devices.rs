//! Waits for a device in the middle of a period.

use super::support::{Explained, IDLE, MS, Scene, Thread, rt, sys};
use whylate_base::Severity;
use whylate_events::{EventKind, Syscall};
use whylate_ledger::{Cause, Options, Select};

const VICTIM: Thread = rt("writer", 10, 50);
const WRITE: i64 = 1;
const FSYNC: i64 = 74;

/// Forty periods of 20 ms. In those of `late` the thread writes and syncs, and each call waits for the device for 4 ms.
fn scene(late: &[i64]) -> Scene {
    scene_of(late, WRITE, [0, 0])
}

/// The same, with another call that writes, of this length and at this offset.
fn scene_of(late: &[i64], write: i64, [length, offset]: [u64; 2]) -> Scene {
    let waits = |scene: Scene, at: i64, call: i64| {
        let enter = EventKind::SyscallEnter(Syscall { nr: call, args: [3, 0, length, offset, 0, 0] });
        let scene = scene.at(at).event(enter).at(at + 10).block(IDLE);
        let scene = scene.at(at + 10 + 4 * MS).irq(30, "nvme0q1").wake(VICTIM, 1).irq_exit(30);
        scene.at(at + 15 + 4 * MS).run(VICTIM).at(at + 20 + 4 * MS).ret(call)
    };
    let scene = Scene::new().cpu(1).at(0).run(VICTIM).at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    (1..=40).fold(scene.at(55).sleep(IDLE), |scene, n| {
        let due = n * 20 * MS;
        let scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        let (scene, end) = match late.contains(&n) {
            true => {
                let second = due + 100 + 4 * MS;
                (waits(waits(scene, due + 50, write), second, FSYNC), second + 50 + 4 * MS)
            }
            false => (scene, due + 100),
        };
        scene.at(end).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(end + 5).sleep(IDLE)
    })
}

#[test]
fn a_wait_for_a_device_names_its_calls() {
    let explained = scene(&[7]).explain("writer");
    let verdict = &explained.worst().verdict;
    assert_eq!(verdict.cause, Cause::BlockIo);
    let expected = "for a device in the system calls write (4.00 ms) and fsync (4.00 ms)";
    assert!(verdict.why.ends_with(expected), "{}", verdict.why);
    assert!(verdict.fix[0].text.starts_with("leave write and fsync to another thread"), "{:?}", verdict.fix);
    assert!(explained.finding("block-io").is_none());
}

fn found(late: &[i64], shown: usize) -> Explained {
    let tasks = vec![Select::Comm("writer".into())];
    scene(late).explain_with(&Options { tasks, worst: shown, ..Options::default() })
}

#[test]
fn what_is_found_does_not_depend_on_how_many_are_shown() {
    for shown in [1, 2, 10, 1_000] {
        let explained = found(&[5, 10, 15, 20, 25], shown);
        let finding = explained.finding("block-io").expect("a finding");
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(
            finding.title,
            "writer:10 (rt 50) waited for a device again and again: up to 8.00 ms in one activation"
        );
        assert!(finding.why.starts_with("it is the reason of 5 of the worst activations"), "{}", finding.why);
        assert_eq!(explained.0.activations.len(), shown.min(41));
    }
}

/// Only for a part of a page the rest of that has to be read.
#[test]
fn writes_of_whole_pages_wait_for_no_page_to_be_read() {
    const PWRITE64: i64 = 18;
    for (call, length, offset, part) in [
        (PWRITE64, 8_192, 40_960, false),
        (PWRITE64, 512, 40_960, true),
        (PWRITE64, 4_096, 100, true),
        // Where it writes is not in its arguments.
        (WRITE, 4_096, 0, true),
    ] {
        let explained = scene_of(&[7], call, [length, offset]).explain("writer");
        let verdict = &explained.worst().verdict;
        assert_eq!(verdict.cause, Cause::BlockIo);
        let said = verdict.fix.iter().any(|fix| fix.text.contains("part of a page"));
        assert_eq!(said, part, "{call} {length} {offset}: {:?}", verdict.fix);
    }
}
