//! What is measured in a round.

use crate::error::ProveError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whylate_base::{Ns, Tid};
use whylate_investigate::measure::{MeasureOptions, measure};
use whylate_investigate::watch::{WatchEvent, WatchOptions, WatchRule, WatchSignals, watch};
use whylate_ledger::Select;
use whylate_probes::Probe;
use whylate_stats::{Late, Measured, Run};

/// The watch may use this share of a CPU: it is the same in all rounds, and it must not drop events.
const MAX_CPU: f64 = 0.5;
/// So many explained activations of a round are kept.
const MOST_EXPLAINED: usize = 1_000;

/// What the change is to improve.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The latency of a probe.
    Probe(Box<Probe>),
    /// The responses of threads that run anyway.
    Threads {
        /// Which; empty: all real-time threads of programs.
        threads: Vec<Select>,
        /// A longer response is late.
        deadline: Option<Ns>,
    },
}

/// What a round measured.
pub(crate) struct MeasuredRound {
    pub(crate) run: Run,
    pub(crate) others: Vec<Measured>,
    pub(crate) notes: Vec<String>,
}

impl Subject {
    /// True of a thread that is measured.
    pub(crate) fn measures(&self, tid: Tid, name: &str) -> bool {
        match self {
            Subject::Probe(_) => false,
            Subject::Threads { threads, .. } => {
                threads.is_empty() || threads.iter().any(|one| one.is(tid, name))
            }
        }
    }

    /// The deadline, where there is one.
    pub(crate) fn deadline(&self) -> Option<Ns> {
        match self {
            Subject::Probe(_) => None,
            Subject::Threads { deadline, .. } => *deadline,
        }
    }

    /// Measures for a time, other threads as well; ends early where `stop` is set.
    pub(crate) fn measure(
        &self,
        duration: Ns,
        others: &[WatchRule],
        stop: &Arc<AtomicBool>,
    ) -> Result<MeasuredRound, ProveError> {
        match self {
            Subject::Probe(probe) => probe_round(probe, duration, others, stop),
            Subject::Threads { threads, deadline } => {
                let rule = |threads| WatchRule { threads, deadline: *deadline };
                let own: Vec<WatchRule> = match threads.is_empty() {
                    true => vec![rule(None)],
                    false => threads.iter().map(|select| rule(Some(select.clone()))).collect(),
                };
                let rules = own.into_iter().chain(others.iter().cloned()).collect();
                let mut round = watched(rules, duration, stop)?;
                let is_other = |name: &str| {
                    others
                        .iter()
                        .any(|rule| rule.threads.as_ref().is_some_and(|other| other.is(Tid(-1), name)))
                };
                (round.others, round.run.threads) = std::mem::take(&mut round.run.threads)
                    .into_iter()
                    .partition(|thread| is_other(&thread.name));
                Ok(round)
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Probe(probe) => {
                write!(f, "the latency of the probe {} every {}", probe.kind, probe.interval)?;
                probe.cpus.as_ref().map_or(Ok(()), |cpus| write!(f, " on CPUs {cpus}"))
            }
            Subject::Threads { threads, .. } if threads.is_empty() => {
                f.write_str("the responses of all real-time threads of programs")
            }
            Subject::Threads { threads, .. } => {
                let names: Vec<String> = threads.iter().map(name).collect();
                write!(f, "the responses of {}", names.join(", "))
            }
        }
    }
}

fn name(select: &Select) -> String {
    match select {
        Select::Tid(tid) => format!("thread {tid}"),
        Select::Comm(name) | Select::Pattern(name) => name.clone(),
    }
}

fn probe_round(
    probe: &Probe,
    duration: Ns,
    others: &[WatchRule],
    stop: &Arc<AtomicBool>,
) -> Result<MeasuredRound, ProveError> {
    let options =
        MeasureOptions { probe: probe.clone(), duration: Some(duration), ..MeasureOptions::default() };
    std::thread::scope(|scope| {
        let beside = (!others.is_empty()).then(|| scope.spawn(|| watched(others.to_vec(), duration, stop)));
        let report = measure(&options, stop, &mut |_| {})?;
        let beside = beside.and_then(|handle| handle.join().ok());
        let (others, mut notes) = match beside {
            Some(Ok(round)) => (round.run.threads, round.notes),
            // Without tracefs the probe measures all the same.
            Some(Err(error)) => (Vec::new(), vec![format!("other threads were not looked at: {error}")]),
            None => (Vec::new(), Vec::new()),
        };
        notes
            .extend(report.degraded.iter().map(|lacking| format!("{} ({})", lacking.effect, lacking.reason)));
        Ok(MeasuredRound { run: report.run(), others, notes })
    })
}

fn watched(rules: Vec<WatchRule>, duration: Ns, stop: &Arc<AtomicBool>) -> Result<MeasuredRound, ProveError> {
    let options = WatchOptions {
        rules,
        duration: Some(duration),
        command: None,
        command_to_stderr: false,
        keep: None,
        on_late: None,
        max_cpu: MAX_CPU,
        buffer_kib: None,
        calls: false,
        markers: None,
        at: None,
    };
    let signals = WatchSignals { stop: Arc::clone(stop), ..WatchSignals::default() };
    let mut late = Vec::new();
    let report = watch(&options, &signals, &mut || Err(String::new()), &mut |event| {
        if let WatchEvent::Late(one) = event
            && late.len() < MOST_EXPLAINED
        {
            late.push(Late {
                cpu: Some(one.activation.cpu),
                latency: one.activation.response(),
                cause: Some(one.activation.verdict.cause.code().to_owned()),
                culprit: one.culprit.clone(),
            });
        }
    })?;
    let run = Run { spikes: Some(late), ..report.run() };
    let notes =
        report.dropped.iter().map(|group| format!("events of {group} were not recorded: too many")).collect();
    Ok(MeasuredRound { run, others: Vec::new(), notes })
}
