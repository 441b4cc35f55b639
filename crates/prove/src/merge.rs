//! The rounds of one state as one run.

use crate::round::{Round, RoundState};
use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_stats::{Histogram, Measured, Run};

/// The rounds of a state, threads of one name put together. The order of samples is lost, so it has no maxima over time.
pub(crate) fn merged(rounds: &[Round], state: RoundState) -> Run {
    let own: Vec<&Round> = rounds.iter().filter(|round| round.state == state).collect();
    let Some(first) = own.first() else { return Run::default() };
    let mut threads: BTreeMap<&str, Measured> = BTreeMap::new();
    for thread in own.iter().flat_map(|round| &round.run.threads) {
        let all = threads.entry(&thread.name).or_insert_with(|| Measured {
            maxima: None,
            histogram: Histogram::default(),
            missed: Some(0),
            ..thread.clone()
        });
        all.histogram.merge(&thread.histogram);
        all.missed = all.missed.zip(thread.missed).map(|(all, more)| all + more);
    }
    let spikes = own.iter().filter_map(|round| round.run.spikes.as_ref()).flatten().cloned().collect();
    Run {
        label: state.name().to_owned(),
        elapsed: own.iter().map(|round| round.run.elapsed).sum::<Option<Ns>>(),
        threads: threads.into_values().collect(),
        spikes: first.run.spikes.as_ref().map(|_| spikes),
        notes: Vec::new(),
        ..first.run.clone()
    }
}

/// The samples of another thread in all rounds of a state.
pub(crate) fn of_other(rounds: &[Round], state: RoundState, name: &str) -> Histogram {
    let mut all = Histogram::default();
    let own = rounds.iter().filter(|round| round.state == state).flat_map(|round| &round.others);
    own.filter(|thread| thread.name == name).for_each(|thread| all.merge(&thread.histogram));
    all
}
