//! Explanations as the ledger would give them, made by hand.

use std::sync::Arc;
use whylate_base::{
    Action, AdvisedFix, Comm, Confidence, Cpu, Evidence, Finding, Ns, Policy, Priority, Severity,
    SourceLocation, ThreadAction, Tid,
};
use whylate_events::{
    AddressId, CodeAddress, CodeLocation, CodeModule, Damage, Kind, LatencyTracer, ModuleId, Name, StackId,
    Stacks, TraceInfo,
};
use whylate_investigate::measure::{
    Approach, Claimed, DeadlineAnswer, ExplainedSpike, MeasureReport, MeasuredPhase, NotExplained, Observed,
    Phase, PhaseShift, SpikeGroup, SpikeKind, TailEstimate, TraceState,
};
use whylate_ledger::{
    Activation, AppliedScope, Candidate, CandidateKind, Candidates, Cause, CpuContext, CpuProfile, CpuTrack,
    CriticalSection, Culprit, Explanation, FunctionTime, FunctionTimes, Gap, GrownLine, Missing, OnCpu,
    Place, PlaceRole, SampleCounts, Segment, Slice, Spread, TaskSummary, Trigger, Verdict,
};
use whylate_probes::load::LoadReport;
use whylate_probes::{CpuResult, Degraded, Lacking, Probe, Spike};
use whylate_stats::compare::Shift;
use whylate_stats::{Claim, ClaimStatus, FitRefusal, Level, Maxima, Rhythm};
use whylate_sys::SchedParams;

const CPU: Cpu = Cpu(1);

fn us(us: i64) -> Ns {
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

fn culprit(comm: &str, tid: i32, priority: Priority) -> Culprit {
    Culprit::Task { tid: Tid(tid), comm: Comm::from(comm), priority }
}

const TIMER_IRQ: &str = "local_timer";

/// FIFO 50 with a 10 ms period beside a FIFO 1 hog: throttled once a second.
fn throttled(due: Ns, idle: Ns) -> Activation {
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
fn behind_daemon(due: Ns) -> Activation {
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

fn spread(numbers: [i64; 4]) -> Spread {
    let [min, p50, p99, max] = numbers.map(Ns);
    Spread { min, p50, p99, max }
}

/// Two threads: one throttled three times, one behind a daemon; with findings, gaps and losses.
pub(crate) fn story() -> Explanation {
    let first = throttled(Ns(1_999_123_456), Ns(46_902_118));
    let second = throttled(Ns(2_999_130_007), Ns(46_871_000));
    let third = throttled(Ns(999_119_800), Ns(40_004_222));
    let daemon = behind_daemon(Ns(3_120_456_789));
    Explanation {
        trace: TraceInfo {
            format: "trace.dat v7 (zstd)".to_owned(),
            events: 48_213,
            lost_events: 12,
            cpus: 2,
            clock: Some("local".to_owned()),
            kernel_release: Some("6.1.0-18-amd64".to_owned()),
            machine: Some("x86_64".to_owned()),
            recorded: None,
            span: Some((Ns(912_000), Ns(5_021_004_112))),
            damage: vec![Damage::at(
                1_204_224,
                "page ends in the middle of an event: rest of the page skipped",
            )],
            ..TraceInfo::default()
        },
        tasks: vec![
            TaskSummary {
                tid: Tid(312),
                comm: Comm::from("rtload"),
                policy: Some(Policy::Fifo),
                priority: Priority::realtime(50),
                activations: 488,
                latency: Some(spread([3_010, 7_900, 61_200, 46_912_918])),
                response: Some(spread([24_100, 29_700, 88_400, 46_934_258])),
                causes: vec![
                    (Cause::RtThrottled, Ns(133_777_340)),
                    (Cause::OwnWork, Ns(10_412_000)),
                    (Cause::Irq, Ns(3_748_000)),
                    (Cause::TimerLate, Ns(1_522_000)),
                ],
            },
            TaskSummary {
                tid: Tid(1201),
                comm: Comm::from("cyclictest"),
                policy: None,
                priority: Priority::realtime(80),
                activations: 4_980,
                latency: Some(spread([4_100, 8_300, 21_400, (daemon.latency().expect("it ran")).0])),
                response: Some(spread([12_000, 17_100, 40_000, daemon.response().0])),
                causes: vec![
                    (Cause::OwnWork, Ns(71_020_000)),
                    (Cause::HigherPriorityTask, Ns(331_000)),
                    (Cause::Irq, Ns(28_260)),
                    (Cause::Softirq, Ns(13_200)),
                    (Cause::IrqsDisabled, Ns(9_000)),
                    (Cause::PageFault, Ns(6_000)),
                    (Cause::Unexplained, Ns(1_700)),
                ],
            },
        ],
        unlisted: 0,
        activations: vec![first, second, third, daemon],
        sections: vec![],
        profiles: Vec::new(),
        findings: vec![
            Finding {
                code: "rt-throttled",
                severity: Severity::Error,
                title: "RT throttling hit 3 times, every 1.000 s, up to 46.90 ms each, on CPU 1".to_owned(),
                why: "Real-time tasks may use 950 ms of every 1 s of a CPU. rtload:313 (rt 1) never sleeps, so \
                      it uses that up, and for the rest of the second no real-time task of the CPU runs, \
                      whatever its priority."
                    .to_owned(),
                evidence: vec![
                    Evidence::at(Ns(999_119_800), CPU, "throttled for 40.00 ms"),
                    Evidence::at(Ns(1_999_123_456), CPU, "throttled for 46.90 ms"),
                    Evidence::at(Ns(2_999_130_007), CPU, "throttled for 46.87 ms"),
                ],
                fix: vec![by_hand("find out why rtload:313 never sleeps: top -H -p 313")],
            },
            Finding {
                code: Cause::HigherPriorityTask.code(),
                severity: Severity::Warning,
                title: "multipathd:977 runs at RR 99, above every thread of the workload".to_owned(),
                why: "It ran 5 times, 331.0 us at the longest.".to_owned(),
                evidence: vec![],
                fix: vec![],
            },
        ],
        missing: vec![Missing {
            kind: Kind::Contention,
            cannot_tell: "whether a thread waited for a lock, and who held it", is_partial: false }],
        chains: None,
        candidates: None,
        waits_beside: None,
        scope: None,
        stands_still: false,
        host: None,
        peer: None,
    }
}

/// [`story`] with call stacks: its first thread's own work, a hostile name among it, and where its time went.
pub(crate) fn with_stacks() -> Explanation {
    let mut explanation = story();
    let address = |(line, function): (u32, &str)| CodeAddress {
        module: Some(ModuleId(0)),
        offset: u64::from(line),
        locations: vec![CodeLocation {
            function: Some(function.to_owned()),
            file: Some("/src/rtload.cpp".to_owned()),
            line: Some(line),
        }],
    };
    let stack = |ids: &[u32]| ids.iter().copied().map(AddressId).collect::<Vec<_>>();
    let stacks = Stacks {
        modules: vec![CodeModule { path: "/opt/rtload".to_owned(), ..CodeModule::default() }],
        addresses: [(9, "main"), (20, "filter"), (40, "tune<script>alert(1)</script>\u{202e};x")]
            .map(address)
            .to_vec(),
        stacks: vec![stack(&[1, 0]), stack(&[2, 0])],
        period: Ns::from_ms(1),
        ..Stacks::default()
    };
    let counts = |worst, others| SampleCounts { worst, others };
    let location = stacks.own_frame(StackId(1)).expect("a frame").source();
    let thread = explanation.activations[0].tid;
    let own_work = explanation.activations[0].ledger.iter().position(|one| one.cause == Cause::OwnWork);
    explanation.activations[0].places = vec![Place {
        segment: own_work.expect("own work"),
        role: PlaceRole::Ran,
        tid: thread,
        stack: StackId(1),
        location: location.clone(),
        samples: 30,
    }];
    explanation.profiles = vec![CpuProfile {
        tid: thread,
        stacks: vec![(StackId(1), counts(30, 0)), (StackId(0), counts(10, 90))],
        activations: counts(10, 90),
        period: stacks.period,
        grown: vec![GrownLine { location, worst: Ns::from_ms(3), others: Ns::ZERO }],
    }];
    explanation.trace.stacks = Some(Arc::new(stacks));
    explanation
}

/// The critical section of an irqsoff trace, with as many functions as are kept.
pub(crate) fn section() -> Explanation {
    let fix = vec!["ask who maintains ata_scsi_queuecmd".to_owned()];
    let part = |function: &str, within, us, calls| FunctionTime {
        function: function.to_owned(),
        within,
        time: Ns::from_us(us),
        calls,
    };
    let mut parts = vec![
        part("ata_build_rw_tf", CpuContext::Thread, 480, 1),
        part("handle_irq_event", CpuContext::Irq, 60, 2),
        part("", CpuContext::Softirq, 30, 0),
    ];
    parts.extend((0..10).map(|i| part(&format!("ata_step_{i}"), CpuContext::Thread, 10 - i, 1)));
    let section = CriticalSection {
        tracer: LatencyTracer::Irqsoff,
        cpu: CPU,
        thread: Some(culprit("bash", 2042, Priority::UNKNOWN)),
        context: CpuContext::Thread,
        delays: true,
        opened_by: Some("ata_scsi_queuecmd".to_owned()),
        closed_by: None,
        start: Ns(4_000),
        latency: Ns(649_000),
        parts,
        rest: Ns(4_000),
        unexplained: Ns(20_000),
        times: FunctionTimes::UntilNext,
        gaps: vec![
            Gap {
                start: Ns(8_000),
                length: Ns(480_000),
                after: "ata_build_rw_tf".to_owned(),
                before: "delay_tsc".to_owned(),
            },
            Gap { start: Ns(500_000), length: Ns(30_000), after: String::new(), before: String::new() },
        ],
        stack: ["_raw_spin_unlock_irqrestore", "ata_scsi_queuecmd", "scsi_dispatch_cmd"]
            .map(String::from)
            .to_vec(),
        confidence: Confidence::Medium,
        why: "interrupts were off on CPU 1 for 649.0 us, from ata_scsi_queuecmd on, by bash:2042".to_owned(),
        fix: fix.clone(),
    };
    let fix = fix.iter().map(|line| by_hand(line)).collect();
    Explanation {
        trace: TraceInfo { format: "irqsoff latency trace v1.1.5".to_owned(), ..TraceInfo::default() },
        sections: vec![section],
        profiles: Vec::new(),
        findings: vec![Finding {
            code: "irqs-disabled",
            severity: Severity::Warning,
            title: "interrupts were off on CPU 1 for 649.0 us, from ata_scsi_queuecmd on".to_owned(),
            why: String::new(),
            evidence: vec![],
            fix,
        }],
        ..empty()
    }
}

/// A trace in which no thread was selected.
pub(crate) fn empty() -> Explanation {
    Explanation {
        trace: TraceInfo { format: "ftrace text".to_owned(), ..TraceInfo::default() },
        tasks: vec![],
        unlisted: 0,
        activations: vec![],
        sections: vec![],
        profiles: Vec::new(),
        findings: vec![],
        missing: vec![],
        chains: None,
        candidates: None,
        waits_beside: None,
        scope: None,
        stands_still: false,
        host: None,
        peer: None,
    }
}

/// [`story`], had no thread been real-time, and of a part of its trace.
pub(crate) fn candidates() -> Explanation {
    let mut explanation = story();
    let candidate = |comm: &str, tid, activations, latency: Option<i64>, kind| Candidate {
        tid: Tid(tid),
        comm: Comm::from(comm),
        policy: None,
        priority: Priority::DEFAULT,
        activations,
        latency: latency.map(us),
        wait: latency.map(|latency| us(latency / 2)),
        kind,
        is_explained: false,
    };
    let mut threads: Vec<Candidate> = explanation
        .tasks
        .iter()
        .map(|task| Candidate {
            policy: task.policy,
            latency: task.latency.map(|latency| latency.max),
            is_explained: true,
            ..candidate(task.comm.as_str(), task.tid.0, task.activations, None, CandidateKind::Program)
        })
        .collect();
    threads.push(candidate("a|b <i>", 77, 1, None, CandidateKind::Program));
    threads.push(candidate("kworker/1:2", 88, 12_345, Some(17), CandidateKind::Kernel));
    explanation.candidates = Some(Candidates {
        shows_policies: true,
        shows_wakeups: true,
        kernel_realtime: true,
        idle_realtime: vec![],
        threads,
        more: 3,
    });
    explanation.scope = Some(AppliedScope {
        from: Some(us(1_000_000)),
        to: None,
        cpus: Some("1-2".parse().expect("a list")),
        outside: None,
    });
    explanation
}

/// [`story`] with names and texts that try to break out of their place.
pub(crate) fn hostile() -> Explanation {
    let name = Comm::from("\x1b]0;<script>&\"'");
    let text = "<script>alert(1)</script>\x1b[2J\u{202e}\"'&";
    let mut story = story();
    story.sections = section().sections;
    for section in &mut story.sections {
        section.why = text.to_owned();
        section.opened_by = Some(text.to_owned());
        section.thread = Some(culprit(name.as_str(), 1, Priority(0)));
        section.parts.iter_mut().for_each(|part| part.function = text.to_owned());
        section.gaps.iter_mut().for_each(|gap| gap.after = text.to_owned());
        section.stack = vec![text.to_owned()];
    }
    // Names of functions and files are what a program's symbols have.
    let location = SourceLocation {
        function: Some(text.to_owned()),
        file: Some(text.to_owned()),
        line: Some(1),
        module: Some(text.to_owned()),
        offset: Some(1),
    };
    let evidence =
        Evidence { location: Some(location.clone()), ..Evidence::general(format!("{text} {location}")) };
    let notes = vec![format!("{text} has no symbols")];
    story.trace.stacks = Some(Arc::new(Stacks { lost: 1, notes, ..Stacks::default() }));
    story.trace.format = text.to_owned();
    story.trace.clock = Some(text.to_owned());
    story.trace.kernel_release = Some(text.to_owned());
    story.trace.machine = Some(text.to_owned());
    story.trace.damage = vec![Damage::whole(text)];
    for task in &mut story.tasks {
        task.comm = name;
    }
    for activation in &mut story.activations {
        activation.comm = name;
        activation.trigger = Trigger::Irq { irq: 7, name: Name::from(text) };
        activation.verdict.why = text.to_owned();
        activation.verdict.fix = vec![by_hand(text)];
        activation.verdict.evidence = vec![evidence.clone()];
        activation.verdict.by = Some(Culprit::Task { tid: Tid(1), comm: name, priority: Priority(0) });
        for segment in &mut activation.ledger {
            segment.by = Some(Culprit::Irq { irq: None, name: Name::from(text) });
        }
        for slice in activation.tracks.iter_mut().flat_map(|track| &mut track.slices) {
            if let OnCpu::Task { comm, .. } = &mut slice.on_cpu {
                *comm = name;
            }
        }
    }
    for finding in &mut story.findings {
        // Beside a title of one long word, a longer code leaves no room in a narrow terminal.
        finding.code = Cause::Irq.code();
        finding.title = text.to_owned();
        finding.why = text.to_owned();
        finding.fix = vec![by_hand(text)];
        finding.evidence = vec![evidence.clone()];
    }
    story
}

fn measured(cpu: u32, latencies: impl Iterator<Item = i64>) -> CpuResult {
    CpuResult {
        cpu: Cpu(cpu),
        tid: Tid(1200 + cpu as i32),
        sched: SchedParams::fifo(80),
        maxima: Maxima::of_blocks(
            Ns::from_secs(1),
            vec![Some(Ns(9_000)), None, Some(Ns(11_000 + i64::from(cpu)))],
        ),
        histogram: latencies.map(Ns).collect(),
        missed: 0,
        minor_faults: Some(0),
        major_faults: Some(0),
        preemptions: Some(0),
        smis: Some(2),
        bound: true,
        counts: whylate_probes::Counts::None,
        unreported_spikes: 0,
        stuck_since: None,
    }
}

fn phase(phase: Phase, later: i64) -> MeasuredPhase {
    MeasuredPhase {
        phase,
        elapsed: Ns::from_secs(10),
        loads: if later > 0 { vec!["io".to_owned()] } else { vec![] },
        histogram: (0..10_000).map(|i| Ns(6_000 + i % 2_000 + later)).collect(),
        over_threshold: Some(0),
        worst_cause: (later > 0).then(|| "higher-priority-task: multipathd (priority 99)".to_owned()),
    }
}

/// Two CPUs for ten seconds: one quiet, one with a daemon; a spike explained, two not.
pub(crate) fn measurement() -> MeasureReport {
    // A triangle around 8 us with a thin tail: what a quiet CPU looks like.
    let body =
        |i: i64| 6_000 + (i * 7_919 % 2_003) + (i * 104_729 % 2_011) + if i % 97 == 0 { i * 3 } else { 0 };
    let spike = behind_daemon(Ns(3_120_456_789));
    let latency = spike.latency().expect("it ran");
    let late = |cpu: u32, due: i64, latency: Ns, kind, answer| ExplainedSpike {
        measured: Spike {
            cpu: Cpu(cpu),
            tid: Tid(1200 + cpu as i32),
            due: Ns(due),
            woken: Ns(due) + latency,
        },
        kind,
        answer,
        saved: None,
    };
    let mut noisy = measured(1, (0..9_998).map(body).chain([latency.0 + 412, 104_300]));
    noisy.missed = 2;
    MeasureReport {
        probe: Probe { threshold: Some(us(100)), ..Probe::default() },
        elapsed: Ns(10_000_412_113),
        cpus: vec![measured(0, (0..10_000).map(body)), noisy],
        over_threshold: Some(2),
        spikes: vec![
            late(1, 3_120_456_789, latency + Ns(412), SpikeKind::OverThreshold, Ok(spike)),
            late(
                1,
                7_001_000_321,
                Ns(104_300),
                SpikeKind::OverThreshold,
                Err(NotExplained::Overwritten { begins: None }),
            ),
            late(0, 9_001_000_321, Ns(38_800), SpikeKind::Worst, Err(NotExplained::NotFound)),
        ],
        not_listed: 0,
        findings: story().findings.split_off(1),
        stacks: None,
        trace: TraceState::Recorded {
            events: 481_220,
            notes: vec![
                "exceptions:page_fault_user is not in this kernel: page faults are not told apart".to_owned(),
            ],
        },
        degraded: vec![],
        machine: vec![("/proc/sys/kernel/osrelease".to_owned(), "6.12.0-rt".to_owned())],
        observer: vec![
            "a measuring thread woke every 1.00 ms on each measured CPU and used 0.4 % of it".to_owned(),
        ],
        groups: vec![
            SpikeGroup {
                cause: Some(Cause::HigherPriorityTask),
                culprit: Some("multipathd (priority 99)".to_owned()),
                count: 43,
                worst: us(331),
                first: Ns(3_120_456_789),
                last: Ns(45_120_456_789),
                rhythm: Some(Rhythm { period: Ns::from_secs(1), strength: 0.99 }),
            },
            SpikeGroup {
                cause: None,
                culprit: None,
                count: 1,
                worst: us(104),
                first: Ns(7_001_000_321),
                last: Ns(7_001_000_321),
                rhythm: None,
            },
        ],
        loads: vec![LoadReport {
            name: "io".to_owned(),
            what: "writes".to_owned(),
            cpus: "0-1".parse().expect("a list"),
            died: Some("it ended after 3.0 s: No space left on device (os error 28)".to_owned()),
        }],
        tail: Some(TailEstimate {
            by_tail: Ok(vec![
                Some(Level { estimate: us(120), upper: Some(us(210)) }),
                Some(Level { estimate: us(300), upper: None }),
            ]),
            by_blocks: Err(FitRefusal::TooFew { what: "samples", have: 20_000, needed: 40_000 }),
            unseen_at_most: 1.5e-4,
            claim: Some(Claimed {
                claim: Claim {
                    bound: us(400),
                    probability: 1e-9,
                    exceeded: 0,
                    surely_exceeded: 0,
                    samples: 20_000,
                    at_most: 1.5e-4,
                    more: Some(2_995_712_272),
                    fitted: Ok(None),
                },
                assumes_no_rarer_cause: false,
                answer: ClaimStatus::NotYet,
                longer: Some(Ns::from_secs(1_497_856)),
            }),
        }),
        observed: Some(Observed {
            elapsed: Ns::from_secs(3),
            samples: 6_000,
            max: Some(us(87)),
            shifts: vec![Shift {
                q: 0.5,
                before: Ns(6_900),
                after: Ns(8_000),
                least: Some(Ns(1_040)),
                most: Some(Ns(1_160)),
            }],
            tails: None,
        }),
        phases: vec![phase(Phase::Idle, 0), phase(Phase::Stress, 1_000)],
        phase_shift: Some(PhaseShift {
            from: Phase::Idle,
            to: Phase::Stress,
            shifts: vec![Shift {
                q: 0.5,
                before: Ns(6_900),
                after: Ns(8_000),
                least: Some(Ns(1_040)),
                most: Some(Ns(1_160)),
            }],
            tails: None,
        }),
        deadline: Some(DeadlineAnswer {
            deadline: us(200),
            class: us(100),
            is_kept: Some(false),
            late: 1,
            samples: 20_000,
            approach: Approach::PreemptRt,
            reasons: vec!["this kernel has PREEMPT_RT".to_owned()],
        }),
        is_complete: true,
    }
}

/// A measurement without rights or tracefs, stuck on its only CPU.
pub(crate) fn poor_measurement() -> MeasureReport {
    let mut cpu = measured(3, std::iter::empty());
    cpu.sched = SchedParams::OTHER;
    cpu.stuck_since = Some(Ns(5_000_000_000));
    MeasureReport {
        probe: Probe::default(),
        elapsed: Ns::from_secs(2),
        cpus: vec![cpu],
        over_threshold: None,
        spikes: vec![ExplainedSpike {
            measured: Spike { cpu: Cpu(3), tid: Tid(1203), due: Ns(5_000_000_000), woken: Ns(7_000_000_000) },
            kind: SpikeKind::Stuck,
            answer: Err(NotExplained::NoTrace),
            saved: None,
        }],
        not_listed: 0,
        findings: vec![],
        stacks: None,
        trace: TraceState::Unavailable(
            "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing".to_owned(),
        ),
        degraded: vec![Degraded {
            lacking: Lacking::Priority,
            effect: "measured as SCHED_OTHER: these numbers are no measure of real-time latency".to_owned(),
            reason: "sched_setattr SCHED_FIFO priority 80: EPERM".to_owned(),
            remedy: "run as root, or set `@realtime - rtprio 80` in limits.conf".to_owned(),
        }],
        machine: vec![],
        observer: vec![],
        groups: vec![],
        loads: vec![],
        tail: None,
        observed: None,
        phases: vec![],
        phase_shift: None,
        deadline: None,
        is_complete: false,
    }
}

/// A fix that no setting makes.
pub(crate) fn by_hand(text: &str) -> AdvisedFix {
    AdvisedFix::by_hand(text, "the program is to be changed")
}
