//! The result of a proof: plain data for the renderers.

use crate::judge::ProveVerdict;
use crate::round::RoundState;
use whylate_base::Ns;
use whylate_stats::Histogram;

/// A proof, whole or cut short.
#[derive(Clone, Debug, PartialEq)]
pub struct ProveReport {
    /// What the change was made of: `fixes of explain.json`, `realtime`.
    pub source: String,
    /// The change.
    pub change: Vec<ProvenChange>,
    /// What was measured, in words.
    pub subject: String,
    /// The command that ran in each round.
    pub command: Option<String>,
    /// A longer response is late, if the user gave a deadline.
    pub deadline: Option<Ns>,
    /// The verdict.
    pub verdict: ProveVerdict,
    /// Why so, in sentences.
    pub why: Vec<String>,
    /// All rounds without the change.
    pub before: StateSummary,
    /// All rounds with it.
    pub after: StateSummary,
    /// Each round, in order.
    pub rounds: Vec<RoundSummary>,
    /// How long a round was measured.
    pub round_length: Ns,
    /// What else changed, worse first. Where nothing could be looked at, the notes have it.
    pub side_effects: Vec<SideEffect>,
    /// What became of the change.
    pub keeping: ChangeOutcome,
    /// What a reader must know, in sentences.
    pub notes: Vec<String>,
    /// How long all of it took.
    pub elapsed: Ns,
}

/// A setting that the change sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenChange {
    /// The setting.
    pub setting: String,
    /// Its value before; `None`: absent.
    pub now: Option<String>,
    /// Its value after; `None`: absent.
    pub then: Option<String>,
    /// Why it is made, where that is known.
    pub why: Option<String>,
}

/// All rounds of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSummary {
    /// How many.
    pub rounds: usize,
    /// The samples of all of them.
    pub histogram: Histogram,
    /// The mean of the worst hundredth of the samples.
    pub worst_hundredth: Option<Ns>,
    /// Samples beyond the deadline; `None` without one.
    pub late: Option<u64>,
}

/// A round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSummary {
    /// Its number, from 1.
    pub number: usize,
    /// The state of the machine.
    pub state: RoundState,
    /// How many samples it has.
    pub samples: u64,
    /// Their median.
    pub median: Option<Ns>,
    /// The mean of their worst hundredth.
    pub worst_hundredth: Option<Ns>,
    /// The largest.
    pub max: Option<Ns>,
}

/// Something else that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideEffect {
    /// What.
    pub kind: SideEffectKind,
    /// Better, worse, or no difference shown.
    pub verdict: ProveVerdict,
    /// In a sentence.
    pub why: String,
}

/// What a side effect is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideEffectKind {
    /// The response of another real-time thread.
    Thread(String),
    /// The run time of the throughput command.
    Throughput,
    /// A cause of late samples that there was none of before.
    Cause(String),
    /// A check that passed before.
    Check(String),
}

impl SideEffectKind {
    /// Its kind and name in documents.
    pub fn names(&self) -> (&'static str, Option<&str>) {
        match self {
            SideEffectKind::Thread(name) => ("thread", Some(name)),
            SideEffectKind::Throughput => ("throughput", None),
            SideEffectKind::Cause(code) => ("cause", Some(code)),
            SideEffectKind::Check(code) => ("check", Some(code)),
        }
    }
}

/// What became of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It was to be rolled back, and is.
    NotAsked,
    /// It stays, as the apply of this number.
    Kept(u64),
    /// It was to be kept, and is rolled back: why.
    RolledBack(String),
}

impl ProveReport {
    /// Whether the change stays.
    pub fn is_kept(&self) -> bool {
        matches!(self.keeping, ChangeOutcome::Kept(_))
    }

    /// The side effects that are worse.
    pub fn worse_side_effects(&self) -> impl Iterator<Item = &SideEffect> {
        self.side_effects.iter().filter(|effect| effect.verdict == ProveVerdict::Worse)
    }
}
