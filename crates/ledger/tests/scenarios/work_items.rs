//! What kworkers executed, for whom, and what the late thread had to do with that.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_base::{Action, Confidence, Evidence, Ns};
use whylate_events::{EventKind, Work, WorkStep};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 50);
const KWORKER: Thread = fair("kworker/u4:1", 36);
const WRITE: i64 = 1;
const TIMER: u32 = 1;

fn work(function: &str, step: WorkStep) -> EventKind {
    EventKind::Work(Work { work: 0xdef0, function: function.into(), step })
}

/// Ten periods of 10 ms; in the last one the victim writes, and sleeps there: `waits` is from then on, and wakes it 6 ms later.
fn writes(call: i64, waits: impl Fn(Scene, i64) -> Scene) -> Activation {
    let mut scene = Scene::new().cpu(1);
    for n in 0..10 {
        let due = n * 10 * MS + 100;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        scene = if n > 0 { scene.ret(sys::CLOCK_NANOSLEEP) } else { scene };
        let end = if n == 9 { due + 6_050 } else { due + 50 };
        scene = scene.at(due + 10).call(call, [1, 0, 100]);
        if n == 9 {
            scene = waits(scene, due).at(due + 6_010).run(VICTIM);
        }
        scene = scene.ret(call).at(end).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(end + 2).sleep(IDLE);
    }
    scene.explain("victim").worst().clone()
}

fn advice(activation: &Activation) -> String {
    let texts = activation.verdict.fix.iter().map(|fix| fix.text.as_str());
    texts.collect::<Vec<_>>().join("; ")
}

/// The other side of a terminal lets stopped output go on: the kworker that wakes the writer works off what that queued.
#[test]
fn a_kworker_that_lets_a_thread_go_on_is_named_with_its_item_and_what_queued_that() {
    let operator = fair("operator", 45);
    let late = |function: &'static str| {
        writes(WRITE, |scene, due| {
            let scene = scene.at(due + 12).sleep(operator).at(due + 5_990);
            let scene = scene.event(work(function, WorkStep::Queued)).wake(KWORKER, 1).sleep(KWORKER);
            let scene = scene.at(due + 5_995).event(work(function, WorkStep::Started));
            scene.at(due + 6_000).wake(VICTIM, 1).at(due + 6_002).event(work(function, WorkStep::Ended))
        })
    };
    let terminal = late("flush_to_ldisc");
    assert_blames(&terminal, Cause::OwnWait, Some(KWORKER));
    let why = &terminal.verdict.why;
    let named = "in the work item flush_to_ldisc, which operator:45 (nice 0) had queued";
    assert!(why.contains("in the system call write, until kworker/u4:1:36") && why.ends_with(named), "{why}");
    let fix = advice(&terminal);
    assert!(fix.starts_with("find what operator:45 (nice 0) did") && fix.contains("stty -ixon"), "{fix}");
    assert!(!fix.contains("pipe"), "{fix}");
    let other = advice(&late("some_work_fn"));
    assert!(other.contains("pipe") && !other.contains("stty"), "{other}");
}

#[test]
fn a_sleep_of_the_kernel_is_named_with_its_call_and_needs_no_other_recording() {
    let late = |call, sets_off: bool| {
        writes(call, |scene, due| {
            let scene = scene.at(due + 11);
            let queue = |scene: Scene| scene.event(work("wb_workfn", WorkStep::Queued)).wake(KWORKER, 1);
            let scene = if sets_off { queue(scene) } else { scene };
            let scene = scene.at(due + 12).block(KWORKER).at(due + 14);
            let scene = if sets_off { scene.event(work("wb_workfn", WorkStep::Started)) } else { scene };
            scene.at(due + 30).sleep(IDLE).at(due + 6_005).softirq(TIMER).wake(VICTIM, 1).softirq_exit(TIMER)
        })
    };
    let throttled = late(WRITE, true);
    assert_blames(&throttled, Cause::KernelSleep, None);
    let why = &throttled.verdict.why;
    assert!(why.contains("in the system call write") && why.contains("there were too many of them"), "{why}");
    let maybe = late(WRITE, false);
    assert!(maybe.verdict.why.contains("where too many pages are dirty"), "{}", maybe.verdict.why);
    for activation in [&throttled, &maybe] {
        let fix = advice(activation);
        assert!(fix.contains("vm.dirty_bytes") && fix.contains("sync_file_range"), "{fix}");
        assert!(!fix.contains("raw_syscalls"), "{fix}");
    }
    const IOCTL: i64 = 16;
    let driver = late(IOCTL, false);
    assert_blames(&driver, Cause::KernelSleep, None);
    let fix = advice(&driver);
    assert!(!fix.contains("raw_syscalls") && !fix.contains("dirty") && fix.contains("stack"), "{fix}");
}

/// A kworker is no thread of a service, and no taskset moves it.
#[test]
fn a_kworker_of_high_priority_is_named_with_what_it_executes_and_is_to_be_lowered() {
    let raised = rt("kworker/u4:1", 36, 70);
    let mut scene = Scene::new().cpu(1);
    for n in 0..10 {
        let due = n * 10 * MS + 100;
        scene = scene.at(due).timer_wakes(VICTIM);
        if n == 9 {
            scene = scene.at(due + 2).run(raised);
            for item in 0..24 {
                let function = if item == 7 { "other_fn" } else { "crypt_one" };
                scene = scene.at(due + 10 + item * 100).event(work(function, WorkStep::Started));
                scene = scene.at(due + 90 + item * 100).event(work(function, WorkStep::Ended));
            }
            scene = scene.at(due + 2_500).sleep(VICTIM);
        } else {
            scene = scene.at(due + 5).run(VICTIM);
        }
        let end = if n == 9 { due + 2_550 } else { due + 50 };
        scene = scene.at(end).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(end + 2).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    let late = explained.worst();
    assert_blames(late, Cause::HigherPriorityTask, Some(raised));
    let why = &late.verdict.why;
    assert!(why.contains("which executed crypt_one 23 times, and one other work item,"), "{why}");
    let fix = advice(late);
    assert!(fix.starts_with("make kworker/u4:1:36 (rt 70) SCHED_OTHER again: chrt -o -p 0 TID"), "{fix}");
    assert!(fix.contains("/sys/devices/virtual/workqueue/cpumask") && !fix.contains("service"), "{fix}");
    assert!(!fix.contains("taskset -pc"), "{fix}");
    assert!(matches!(late.verdict.fix[0].action, Action::Thread { .. }), "{:?}", late.verdict.fix[0]);
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert!(
        finding.evidence.iter().any(|seen| seen.what.contains("executed crypt_one 23 times")),
        "{finding:?}"
    );
}

/// The victim queues an item for its read, sleeps uninterruptibly, and goes on in another run of that item, which an operator queues.
#[test]
fn a_request_that_the_thread_s_own_item_did_not_end_was_held_back() {
    const PREAD: i64 = 17;
    let operator = fair("dmsetup", 45);
    let late = |own: bool| {
        writes(PREAD, |scene, due| {
            let item = |step| work("dm_wq_work", step);
            let scene = scene.at(due + 11);
            let scene = if own { scene.event(item(WorkStep::Queued)) } else { scene };
            let scene = scene.wake(KWORKER, 1).at(due + 12).block(KWORKER).at(due + 14);
            let scene = if own { scene.event(item(WorkStep::Started)) } else { scene };
            let scene = if own { scene.at(due + 16).event(item(WorkStep::Ended)) } else { scene };
            let scene = scene.at(due + 20).sleep(operator).at(due + 5_990).event(item(WorkStep::Queued));
            let scene = scene.wake(KWORKER, 1).at(due + 5_992).sleep(KWORKER).at(due + 5_995);
            let scene = scene.event(item(WorkStep::Started)).at(due + 6_000).wake(VICTIM, 1);
            scene.at(due + 6_002).event(item(WorkStep::Ended))
        })
    };
    let held = late(true).verdict;
    assert_eq!((held.cause, held.confidence), (Cause::BlockIo, Confidence::Low), "{}", held.why);
    assert!(held.charged >= Ns::from_us(5_970), "{}", held.charged);
    let noted = |one: &Evidence| one.what.contains("in which kworker/u4:1:36 woke the thread");
    assert!(held.evidence.iter().any(noted), "{:?}", held.evidence);
    assert!(!late(false).verdict.evidence.iter().any(noted));
}
