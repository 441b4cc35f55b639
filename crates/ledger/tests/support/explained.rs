//! The explanation of a scene, and what tests check of it.

use super::scene::{Scene, Thread};
use std::collections::BTreeMap;
use whylate_base::{Finding, Ns};
use whylate_ledger::{Activation, Cause, Culprit, Explanation, Options, Select, explain, finding_page};

impl Scene {
    /// Plays the scene and explains the threads of this name.
    pub(crate) fn explain(self, comm: &str) -> Explained {
        self.explain_with(&Options { tasks: vec![Select::Comm(comm.into())], ..Options::default() })
    }

    /// The same, with all activations of the thread, and not the worst alone.
    pub(crate) fn explain_all(self, comm: &str) -> Explained {
        let tasks = vec![Select::Comm(comm.into())];
        self.explain_with(&Options { tasks, worst: usize::MAX, ..Options::default() })
    }

    /// Plays the scene and explains what the options select.
    pub(crate) fn explain_with(self, options: &Options) -> Explained {
        assert!(self.events.is_sorted_by_key(|event| event.ts), "a scene is written in time order");
        Explained::of(explain(self.source(), options))
    }
}

/// An explanation, with questions to ask of it.
pub(crate) struct Explained(pub(crate) Explanation);

impl Explained {
    /// Every code that is reported must have a page.
    pub(crate) fn of(explanation: Explanation) -> Explained {
        for finding in &explanation.findings {
            assert!(finding_page(finding.code).is_some(), "{} has no page", finding.code);
        }
        // Every fix names settings, or the reason why there are none.
        let verdicts = explanation.activations.iter().flat_map(|activation| &activation.verdict.fix);
        for fix in explanation.findings.iter().flat_map(|finding| &finding.fix).chain(verdicts) {
            assert_eq!(fix.action.flaw(), None, "{fix:?}");
        }
        Explained(explanation)
    }

    /// The one activation that there is.
    pub(crate) fn only(&self) -> &Activation {
        match self.0.activations.as_slice() {
            [activation] => activation,
            several => panic!("{} activations: {several:#?}", several.len()),
        }
    }

    /// The activation with the worst response.
    pub(crate) fn worst(&self) -> &Activation {
        self.0.activations.first().expect("an activation")
    }

    /// All activations in the order they were due in.
    pub(crate) fn in_order(&self) -> Vec<&Activation> {
        let mut activations: Vec<&Activation> = self.0.activations.iter().collect();
        activations.sort_by_key(|activation| activation.due);
        activations
    }

    /// The finding of this code.
    pub(crate) fn finding(&self, code: &str) -> Option<&Finding> {
        self.0.findings.iter().find(|finding| finding.code == code)
    }

    /// The codes of all findings.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.0.findings.iter().map(|finding| finding.code).collect()
    }
}

/// Checks that the ledger charges exactly this, in microseconds per cause, and nothing else.
#[track_caller]
pub(crate) fn assert_charges(activation: &Activation, expected: &[(Cause, i64)]) {
    let mut charged: BTreeMap<Cause, Ns> = BTreeMap::new();
    for segment in &activation.ledger {
        *charged.entry(segment.cause).or_default() += segment.length();
    }
    let expected: BTreeMap<Cause, Ns> =
        expected.iter().map(|&(cause, us)| (cause, Ns::from_us(us))).collect();
    assert_eq!(charged, expected, "{:#?}", activation.ledger);
    assert_eq!(charged.values().copied().sum::<Ns>(), activation.response());
}

/// Checks the verdict: the cause, and the thread behind it.
#[track_caller]
pub(crate) fn assert_blames(activation: &Activation, cause: Cause, who: Option<Thread>) {
    let verdict = &activation.verdict;
    let tid = verdict.by.as_ref().map(|by| match by {
        Culprit::Task { tid, .. } => tid.0,
        other => panic!("{other:?} is no thread"),
    });
    assert_eq!((verdict.cause, tid), (cause, who.map(|thread| thread.tid)), "{verdict:#?}");
}

/// How long one thread is charged with a cause.
pub(crate) fn charged_to(activation: &Activation, cause: Cause, who: Thread) -> Ns {
    let theirs = |by: &Option<Culprit>| matches!(by, Some(Culprit::Task { tid, .. }) if tid.0 == who.tid);
    let segments = activation.ledger.iter().filter(|segment| segment.cause == cause && theirs(&segment.by));
    segments.map(|segment| segment.length()).sum()
}
