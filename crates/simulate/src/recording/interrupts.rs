//! The interrupts of a recording: each comes when it came, and takes as long.

use super::track::{Interruption, Series};
use crate::model::{Amount, Interrupt, InterruptSource};
use whylate_base::{Comm, Cpu, Ns};

/// After the last one: longer than any recording.
const NEVER: Ns = Ns::from_secs(1_000_000_000);

pub(super) fn of(series: Series, start: Ns) -> Vec<Interrupt> {
    let mut all: Vec<_> = series.into_iter().collect();
    for (_, times) in &mut all {
        times.sort_unstable();
    }
    // In an order that does not depend on a hash.
    all.sort_by(|a, b| (a.1.first(), a.0.1.0).cmp(&(b.1.first(), b.0.1.0)));
    all.into_iter().filter_map(|((what, cpu), times)| one(what, cpu, &times, start)).collect()
}

fn one(what: Interruption, cpu: Cpu, times: &[(Ns, Ns)], start: Ns) -> Option<Interrupt> {
    let (first, _) = times.first()?;
    let mut gaps: Vec<Ns> = times.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.push(NEVER);
    let lengths: Vec<Ns> = times.iter().map(|&(_, length)| length).collect();
    let (kind, name): (InterruptSource, Comm) = match what {
        Interruption::Irq(irq, name) => (InterruptSource::Line(Some(irq)), name.as_str().into()),
        Interruption::Vector(name) => (InterruptSource::Vector, name.as_str().into()),
        Interruption::Timer => (InterruptSource::Vector, "local_timer".into()),
        Interruption::Softirq(_) => (InterruptSource::Softirq, "softirq".into()),
        Interruption::OwnSoftirq(_) => return None,
    };
    let lengths = Amount::Sequence(lengths);
    let (handler, softirq) = match what {
        Interruption::Softirq(vec) => (Amount::Fixed(Ns::ZERO), Some((vec, lengths))),
        _ => (lengths, None),
    };
    let (offset, gap) = ((*first - start).max(Ns::ZERO), Amount::Sequence(gaps));
    Some(Interrupt { kind, name, cpu, offset, gap, handler, softirq, wakes: None })
}
