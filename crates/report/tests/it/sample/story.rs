//! Explanations of threads: a story, the same with call stacks and with candidates, and one of no thread.

use super::activations::{CPU, behind_daemon, by_hand, throttled, us};
use std::sync::Arc;
use whylate_base::{Comm, Evidence, Finding, Ns, Policy, Priority, Severity, Tid};
use whylate_events::{
    AddressId, CodeAddress, CodeLocation, CodeModule, Damage, Kind, ModuleId, StackId, Stacks, TraceInfo,
};
use whylate_ledger::{
    AppliedScope, Candidate, CandidateKind, Candidates, Cause, CpuProfile, Explanation, GrownLine, Missing,
    Place, PlaceRole, SampleCounts, Spread, TaskSummary,
};

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
