//! Threads of one program do what it does: five of one name and priority are one culprit, and together they may have taken a time
//! of which none took much.

use crate::causes::Cause;
use crate::model::{Activation, Culprit, Kin, Segment};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::HashMap;
use whylate_base::{Confidence, Ns};

/// One that took less of an activation is not counted among them.
pub(super) const NOTABLE: Ns = Ns::from_us(200);

/// The title of the finding about a culprit of `count` threads, the foremost of which is `by`.
pub(in crate::findings) fn title(by: &str, count: usize, whom: &str, most: Ns, reason: &str) -> String {
    let others = match count {
        0 | 1 => String::new(),
        count => format!(" and {} more of that name", count - 1),
    };
    format!("{by}{others} delayed {whom} by up to {most}: {reason}")
}

/// True where the verdict of an activation has this cause and this culprit.
pub(super) fn is_of_verdict(activation: &Activation, cause: Cause, by: Culprit) -> bool {
    (activation.verdict.cause, activation.verdict.by) == (cause, Some(by))
}

/// What a culprit took of an activation.
pub(super) struct Delay<'a> {
    pub(super) activation: &'a Activation,
    pub(super) charged: Ns,
}

/// A culprit, of one thread or of several.
#[derive(Default)]
pub(super) struct Accused<'a> {
    /// Each of its threads, with the most that it took of an activation.
    pub(super) by: HashMap<Culprit, Ns>,
    pub(super) late: Vec<Delay<'a>>,
}

impl<'a> Accused<'a> {
    /// Takes in that `by` took `charged` of an activation, and what its kin took of that.
    pub(super) fn take_in(&mut self, activation: &'a Activation, cause: Cause, by: Culprit, charged: Ns) {
        self.add(by, charged);
        if self.late.iter().any(|delay| std::ptr::eq(delay.activation, activation)) {
            return;
        }
        let is_kin = |segment: &&Segment| {
            segment.cause == cause && segment.confidence > Confidence::Low && segment.by != Some(by)
        };
        let mut kin: BTreeMap<String, (Culprit, Ns)> = BTreeMap::new();
        for segment in activation.ledger.iter().filter(is_kin) {
            if let Some(other) = segment.by.filter(|other| Kin::of(other) == Kin::of(&by)) {
                kin.entry(other.to_string()).or_insert((other, Ns::ZERO)).1 += segment.length();
            }
        }
        for &(other, charged) in kin.values().filter(|(_, charged)| *charged >= NOTABLE) {
            self.add(other, charged);
        }
        let charged = charged + kin.values().map(|(_, charged)| *charged).sum();
        self.late.push(Delay { activation, charged });
    }

    fn add(&mut self, by: Culprit, charged: Ns) {
        let most = self.by.entry(by).or_default();
        *most = (*most).max(charged);
    }

    /// The one that took most of an activation.
    pub(super) fn foremost(&self) -> Option<Culprit> {
        self.by.iter().max_by_key(|(by, most)| (**most, Reverse(by.to_string()))).map(|(by, _)| *by)
    }

    /// The most that they took of an activation.
    pub(super) fn most(&self) -> Option<Ns> {
        self.late.iter().map(|delay| delay.charged).max()
    }
}
