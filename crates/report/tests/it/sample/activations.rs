//! Two late activations, with their ledgers and CPU tracks: one throttled, one behind a daemon.

use whylate_base::{Action, AdvisedFix, Comm, Confidence, Cpu, Evidence, Ns, Priority, ThreadAction, Tid};
use whylate_events::Name;
use whylate_ledger::{Activation, Cause, CpuTrack, Culprit, OnCpu, Segment, Slice, Trigger, Verdict};

pub(super) const CPU: Cpu = Cpu(1);

pub(super) fn us(us: i64) -> Ns {
    Ns::from_us(us)
}

/// Segments that follow on one another from `due`.
fn tile(due: Ns, parts: &[(Cause, Ns, Option<Culprit>)]) -> Vec<Segment> {
    let mut start = due;
    parts
        .iter()
        .map(|&(cause, length, by)| {
            let end = start + length;
            let segment =
                Segment { cause, start, end, cpu: CPU, by, owner: None, confidence: Confidence::High };
            start = end;
            segment
        })
        .collect()
}

/// Slices that follow on one another from `start`.
fn track(cpu: Cpu, start: Ns, parts: &[(OnCpu, Ns)]) -> CpuTrack {
    let mut at = start;
    let slices = parts
        .iter()
        .map(|&(on_cpu, length)| {
            let slice = Slice { start: at, end: at + length, on_cpu };
            at = slice.end;
            slice
        })
        .collect();
    CpuTrack { cpu, slices }
}

fn task(comm: &str, tid: i32, priority: Priority) -> OnCpu {
    OnCpu::Task { tid: Tid(tid), comm: Comm::from(comm), priority }
}

pub(super) fn culprit(comm: &str, tid: i32, priority: Priority) -> Culprit {
    Culprit::Task { tid: Tid(tid), comm: Comm::from(comm), priority }
}

/// A fix that no setting makes.
pub(crate) fn by_hand(text: &str) -> AdvisedFix {
    AdvisedFix::by_hand(text, "the program is to be changed")
}

const TIMER_IRQ: &str = "local_timer";

/// FIFO 50 with a 10 ms period beside a FIFO 1 hog: throttled once a second.
pub(super) fn throttled(due: Ns, idle: Ns) -> Activation {
    let hog = culprit("rtload", 313, Priority::realtime(1));
    let timer = Culprit::Irq { irq: None, name: Name::from(TIMER_IRQ) };
    let ledger = tile(
        due,
        &[
            (Cause::TimerLate, Ns(3_120), None),
            (Cause::Irq, Ns(5_480), Some(timer)),
            (Cause::RtThrottled, idle, Some(hog)),
            (Cause::Irq, Ns(2_200), Some(timer)),
            (Cause::OwnWork, Ns(21_340), None),
        ],
    );
    let end = ledger.last().expect("not empty").end;
    let running = due + Ns(3_120 + 5_480 + 2_200) + idle;
    let tick = (OnCpu::Irq { irq: None, name: Name::from(TIMER_IRQ) }, us(4));
    let mut slices = vec![(task("rtload", 313, Priority::realtime(1)), Ns(3_120)), (tick.0, Ns(5_480))];
    let mut left = idle;
    while left > us(4_000) {
        slices.extend([(OnCpu::Idle, us(3_996)), tick]);
        left -= us(4_000);
    }
    slices.extend([
        (OnCpu::Idle, left),
        (tick.0, Ns(2_200)),
        (task("rtload", 312, Priority::realtime(50)), Ns(21_340)),
    ]);
    let mut other = Vec::new();
    let mut rest = end - due;
    while rest > us(1_000) {
        other.extend([
            (OnCpu::Idle, us(640)),
            (task("kworker/0:1", 41, Priority::DEFAULT), us(48)),
            (OnCpu::Softirq { vec: 9 }, us(12)),
            (OnCpu::Idle, us(300)),
        ]);
        rest -= us(1_000);
    }
    other.push((task("trace-cmd", 290, Priority::DEFAULT), rest));
    Activation {
        cpu: CPU,
        trigger: Trigger::Timer,
        woken: Some(due + Ns(6_400)),
        running: Some(running),
        done: Some(end),
        verdict: Verdict {
            cause: Cause::RtThrottled,
            by: Some(hog),
            charged: idle,
            judged: end - due,
            share: idle.0 as f64 / (end - due).0 as f64,
            confidence: Confidence::High,
            why: "the kernel throttled the real-time tasks of CPU 1, because rtload:313 (rt 1) had used up \
                  950 ms of the last 1 s; the CPU idled with two real-time tasks runnable"
                .to_owned(),
            fix: vec![
                AdvisedFix::new(
                    "make rtload:313 sleep, or move it to a CPU without real-time deadlines: taskset -pc 0 313",
                    Action::thread(ThreadAction {
                        thread: "rtload".to_owned(),
                        tid: Some(313),
                        not_cpus: Some("1".to_owned()),
                        ..ThreadAction::default()
                    }),
                ),
                AdvisedFix::new(
                    "sysctl kernel.sched_rt_runtime_us=-1 switches the limit off; then a runaway real-time task \
                     hangs its CPU for good",
                    Action::sysctl("kernel.sched_rt_runtime_us", "-1"),
                ),
            ],
            evidence: vec![
                Evidence::at(due + Ns(6_400), CPU, "sched_waking rtload:312 from the hrtimer's handler"),
                Evidence::at(
                    due + us(30),
                    CPU,
                    "sched_switch rtload:313 [98] R ==> swapper/1:0: runnable, but switched out for idle",
                ),
                Evidence::at(running, CPU, "sched_switch swapper/1:0 ==> rtload:312 [49]"),
                Evidence::general("kernel.sched_rt_runtime_us 950000 of kernel.sched_rt_period_us 1000000"),
            ],
        },
        tracks: vec![track(Cpu(0), due, &other), track(CPU, due, &slices)],
        ledger,
        ..Activation::of(Tid(312), Comm::from("rtload"), Priority::realtime(50), due, end)
    }
}

/// Priority 80 behind a RR 99 daemon, cut up by network interrupts.
pub(super) fn behind_daemon(due: Ns) -> Activation {
    let daemon = culprit("multipathd", 977, Priority::realtime(99));
    let daemon_runs = task("multipathd", 977, Priority::realtime(99));
    let nic = Culprit::Irq { irq: Some(127), name: Name::from("eth0-rx-0") };
    let mut parts = vec![(Cause::IrqsDisabled, us(9), Some(culprit("ksoftirqd/1", 22, Priority::DEFAULT)))];
    let mut slices = vec![(task("ksoftirqd/1", 22, Priority::DEFAULT), us(9))];
    for i in 0..12 {
        parts.extend([
            (Cause::HigherPriorityTask, us(24), Some(daemon)),
            (Cause::Irq, Ns(2_300 + i * 10), Some(nic)),
            (Cause::Softirq, Ns(1_100), Some(Culprit::Softirq { vec: 3 })),
        ]);
        slices.extend([
            (daemon_runs, us(24)),
            (OnCpu::Irq { irq: Some(127), name: Name::from("eth0-rx-0") }, Ns(2_300 + i * 10)),
            (OnCpu::Softirq { vec: 3 }, Ns(1_100)),
        ]);
    }
    parts.extend([(Cause::HigherPriorityTask, us(43), Some(daemon)), (Cause::Unexplained, Ns(1_700), None)]);
    slices.extend([(daemon_runs, us(43)), (OnCpu::Unknown, Ns(1_700))]);
    let running = due + parts.iter().map(|part| part.1).sum::<Ns>();
    parts.extend([
        (Cause::OwnWork, us(14), None),
        (Cause::PageFault, us(6), None),
        (Cause::OwnWork, us(4), None),
    ]);
    slices.push((task("cyclictest", 1201, Priority::realtime(80)), us(24)));
    let ledger = tile(due, &parts);
    let end = ledger.last().expect("not empty").end;
    Activation {
        cpu: CPU,
        trigger: Trigger::Thread { tid: Tid(977), comm: Comm::from("multipathd") },
        woken: Some(due),
        running: Some(running),
        verdict: Verdict {
            cause: Cause::HigherPriorityTask,
            by: Some(daemon),
            charged: us(331),
            judged: end - due,
            share: us(331).0 as f64 / (end - due).0 as f64,
            confidence: Confidence::Medium,
            why: "multipathd:977 (rt 99) ran in front of it, and a priority of 80 must wait for it"
                .to_owned(),
            fix: vec![by_hand("systemctl stop multipathd, if no multipath device is in use")],
            evidence: vec![Evidence::at(due, CPU, "sched_switch ksoftirqd/1:22 ==> multipathd:977 [0]")],
        },
        tracks: vec![track(CPU, due, &slices)],
        ledger,
        ..Activation::of(Tid(1201), Comm::from("cyclictest"), Priority::realtime(80), due, end)
    }
}
