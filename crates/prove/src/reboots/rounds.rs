//! Rounds on the disk.

use crate::round::{Round, RoundState};
use serde::{Deserialize, Serialize};
use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Late, Measured, Run};

/// A round that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRound {
    /// The boot that it was measured in.
    pub boot: String,
    with_change: bool,
    tool: String,
    probe: String,
    interval: Option<i64>,
    elapsed: Option<i64>,
    threads: Vec<KeptThread>,
    spikes: Option<Vec<KeptLate>>,
    others: Vec<KeptThread>,
    throughput: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptThread {
    name: String,
    cpu: Option<u32>,
    missed: Option<u64>,
    /// From, up to and how many.
    buckets: Vec<(i64, i64, u64)>,
    overflow: u64,
    sum: u64,
    min: i64,
    max: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptLate {
    cpu: Option<u32>,
    latency: i64,
    cause: Option<String>,
    culprit: Option<String>,
}

impl KeptRound {
    /// To be written.
    pub(crate) fn of(round: &Round, boot: &str) -> KeptRound {
        let run = &round.run;
        let late = |late: &Late| KeptLate {
            cpu: late.cpu.map(|cpu| cpu.0),
            latency: late.latency.0,
            cause: late.cause.clone(),
            culprit: late.culprit.clone(),
        };
        KeptRound {
            boot: boot.to_owned(),
            with_change: round.state == RoundState::After,
            tool: run.tool.clone(),
            probe: run.probe.clone(),
            interval: run.interval.map(|ns| ns.0),
            elapsed: run.elapsed.map(|ns| ns.0),
            threads: run.threads.iter().map(kept).collect(),
            spikes: run.spikes.as_ref().map(|spikes| spikes.iter().map(late).collect()),
            others: round.others.iter().map(kept).collect(),
            throughput: round.throughput.iter().map(|ns| ns.0).collect(),
        }
    }

    /// As it was measured.
    pub(crate) fn round(&self) -> Round {
        let late = |late: &KeptLate| Late {
            cpu: late.cpu.map(Cpu),
            latency: Ns(late.latency),
            cause: late.cause.clone(),
            culprit: late.culprit.clone(),
        };
        Round {
            state: if self.with_change { RoundState::After } else { RoundState::Before },
            run: Run {
                tool: self.tool.clone(),
                probe: self.probe.clone(),
                interval: self.interval.map(Ns),
                elapsed: self.elapsed.map(Ns),
                threads: self.threads.iter().map(measured).collect(),
                spikes: self.spikes.as_ref().map(|spikes| spikes.iter().map(late).collect()),
                ..Run::default()
            },
            others: self.others.iter().map(measured).collect(),
            throughput: self.throughput.iter().copied().map(Ns).collect(),
        }
    }
}

fn kept(thread: &Measured) -> KeptThread {
    let histogram = &thread.histogram;
    KeptThread {
        name: thread.name.clone(),
        cpu: thread.cpu.map(|cpu| cpu.0),
        missed: thread.missed,
        buckets: histogram.buckets().iter().map(|one| (one.from.0, one.upto.0, one.count)).collect(),
        overflow: histogram.overflow(),
        sum: histogram.sum(),
        min: histogram.min().unwrap_or(Ns::ZERO).0,
        max: histogram.max().unwrap_or(Ns::ZERO).0,
    }
}

fn measured(thread: &KeptThread) -> Measured {
    let buckets =
        thread.buckets.iter().map(|&(from, upto, count)| Bucket { from: Ns(from), upto: Ns(upto), count });
    let exact =
        Exact { overflow: thread.overflow, sum: thread.sum, min: Ns(thread.min), max: Ns(thread.max) };
    Measured {
        cpu: thread.cpu.map(Cpu),
        name: thread.name.clone(),
        histogram: Histogram::new(buckets, exact),
        missed: thread.missed,
        ..Measured::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_the_same_after_the_disk() {
        let thread = |name: &str| Measured {
            name: name.to_owned(),
            cpu: Some(Cpu(1)),
            missed: Some(2),
            histogram: [5, 700, 123_456].map(Ns).into_iter().collect(),
            ..Measured::default()
        };
        let late = Late { cpu: None, latency: Ns(123_456), cause: Some("irq".to_owned()), culprit: None };
        let round = Round {
            state: RoundState::After,
            run: Run {
                threads: vec![thread("ctl")],
                spikes: Some(vec![late]),
                probe: "timer".to_owned(),
                ..Run::default()
            },
            others: vec![thread("other")],
            throughput: vec![Ns(9)],
        };
        let text = serde_json::to_string(&KeptRound::of(&round, "b")).expect("JSON");
        let read: KeptRound = serde_json::from_str(&text).expect("the same version");
        assert_eq!(read.round().state, RoundState::After);
        assert_eq!(read.round().samples().buckets(), round.samples().buckets());
        assert_eq!(
            (read.round().samples().max(), read.round().samples().sum()),
            (round.samples().max(), round.samples().sum())
        );
        assert_eq!(read.round().run.spikes, round.run.spikes);
        assert_eq!((read.round().throughput, read.boot.as_str()), (vec![Ns(9)], "b"));
    }
}
