//! A proof as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_prove::{self as prove, ChangeOutcome, ProveReport, ProveVerdict};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.prove/1";

/// A proof as a document of schema [`SCHEMA`].
pub fn render(report: &ProveReport) -> Value {
    crate::json::value(&Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// Whether a change makes threads less late, measured before and after in alternation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.prove/1")]
pub struct Document {
    /// Always `whylate.prove/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What the change was made of, such as `fixes of explain.json` or `realtime`.
    pub source: String,
    /// The settings that the change sets.
    pub change: Vec<Change>,
    /// What was measured, in words.
    pub subject: String,
    /// The command that ran in each round; null: none.
    pub command: Option<String>,
    /// A longer response is late; null: no deadline was given.
    pub deadline_ns: Option<i64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why so, in sentences.
    pub why: Vec<String>,
    /// All rounds without the change.
    pub before: State,
    /// All rounds with it.
    pub after: State,
    /// Each round, in order.
    pub rounds: Vec<Round>,
    /// How long a round was measured.
    pub round_ns: i64,
    /// What else changed.
    pub side_effects: Vec<SideEffect>,
    /// Whether the change is in effect now.
    pub kept: bool,
    /// The number of the apply that keeps it, which `whylate rollback --to` undoes; null: it is rolled back.
    pub apply: Option<u64>,
    /// Why a change that was to be kept is rolled back; null: it is kept, or was not to be.
    pub not_kept: Option<String>,
    /// What a reader must know, in sentences.
    pub notes: Vec<String>,
    /// How long all of it took.
    pub elapsed_ns: i64,
}

/// Whether a change makes threads less late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They are less late with it.
    Better,
    /// They are later with it.
    Worse,
    /// No difference is shown.
    NoDifference,
    /// There is no verdict; `why` has the reason.
    Refused,
}

/// A setting that the change sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The setting.
    pub setting: String,
    /// Its value before; null: absent.
    pub now: Option<String>,
    /// Its value after; null: absent.
    pub then: Option<String>,
    /// Why it is made; null: not known.
    pub why: Option<String>,
}

/// All rounds of a state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// How many.
    pub rounds: usize,
    /// Samples of all of them.
    pub samples: u64,
    /// Their median; null: no samples.
    pub p50_ns: Option<i64>,
    /// Their 99th percentile; null: too few samples.
    pub p99_ns: Option<i64>,
    /// Their 99.9th percentile; null: too few samples.
    pub p999_ns: Option<i64>,
    /// The mean of the worst hundredth of them; null: no samples.
    pub worst_hundredth_ns: Option<i64>,
    /// The largest; null: no samples.
    pub max_ns: Option<i64>,
    /// Samples beyond the deadline; null: no deadline was given.
    pub late: Option<u64>,
}

/// A round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Its number, from 1.
    pub number: usize,
    /// `before` or `after`.
    pub state: String,
    /// How many samples it has.
    pub samples: u64,
    /// Their median; null: no samples.
    pub p50_ns: Option<i64>,
    /// The mean of the worst hundredth of them; null: no samples.
    pub worst_hundredth_ns: Option<i64>,
    /// The largest; null: no samples.
    pub max_ns: Option<i64>,
}

/// Something else that changed, or that was looked at and did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideEffect {
    /// `thread`: the response of another real-time thread; `throughput`: the run time of the command; `cause`: a new cause of
    /// late samples; `check`: a check that fails only with the change.
    pub kind: String,
    /// The thread's name, or the code; null: throughput.
    pub name: Option<String>,
    /// Whether it is better or worse.
    pub verdict: Verdict,
    /// In a sentence.
    pub why: String,
}

impl From<ProveVerdict> for Verdict {
    fn from(verdict: ProveVerdict) -> Verdict {
        match verdict {
            ProveVerdict::Better => Verdict::Better,
            ProveVerdict::Worse => Verdict::Worse,
            ProveVerdict::NoDifference => Verdict::NoDifference,
            ProveVerdict::Refused => Verdict::Refused,
        }
    }
}

impl From<&ProveReport> for Document {
    fn from(report: &ProveReport) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            source: report.source.clone(),
            change: report.change.iter().map(Change::from).collect(),
            subject: report.subject.clone(),
            command: report.command.clone(),
            deadline_ns: report.deadline.map(|deadline| deadline.0),
            verdict: report.verdict.into(),
            why: report.why.clone(),
            before: State::from(&report.before),
            after: State::from(&report.after),
            rounds: report.rounds.iter().map(Round::from).collect(),
            round_ns: report.round_length.0,
            side_effects: report.side_effects.iter().map(SideEffect::from).collect(),
            kept: report.is_kept(),
            apply: match report.keeping {
                ChangeOutcome::Kept(id) => Some(id),
                ChangeOutcome::NotAsked | ChangeOutcome::RolledBack(_) => None,
            },
            not_kept: match &report.keeping {
                ChangeOutcome::RolledBack(why) => Some(why.clone()),
                ChangeOutcome::NotAsked | ChangeOutcome::Kept(_) => None,
            },
            notes: report.notes.clone(),
            elapsed_ns: report.elapsed.0,
        }
    }
}

impl From<&prove::ProvenChange> for Change {
    fn from(change: &prove::ProvenChange) -> Change {
        let prove::ProvenChange { setting, now, then, why } = change.clone();
        Change { setting, now, then, why }
    }
}

impl From<&prove::StateSummary> for State {
    fn from(state: &prove::StateSummary) -> State {
        let histogram = &state.histogram;
        let tail = |q| histogram.tail(q).map(|latency| latency.0);
        State {
            rounds: state.rounds,
            samples: histogram.count(),
            p50_ns: histogram.median().map(|latency| latency.0),
            p99_ns: tail(0.99),
            p999_ns: tail(0.999),
            worst_hundredth_ns: state.worst_hundredth.map(|latency| latency.0),
            max_ns: histogram.max().map(|latency| latency.0),
            late: state.late,
        }
    }
}

impl From<&prove::RoundSummary> for Round {
    fn from(round: &prove::RoundSummary) -> Round {
        Round {
            number: round.number,
            state: round.state.name().to_owned(),
            samples: round.samples,
            p50_ns: round.median.map(|latency| latency.0),
            worst_hundredth_ns: round.worst_hundredth.map(|latency| latency.0),
            max_ns: round.max.map(|latency| latency.0),
        }
    }
}

impl From<&prove::SideEffect> for SideEffect {
    fn from(effect: &prove::SideEffect) -> SideEffect {
        let (kind, name) = effect.kind.names();
        SideEffect {
            kind: kind.to_owned(),
            name: name.map(str::to_owned),
            verdict: effect.verdict.into(),
            why: effect.why.clone(),
        }
    }
}
