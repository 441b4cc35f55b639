//! What other threads do for a thread while it waits: an answer, room in a pipe, a work item.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns};
use whylate_events::{EventKind, Packet, PacketStep, Work, WorkStep};
use whylate_ledger::{Activation, Cause};

pub(super) const VICTIM: Thread = rt("victim", 10, 50);
const SERVER: Thread = rt("server", 20, 60);
pub(super) const READER: Thread = fair("reader", 30);
const KWORKER: Thread = fair("kworker/u2:1", 40);
const WRITE: i64 = 1;
const FSYNC: i64 = 74;
const MQ_TIMEDSEND: i64 = 242;
const WAIT4: i64 = 61;
pub(super) const SENDTO: i64 = 44;
pub(super) const NET_RX: u32 = 3;

/// The reader has read: by a wake-up of its own, or by a packet that it sends.
fn has_read(scene: Scene, call: i64, at: i64) -> Scene {
    if call != SENDTO {
        return scene.at(at).wake(VICTIM, 1);
    }
    let packet = |step| EventKind::Packet(Packet { skb: 0xabc0, len: 52, dev: "lo".into(), step });
    let scene = scene.at(at - 10).event(packet(PacketStep::Queued)).event(packet(PacketStep::Looped));
    let scene = scene.at(at - 8).event(EventKind::SoftirqRaise { vec: NET_RX }).at(at - 6).softirq(NET_RX);
    let scene = scene.at(at - 5).event(packet(PacketStep::Received)).at(at).wake(VICTIM, 1);
    scene.at(at + 1).softirq_exit(NET_RX)
}

/// Periods of 10 ms, by the victim's own timer where `timed`; in the last five it sleeps in this call until the reader has read
/// or, as its child, has ended.
fn asks(call: i64, timed: bool) -> Explained {
    let mut scene = Scene::new().cpu(1);
    for n in 0..12 {
        let due = n * 10 * MS + 100;
        scene = scene.at(due);
        scene = if timed { scene.timer_wakes(VICTIM) } else { scene.wake(VICTIM, 1) };
        scene = scene.at(due + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(if timed { sys::CLOCK_NANOSLEEP } else { sys::READ });
        }
        scene = scene.at(due + 10).call(call, [1, 0, 100]);
        if n >= 7 {
            scene = has_read(scene.at(due + 12).sleep(READER), call, due + 6_012);
            scene = scene.at(due + 6_015).run(VICTIM);
        }
        let sleep = if timed { sys::CLOCK_NANOSLEEP } else { sys::READ };
        let end = due + if n >= 7 { 6_050 } else { 50 };
        scene = scene.ret(call).at(end).call(sleep, sys::UNTIL).at(end + 2).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn to_write_to_a_full_pipe_or_queue_is_to_wait_for_its_reader_and_to_wait_for_a_child_is_to_wait() {
    for (call, confidence) in [
        (WRITE, Confidence::Medium),
        (MQ_TIMEDSEND, Confidence::Medium),
        (SENDTO, Confidence::Medium),
        (WAIT4, Confidence::High),
    ] {
        let explained = asks(call, true);
        let due = Ns::from_us(80 * MS + 100);
        let late: Vec<_> = explained.in_order().into_iter().filter(|one| one.due == due).collect();
        let [late] = late[..] else { panic!("one activation: {late:?}") };
        assert_eq!(charged_to(late, Cause::OwnWait, READER), Ns::from_us(6_000));
        let worst = explained.worst();
        assert_eq!((worst.verdict.cause, worst.verdict.confidence), (Cause::OwnWait, confidence));
        assert!(worst.verdict.why.contains("until reader:30"), "{}", worst.verdict.why);
        let named = match call {
            WRITE => "in the system call write,",
            SENDTO => "in the system call sendto,",
            _ => "in ",
        };
        assert!(worst.verdict.why.contains(named), "{}", worst.verdict.why);
        // A thread without periods of its own keeps those of its reader, or of its child: a shell's loop of `sleep`.
        let explained = asks(call, false);
        assert!(explained.in_order().iter().all(|activation| activation.verdict.cause != Cause::OwnWait));
    }
}

/// The victim reads through a work item that it queued; its kworker has the CPU only when a hog leaves it.
#[test]
fn a_read_that_a_work_item_does_waits_for_what_keeps_its_kworker_from_the_cpu() {
    let hog = rt("hog", 50, 40);
    let work = |step| EventKind::Work(Work { work: 0xdef0, function: "loop_workfn".into(), step });
    let explained = |own: bool| {
        let scene = Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(140);
        let scene = if own { scene.event(work(WorkStep::Queued)) } else { scene };
        let scene = scene.at(145).wake(KWORKER, 1).at(150).block(hog).at(8_150).sleep(KWORKER);
        let scene = scene.at(8_160).event(work(WorkStep::Started)).at(8_200).wake(VICTIM, 1);
        scene.at(8_205).run(VICTIM).at(8_250).sleep(IDLE).explain("victim").only().clone()
    };
    let own = explained(true);
    assert_blames(&own, Cause::WorkItemDelayed, Some(hog));
    assert_eq!(own.verdict.charged, Ns::from_us(8_000));
    // Another thread's work item completes its requests.
    assert_blames(&explained(false), Cause::BlockIo, None);
}

/// The victim, with periods of its own, stays in a call in the fourth one, and is woken there at [`WOKEN`].
fn stays(call: i64, contends: bool, waits: impl Fn(Scene) -> Scene) -> Activation {
    let mut scene = Scene::new().cpu(1);
    for period in 0..4 {
        let due = period * 20 * MS + 100;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if contends && period == 0 {
            scene = scene.at(due + 10).contend(7).at(due + 11).acquire(7);
        }
        if period == 3 {
            scene = waits(scene.at(due + 20).call(call, [3, 0, 0]).at(due + 25));
            scene = scene.at(due + 8_025).run(VICTIM).at(due + 8_030).ret(call);
        }
        scene = scene.at(due + 9_000).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 9_002).sleep(IDLE);
    }
    scene.explain("victim").in_order().last().map(|last| (*last).clone()).expect("an activation")
}

const WOKEN: i64 = 60 * MS + 100 + 8_000;

/// A file system that the daemon serves: the victim opens a file, and reads it.
#[test]
fn a_file_that_a_program_serves_is_waited_for_in_the_middle_of_the_work() {
    const OPENAT: i64 = 257;
    let daemon = fair("bindfs", 30);
    let explained = |call: i64, contends: bool, is_deep: bool| {
        stays(call, contends, |scene| {
            let scene = if is_deep { scene.block(IDLE) } else { scene.sleep(IDLE) };
            scene.at(WOKEN).run(daemon).at(WOKEN + 20).wake(VICTIM, 1)
        })
    };
    let opens = explained(OPENAT, false, false);
    assert_eq!(
        (opens.due, charged_to(&opens, Cause::OwnWait, daemon)),
        (Ns::from_us(60 * MS + 100), Ns::from_us(7_995))
    );
    // A read sleeps like one for a device; a lock would show, where any does.
    let reads = explained(sys::READ, true, true);
    assert_eq!(charged_to(&reads, Cause::OwnWait, daemon), Ns::from_us(7_995));
    let unknown = explained(sys::READ, false, true);
    assert_eq!(charged_to(&unknown, Cause::OwnWait, daemon), Ns::ZERO);
}

/// The victim sleeps uninterruptibly from 150 us on, until a thread of the kernel wakes it at 8.2 ms. That one is `woken`, and a hog has
/// the CPU until 8.15 ms.
fn waits_for(thread: Thread, woken: i64, hog: Thread) -> Activation {
    let scene = Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(hog);
    let scene = scene.at(woken).wake(thread, 1).at(8_150).sleep(thread).at(8_200).wake(VICTIM, 1);
    scene.at(8_205).run(VICTIM).at(8_250).sleep(IDLE).explain("victim").only().clone()
}

#[test]
fn without_work_items_a_kworker_that_had_no_cpu_shows_that_no_device_took_the_time() {
    let hog = rt("hog", 50, 40);
    let explained = |woken| waits_for(KWORKER, woken, hog);
    let delayed = explained(160);
    assert_blames(&delayed, Cause::WorkItemDelayed, Some(hog));
    assert_eq!(delayed.verdict.confidence, Confidence::Medium);
    assert_blames(&explained(7_000), Cause::BlockIo, None);
}

/// fsync(2) of ext4 waits for the journal's thread; the device is done soon.
#[test]
fn a_file_system_thread_that_had_no_cpu_shows_that_no_device_took_the_time() {
    let (hog, journal) = (rt("hog", 50, 40), fair("jbd2/vda-8", 60));
    let explained = |woken| waits_for(journal, woken, hog);
    let delayed = explained(160);
    assert_blames(&delayed, Cause::WorkItemDelayed, Some(hog));
    let why = "while jbd2/vda-8:60 (nice 0) was runnable, for which victim (rt 50) waits";
    assert!(delayed.verdict.why.ends_with(why), "{}", delayed.verdict.why);
    assert_blames(&explained(7_000), Cause::BlockIo, None);
    // On PREEMPT_RT the device of the journal's thread is done at 0.5 ms, and a hog keeps the thread from the CPU that handles that.
    let ktimers = rt("ktimers/1", 41, 1);
    let scene = Scene::new().cpu(1).at(0).run(ktimers).at(50).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105);
    let scene = scene.run(VICTIM).at(140).wake(journal, 1).at(150).block(journal).at(180);
    let scene =
        scene.arm_named(0x77, "null_cmd_timer_expired", 500).at(200).block(hog).at(502).wake(ktimers, 1);
    let scene =
        scene.at(8_150).sleep(ktimers).at(8_160).softirq(8).fire_named(0x77, "null_cmd_timer_expired");
    let scene = scene.wake(journal, 1).fired(0x77).softirq_exit(8).at(8_170).sleep(journal).at(8_200);
    let scene = scene.wake(VICTIM, 1).at(8_205).sleep(VICTIM).at(8_250).sleep(IDLE);
    let deferred = scene.explain("victim").only().clone();
    assert_blames(&deferred, Cause::SoftirqDeferred, Some(hog));
    let of_device = deferred.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
    assert_eq!(of_device.map(|segment| segment.length()).sum::<Ns>(), Ns::from_us(30 + 20 + 302 + 30));
}

#[test]
fn what_a_file_system_thread_does_for_a_thread_is_a_wait_for_the_device() {
    for (waker, cause, by) in [
        (fair("jbd2/vda-8", 60), Cause::BlockIo, None),
        (fair("khugepaged", 60), Cause::LockWait, Some(fair("khugepaged", 60))),
    ] {
        let scene = Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(waker);
        let scene = scene.at(160).block(IDLE).at(8_150).irq(11, "vda").wake(waker, 1).irq_exit(11).at(8_155);
        let scene = scene.run(waker).at(8_160).wake(VICTIM, 1).at(8_165).run(VICTIM).at(8_200).sleep(IDLE);
        assert_blames(scene.explain("victim").only(), cause, by);
    }
}

#[test]
fn to_flush_a_work_item_is_to_wait_for_its_kworker() {
    let work = |function: &str, step| EventKind::Work(Work { work: 0xdef0, function: function.into(), step });
    let explained = |function: &str| {
        let scene =
            Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(KWORKER);
        let scene = scene.at(8_150).event(work(function, WorkStep::Started)).wake(VICTIM, 1);
        scene.at(8_155).run(VICTIM).at(8_200).sleep(IDLE).explain("victim")
    };
    let flush = explained("wq_barrier_func");
    assert_blames(flush.only(), Cause::WorkItem, Some(KWORKER));
    // A work item that completes the requests of a device.
    assert_blames(explained("blk_done_work").only(), Cause::BlockIo, None);
}

/// The kworker sleeps in the work item for something else: no part of the time in which its CPU idles is the way out of an idle state.
#[test]
fn a_cpu_with_nothing_to_do_in_the_middle_of_a_work_item_is_not_slow_to_wake() {
    let work = |step| EventKind::Work(Work { work: 0xdef0, function: "free_marks_fn".into(), step });
    let scene = Scene::new().cpu(1).at(50).run(KWORKER).at(60).sleep(IDLE).at(100).timer_wakes(VICTIM);
    let scene = scene.at(105).run(VICTIM).at(130).event(work(WorkStep::Queued)).wake(KWORKER, 1);
    let scene = scene.at(150).block(KWORKER).at(151).event(work(WorkStep::Started));
    let mut scene = scene.at(180).sleep(IDLE);
    for tick in [780, 4_000, 8_000] {
        scene = scene.at(tick).vector("local_timer").at(tick + 5).vector_exit("local_timer");
    }
    let scene = scene.at(8_100).wake(KWORKER, 1).at(8_105).run(KWORKER).at(8_150).wake(VICTIM, 1);
    let scene = scene.at(8_152).event(work(WorkStep::Ended)).at(8_155).run(VICTIM).at(8_200).sleep(IDLE);
    let late = scene.explain("victim").only().clone();
    let idle = late.ledger.iter().filter(|segment| segment.cause == Cause::IdleExit);
    let slow: Vec<_> = idle.filter(|segment| segment.length() > Ns::from_us(50)).collect();
    assert!(slow.is_empty(), "{slow:?}");
    assert_eq!(late.verdict.cause, Cause::Unexplained, "{:?}", late.ledger);
}

#[test]
fn a_write_that_a_thread_of_the_driver_ends_waits_for_the_device() {
    const PWRITE64: i64 = 18;
    let worker = fair("dm-delay-flush-", 30);
    let waits = |program: bool| {
        move |scene: Scene| {
            let scene = scene.block(worker).at(WOKEN - 7_000).sleep(IDLE);
            let scene = scene.at(WOKEN - 2_000).timer_wakes(worker).run(worker);
            let scene = if program { scene.call(sys::READ, [0, 0, 0]).ret(sys::READ) } else { scene };
            scene.at(WOKEN).wake(VICTIM, 1)
        }
    };
    let by_driver = stays(PWRITE64, true, waits(false));
    assert_blames(&by_driver, Cause::BlockIo, None);
    assert_eq!(by_driver.verdict.confidence, Confidence::Medium);
    assert_blames(&stays(PWRITE64, true, waits(true)), Cause::OwnWait, Some(worker));
    // A program may serve what it reads; and where locks do not show, the thread may have held one.
    assert_blames(&stays(sys::READ, true, waits(false)), Cause::OwnWait, Some(worker));
    assert_blames(&stays(PWRITE64, false, waits(false)), Cause::LockWait, Some(worker));
}

#[test]
fn a_driver_that_sleeps_interruptibly_for_a_time_is_a_sleep_of_the_kernel() {
    const IOCTL: i64 = 16;
    const TIMER: u32 = 1;
    let by_softirq =
        |vec| move |scene: Scene| scene.sleep(IDLE).at(WOKEN).softirq(vec).wake(VICTIM, 1).softirq_exit(vec);
    let of = |call, vec| stays(call, true, by_softirq(vec));
    let sleeps = of(IOCTL, TIMER);
    assert_blames(&sleeps, Cause::KernelSleep, None);
    assert_eq!(sleeps.due, Ns::from_us(60 * MS + 100));
    let ktimers = rt("ktimers/1", 50, 1);
    let by_thread = |scene: Scene| scene.sleep(IDLE).at(WOKEN - 10).run(ktimers).at(WOKEN).wake(VICTIM, 1);
    assert_blames(&stays(IOCTL, true, by_thread), Cause::KernelSleep, None);
    // Input that came, and a call that waits for input, end an activation.
    for (call, vec) in [(IOCTL, NET_RX), (sys::READ, TIMER)] {
        assert_eq!(of(call, vec).due, Ns::from_us(WOKEN), "{call} {vec}");
    }
}

#[test]
fn a_sleep_in_which_the_trace_ends_may_be_for_anything() {
    let asleep = || Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(READER);
    let woken =
        |scene: Scene| scene.at(5_000).irq(11, "vda").wake(VICTIM, 1).irq_exit(11).at(5_010).run(VICTIM);
    let woken = woken(asleep()).at(5_100).sleep(READER).explain("victim");
    let asleep = asleep().cpu(2).at(5_000).run(SERVER).explain("victim");
    for (explained, confidence, advice) in
        [(&woken, Confidence::Medium, "move input and output"), (&asleep, Confidence::Low, "/proc/TID/stack")]
    {
        let verdict = &explained.only().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::BlockIo, confidence));
        assert!(verdict.fix[0].text.contains(advice), "{:?}", verdict.fix);
    }
    assert!(asleep.only().verdict.why.contains("ends before it is woken"), "{}", asleep.only().verdict.why);
}

/// The device is done after 0.3 ms, and its interrupt queues a work item; a hog keeps the kworker from the CPU until 8.15 ms.
#[test]
fn a_request_that_a_work_item_ends_waits_for_the_device_only_until_that_is_queued() {
    let hog = rt("hog", 50, 40);
    let work =
        |step| EventKind::Work(Work { work: 0xdef0, function: "iomap_dio_complete_work".into(), step });
    let scene = Scene::new().cpu(1).at(0).run(KWORKER).at(50).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105);
    let scene =
        scene.run(VICTIM).at(150).call(sys::IO_GETEVENTS, [1, 1, 1]).block(hog).at(450).irq(11, "nvme0q1");
    let scene =
        scene.event(work(WorkStep::Queued)).wake(KWORKER, 1).irq_exit(11).at(8_150).sleep(KWORKER).at(8_160);
    let scene =
        scene.event(work(WorkStep::Started)).at(8_200).wake(VICTIM, 1).at(8_205).run(VICTIM).at(8_250);
    let explained = scene.sleep(IDLE).explain("victim");
    let late = explained.only();
    assert_blames(late, Cause::WorkItemDelayed, Some(hog));
    assert_eq!(charged_to(late, Cause::WorkItemDelayed, hog), Ns::from_us(7_700));
    let device = late.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
    assert_eq!(device.map(|segment| segment.length()).sum::<Ns>(), Ns::from_us(300));
}

/// The same on PREEMPT_RT, where the end of the request is a timer of the driver, which `ktimers/1` runs.
#[test]
fn the_end_of_a_request_waits_for_the_thread_that_queues_its_work_item() {
    let (ktimers, hog) = (rt("ktimers/1", 41, 1), rt("hog", 50, 40));
    let work = |step| EventKind::Work(Work { work: 0xd0, function: "ext4_end_io_rsv_work".into(), step });
    let scene = Scene::new().cpu(1).at(0).run(ktimers).at(50).sleep(KWORKER).at(70).sleep(IDLE);
    let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).call(FSYNC, [3, 0, 0]);
    let scene = scene.arm_named(0x77, "null_cmd_timer_expired", 450).block(hog).at(452).wake(ktimers, 1);
    let scene = scene.at(8_150).sleep(ktimers).at(8_155).softirq(8).at(8_160);
    let scene = scene.fire_named(0x77, "null_cmd_timer_expired").event(work(WorkStep::Queued));
    let scene = scene.wake(KWORKER, 1).fired(0x77).softirq_exit(8).at(8_170).sleep(KWORKER).at(8_175);
    let scene = scene.event(work(WorkStep::Started)).at(8_200).wake(VICTIM, 1).at(8_205).run(VICTIM);
    let explained = scene.at(8_250).sleep(IDLE).explain("victim");
    let late = explained.only();
    assert_blames(late, Cause::SoftirqDeferred, Some(hog));
    let device = late.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
    assert_eq!(device.map(|segment| segment.length()).sum::<Ns>(), Ns::from_us(302));
}

/// The victim waits for a device from 150 us on. On PREEMPT_RT a `handler` of the kernel does what its interrupt at 450 us asks for:
/// from `handled` on, until when `hog` has the CPU. `completes`: it does so and wakes the victim.
fn handled_in_a_thread(
    (handler, hog): (Thread, Thread),
    handled: i64,
    completes: impl FnOnce(Scene) -> Scene,
) -> Activation {
    let scene = Scene::new().cpu(1).at(0).run(handler).at(50).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105);
    let scene = scene.run(VICTIM).at(150).call(sys::IO_GETEVENTS, [1, 1, 1]).block(hog);
    let scene = scene.at(450).irq(11, "nvme0q1").wake(handler, 1).irq_exit(11).at(handled).sleep(handler);
    let scene = completes(scene.at(handled + 10)).at(handled + 15).run(VICTIM).at(handled + 50);
    scene.sleep(IDLE).explain("victim").only().clone()
}

#[test]
fn a_request_waits_for_the_device_only_until_its_interrupt() {
    const HOG: Thread = rt("hog", 50, 45);
    let by_timer = |scene: Scene| {
        let scene = scene.softirq(8).fire_named(0x77, "null_cmd_timer_expired").wake(VICTIM, 1);
        scene.fired(0x77).softirq_exit(8)
    };
    let irq_thread = rt("irq/11-nvme0q1", 41, 40);
    let ktimers = rt("ktimers/1", 41, 1);
    let of_irq = handled_in_a_thread((irq_thread, HOG), 8_150, |scene| scene.wake(VICTIM, 1));
    let of_timer = handled_in_a_thread((ktimers, HOG), 8_150, by_timer);
    for (late, cause, confidence) in [
        (&of_irq, Cause::IrqThreadDelayed, Confidence::High),
        (&of_timer, Cause::SoftirqDeferred, Confidence::Medium),
    ] {
        assert_blames(late, cause, Some(HOG));
        assert_eq!((charged_to(late, cause, HOG), late.verdict.confidence), (Ns::from_us(7_700), confidence));
        let device = late.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
        assert_eq!(device.map(|segment| segment.length()).sum::<Ns>(), Ns::from_us(300));
    }
    // The handler was woken for another timer; that of the request is due at 5 ms.
    let scene = Scene::new().cpu(1).at(0).run(ktimers).at(50).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105);
    let scene = scene.run(VICTIM).at(150).call(sys::IO_GETEVENTS, [1, 1, 1]);
    let scene = scene.arm_named(0x77, "null_cmd_timer_expired", 5_000).block(HOG).at(450).wake(ktimers, 1);
    let scene = by_timer(scene.at(8_150).sleep(ktimers).at(8_160)).at(8_165).run(VICTIM).at(8_200);
    let late = scene.sleep(IDLE).explain("victim").only().clone();
    assert_eq!(charged_to(&late, Cause::SoftirqDeferred, HOG), Ns::from_us(3_150));
    let at_once = handled_in_a_thread((irq_thread, HOG), 460, |scene| scene.wake(VICTIM, 1));
    assert_blames(&at_once, Cause::BlockIo, None);
}

/// tcdrain(3) in each period of 10 ms: the thread of the interrupt wakes the victim, in the last one after a hog.
#[test]
fn what_a_thread_asks_of_a_device_by_ioctl_it_needs_in_its_period() {
    const IOCTL: i64 = 16;
    let (serial, hog) = (rt("irq/3-ttyS1", 41, 50), rt("hog", 50, 60));
    let mut scene = Scene::new().cpu(1).at(0).run(serial).at(20).sleep(IDLE);
    for n in 0..10 {
        let due = n * 10 * MS + 1_000;
        let late = if n == 9 { 40 * MS } else { 0 };
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 20).call(IOCTL, [3, 0x5409, 1]).at(due + 25).irq(3, "ttyS1").wake(serial, 1);
        scene = scene.irq_exit(3).at(due + 30).sleep(if late > 0 { hog } else { serial });
        if late > 0 {
            scene = scene.at(due + 30 + late).sleep(serial);
        }
        // The device has more for the thread of its interrupt while that runs.
        scene = scene.at(due + 40 + late).irq(3, "ttyS1").at(due + 41 + late).irq_exit(3);
        scene = scene.at(due + 60 + late).wake(VICTIM, 1).sleep(VICTIM).ret(IOCTL).at(due + 100 + late);
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    let late = longest(&explained);
    assert_eq!(late.response(), Ns::from_us(40_100));
    assert_blames(&late, Cause::IrqThreadDelayed, Some(hog));
}

pub(super) const IO_URING_ENTER: i64 = 426;

pub(super) fn longest(explained: &Explained) -> Activation {
    explained.in_order().into_iter().max_by_key(|activation| activation.response()).expect("one").clone()
}

#[test]
fn a_request_by_io_uring_is_one_of_the_period() {
    let of = |least: u64| {
        let scene = Scene::new().cpu(1).at(0).run(VICTIM).at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene =
            scene.sleep(IDLE).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        let scene =
            scene.at(150).call(IO_URING_ENTER, [4, 1, least]).sleep(IDLE).at(7_150).irq(11, "nvme0q1");
        let scene = scene.wake(VICTIM, 1).irq_exit(11).at(7_155).run(VICTIM).ret(IO_URING_ENTER).at(7_200);
        scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE).explain("victim")
    };
    assert_blames(&longest(&of(1)), Cause::BlockIo, None);
    assert!(longest(&of(0)).response() < Ns::from_us(100), "it waits for none");
}

/// A write to an encrypted disk, of which the victim queues the work item itself: a kworker encrypts, and lets a thread of the driver
/// go on that hands the block to the device.
#[test]
fn a_request_that_passes_several_threads_waits_for_what_kept_the_first_from_the_cpu() {
    let (hog, second) = (rt("hog", 50, 40), fair("other", 51));
    let writer = fair("dmcrypt_write/2", 60);
    let work = |step| EventKind::Work(Work { work: 0xdef0, function: "kcryptd_crypt".into(), step });
    let explained = |shows_work: bool, hogged: bool| {
        let on = |scene: Scene, step| if shows_work { scene.event(work(step)) } else { scene };
        let scene = Scene::new().cpu(1).at(0).run(KWORKER).at(10).sleep(writer).at(20).sleep(IDLE);
        let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(140);
        let scene = on(scene, WorkStep::Queued);
        let scene = match hogged {
            true => scene.at(145).wake(KWORKER, 1).at(150).block(hog).at(8_150).sleep(KWORKER),
            // The kworker is woken when the device is done.
            false => scene
                .at(150)
                .block(IDLE)
                .at(8_140)
                .irq(11, "vda")
                .wake(KWORKER, 1)
                .irq_exit(11)
                .at(8_150)
                .run(KWORKER),
        };
        let scene = on(scene.at(8_160), WorkStep::Started).at(8_200).wake(writer, 1);
        let scene = on(scene.at(8_205), WorkStep::Ended).at(8_210).sleep(second).at(8_710).sleep(writer);
        let scene = scene.at(8_730).wake(VICTIM, 1).at(8_735).run(VICTIM).at(8_800).sleep(IDLE);
        scene.explain("victim").only().clone()
    };
    for shows_work in [true, false] {
        let late = explained(shows_work, true);
        assert_blames(&late, Cause::WorkItemDelayed, Some(hog));
        assert_eq!((late.verdict.charged, late.verdict.confidence), (Ns::from_us(8_000), Confidence::Medium));
        assert_eq!(charged_to(&late, Cause::WorkItemDelayed, second), Ns::from_us(500));
        let carrier = "kworker/u2:1:40 (nice 0) was runnable";
        assert!(late.verdict.why.contains(carrier), "{}", late.verdict.why);
    }
    assert_blames(&explained(false, false), Cause::BlockIo, None);
}

/// A write to an encrypted disk whose device ends it by an interrupt: the victim queues the work item that encrypts, and a hog has the
/// kworker's CPU up to 8.15 ms.
#[test]
fn a_request_reaches_no_device_before_the_work_item_that_the_thread_queued_for_it() {
    const PWRITEV2: i64 = 328;
    let hog = rt("hog", 50, 40);
    let work = |step| EventKind::Work(Work { work: 0xdef0, function: "kcryptd_crypt".into(), step });
    let explained = |in_call: bool| {
        let scene = Scene::new().cpu(1).at(0).run(KWORKER).at(10).sleep(IDLE);
        let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(130);
        let queue = |scene: Scene| scene.event(work(WorkStep::Queued)).wake(KWORKER, 1).at(145);
        let scene = match in_call {
            true => queue(scene.call(PWRITEV2, [3, 0, 1]).at(140)),
            false => queue(scene).call(PWRITEV2, [3, 0, 1]),
        };
        let scene =
            scene.at(150).block(hog).at(8_150).sleep(KWORKER).at(8_160).event(work(WorkStep::Started));
        let scene = scene.at(8_200).event(work(WorkStep::Ended)).at(8_210).sleep(IDLE);
        let scene = scene.at(8_500).irq(11, "nvme0q1").wake(VICTIM, 1).irq_exit(11).at(8_505).run(VICTIM);
        let scene = scene.ret(PWRITEV2).at(8_550).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
        scene.explain("victim").only().clone()
    };
    let late = explained(true);
    assert_blames(&late, Cause::WorkItemDelayed, Some(hog));
    assert_eq!((late.verdict.charged, late.verdict.confidence), (Ns::from_us(8_000), Confidence::Medium));
    let device = late.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
    assert_eq!(device.map(|segment| segment.length()).sum::<Ns>(), Ns::from_us(340));
    // What it queued before is no part of the write.
    assert_blames(&explained(false), Cause::BlockIo, None);
}
