//! Measurements: a rich one, and one without rights or tracefs.

use super::activations::{behind_daemon, us};
use super::story::story;
use whylate_base::{Cpu, Ns, Tid};
use whylate_investigate::measure::{
    Approach, Claimed, DeadlineAnswer, ExplainedSpike, MeasureReport, MeasuredPhase, NotExplained, Observed,
    Phase, PhaseShift, SpikeGroup, SpikeKind, TailEstimate, TraceState,
};
use whylate_ledger::Cause;
use whylate_probes::load::LoadReport;
use whylate_probes::{CpuResult, Degraded, Lacking, Probe, Spike};
use whylate_stats::compare::Shift;
use whylate_stats::{Claim, ClaimStatus, FitRefusal, Level, Maxima, Rhythm};
use whylate_sys::SchedParams;

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
