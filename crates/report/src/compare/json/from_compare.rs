//! From a comparison's types to the wire's.

use super::document::{
    Answer, Carried, Cause, Claim, Document, Gate, Larger, MeanShift, Pair, Part, Run, SCHEMA, Seen, Setting,
    Shift, TailVerdict, Tails, Thread, ThreadPart, Verdict,
};
use crate::compare::runs::{Claiming, Compared, Gated};
use crate::json::ns;
use crate::measure::json::from_measure::{distribution, long_run::claim_answer};
use whylate_investigate::compare as found;
use whylate_stats as stats;

impl From<&Compared> for Document {
    fn from(compared: &Compared) -> Document {
        let runs = &compared.comparison.runs;
        let label = |at: usize| runs.get(at).map_or_else(String::new, |run| run.run.label.clone());
        Document {
            schema: SCHEMA.to_owned(),
            runs: runs.iter().map(run).collect(),
            pairs: compared.comparison.pairs.iter().map(|one| pair(one, label)).collect(),
            gates: compared.gates.iter().map(|gated| gate(gated, label(gated.run))).collect(),
            claims: compared.claims.iter().map(|claiming| claim(claiming, runs)).collect(),
        }
    }
}

fn run(run: &found::Prepared) -> Run {
    let (all, run) = (&run.all.histogram, &run.run);
    let thread = |thread: &stats::Measured| Thread {
        name: thread.name.clone(),
        cpu: thread.cpu.map(|cpu| cpu.0),
        samples: thread.histogram.count(),
        latency_ns: distribution(&thread.histogram),
        max_ns: ns(thread.histogram.max()),
    };
    Run {
        label: run.label.clone(),
        tool: run.tool.clone(),
        probe: run.probe.clone(),
        interval_ns: ns(run.interval),
        elapsed_ns: ns(run.elapsed),
        samples: all.count(),
        latency_ns: distribution(all),
        max_ns: ns(all.max()),
        threads: run.threads.iter().map(thread).collect(),
        notes: run.notes.clone(),
    }
}

fn pair(pair: &found::Pair, label: impl Fn(usize) -> String) -> Pair {
    let thread = |(name, own): &(String, found::Difference)| ThreadPart {
        name: name.clone(),
        differs: own.differs(),
        part: part(own),
    };
    let setting = |setting: &found::SettingShift| Setting {
        name: setting.name.clone(),
        before: setting.before.clone(),
        after: setting.after.clone(),
    };
    Pair {
        baseline: Some(label(pair.before)),
        run: label(pair.after),
        verdict: pair.verdict.into(),
        tail: Some(match pair.tail {
            found::TailVerdict::Better => TailVerdict::Better,
            found::TailVerdict::Worse => TailVerdict::Worse,
            found::TailVerdict::Mixed => TailVerdict::Mixed,
            found::TailVerdict::Same => TailVerdict::Same,
            found::TailVerdict::TooFew { .. } => TailVerdict::TooFew,
            found::TailVerdict::CannotTell => TailVerdict::CannotTell,
        }),
        tail_more_samples: match pair.tail {
            found::TailVerdict::TooFew { more } => Some(more),
            _ => None,
        },
        usual: Some(pair.usual.into()),
        why: pair.why.clone(),
        all: part(&pair.all),
        threads: pair.threads.iter().map(thread).collect(),
        causes: pair.causes.iter().map(cause).collect(),
        settings: pair.settings.as_ref().map(|settings| settings.differ.iter().map(setting).collect()),
    }
}

impl From<found::RunVerdict> for Verdict {
    fn from(verdict: found::RunVerdict) -> Verdict {
        match verdict {
            found::RunVerdict::Better => Verdict::Better,
            found::RunVerdict::Worse => Verdict::Worse,
            found::RunVerdict::Mixed => Verdict::Mixed,
            found::RunVerdict::Same => Verdict::Same,
            found::RunVerdict::CannotTell => Verdict::CannotTell,
        }
    }
}

fn part(part: &found::Difference) -> Part {
    let shift = |shift: &stats::compare::Shift| Shift {
        q: shift.q,
        before_ns: shift.before.0,
        after_ns: shift.after.0,
        least_ns: ns(shift.least),
        most_ns: ns(shift.most),
        shown: shift.is_shown(),
    };
    Part {
        samples_before: part.samples.0,
        samples_after: part.samples.1,
        shifts: part.shifts.iter().map(shift).collect(),
        mean: part.mean.map(|mean| MeanShift {
            before_ns: mean.before.0,
            after_ns: mean.after.0,
            least_ns: mean.least.0,
            most_ns: mean.most.0,
            p: mean.p,
        }),
        max_before_ns: ns(part.max.map(|max| max.0)),
        max_after_ns: ns(part.max.map(|max| max.1)),
        tails: part.tails.map(|tails| Tails {
            threshold_ns: tails.threshold.0,
            before: tails.before,
            after: tails.after,
            p: tails.p,
        }),
        larger: part.larger.map(|larger| Larger { share: larger.share, p: larger.p }),
    }
}

fn cause(cause: &found::CauseShift) -> Cause {
    let seen = |seen: found::Seen| Seen { count: seen.count as u64, worst_ns: seen.worst.0 };
    Cause {
        cause: cause.cause.clone(),
        culprit: cause.culprit.clone(),
        before: cause.before.map(seen),
        after: cause.after.map(seen),
        sure: cause.is_sure,
    }
}

fn gate(gated: &Gated, run: String) -> Gate {
    let (answer, value, thread, why) = match &gated.judged.answer {
        found::GateAnswer::Met(value) => (Answer::Met, Some(*value), None, None),
        found::GateAnswer::Missed { thread, value } => {
            (Answer::Missed, Some(*value), Some(thread.clone()), None)
        }
        found::GateAnswer::CannotTell(why) => (Answer::CannotTell, None, None, Some(why.clone())),
    };
    Gate { run, gate: gated.judged.gate.to_string(), answer, value_ns: ns(value), thread, why }
}

fn claim(claiming: &Claiming, runs: &[found::Prepared]) -> Claim {
    let claim = &claiming.claimed.claim;
    let run = runs.get(claiming.run).map(|run| &run.run);
    let rate = run.and_then(stats::Run::rate).filter(|rate| *rate > 0.0);
    Claim {
        run: run.map(|run| run.label.clone()).unwrap_or_default(),
        bound_ns: claim.bound.0,
        probability: claim.probability,
        carried: match claiming.claimed.answer {
            stats::ClaimStatus::Measured => Carried::Measured,
            stats::ClaimStatus::Fitted => Carried::Fitted,
            stats::ClaimStatus::NeedsAssumption
            | stats::ClaimStatus::Contradicted
            | stats::ClaimStatus::NotYet => Carried::No,
        },
        answer: Some(claim_answer(claiming.claimed.answer)),
        assumes_no_rarer_cause: claiming.claimed.assumes_no_rarer_cause,
        unseen_at_most: Some(claim.unseen_at_most()),
        samples: claim.samples,
        exceeded: claim.exceeded,
        at_most: claim.at_most,
        more_samples: claim.more,
        more_seconds: claim.more.zip(rate).map(|(more, rate)| more as f64 / rate),
        fitted_ns: ns(claim.fitted.ok().flatten()),
        refused: claim.fitted.err().map(|refusal| refusal.to_string()),
    }
}
