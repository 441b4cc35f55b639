//! Groups, loads, claims and what the observer changed.

use crate::claims;
use crate::json::ns;
use crate::measure::json::document::{Answer, Beyond, Claim, Fit, Group, Level, Load, Observed, Shift};
use whylate_investigate::measure as measured;
use whylate_investigate::measure::{Claimed, RARE, SpikeGroup};
use whylate_probes::load::LoadReport;
use whylate_stats as stats;

pub(super) fn group(group: &SpikeGroup) -> Group {
    Group {
        cause: group.cause.map(|cause| cause.code().to_owned()),
        culprit: group.culprit.clone(),
        count: group.count,
        worst_ns: group.worst.0,
        first_ns: group.first.0,
        last_ns: group.last.0,
        period_ns: group.rhythm.map(|rhythm| rhythm.period.0),
        strength: group.rhythm.map(|rhythm| rhythm.strength),
    }
}

pub(super) fn load(load: &LoadReport) -> Load {
    Load {
        name: load.name.clone(),
        what: load.what.clone(),
        cpus: load.cpus.to_string(),
        died: load.died.clone(),
    }
}

pub(super) fn beyond(beyond: &measured::TailEstimate) -> Beyond {
    Beyond {
        by_tail: fit(&beyond.by_tail),
        by_blocks: fit(&beyond.by_blocks),
        claim: beyond.claim.as_ref().map(claim),
    }
}

fn fit(fit: &Result<Vec<Option<stats::Level>>, stats::FitRefusal>) -> Fit {
    let level = |(probability, level): (f64, &Option<stats::Level>)| Level {
        probability,
        estimate_ns: level.map(|level| level.estimate.0),
        upper_ns: ns(level.and_then(|level| level.upper)),
    };
    Fit {
        levels: fit.iter().flat_map(|levels| RARE.into_iter().zip(levels).map(level)).collect(),
        refused: fit.as_ref().err().map(ToString::to_string),
    }
}

fn claim(claimed: &Claimed) -> Claim {
    let stats::Claim { bound, probability, exceeded, samples, at_most, .. } = claimed.claim;
    Claim {
        bound_ns: bound.0,
        probability,
        answer: claim_answer(claimed.answer),
        assumes_no_rarer_cause: claimed.assumes_no_rarer_cause,
        unseen_at_most: Some(claimed.claim.unseen_at_most()),
        exceeded,
        samples,
        at_most,
        longer_ns: ns(claimed.longer),
        why: claims::sentences(claimed).join("; "),
    }
}

/// On the wire.
pub(crate) fn claim_answer(status: stats::ClaimStatus) -> Answer {
    match status {
        stats::ClaimStatus::Measured => Answer::Measured,
        stats::ClaimStatus::Fitted => Answer::Fitted,
        stats::ClaimStatus::NeedsAssumption => Answer::NeedsAssumption,
        stats::ClaimStatus::Contradicted => Answer::Contradicted,
        stats::ClaimStatus::NotYet => Answer::NotYet,
    }
}

/// A quantile of two measurements.
pub(super) fn shift(shift: &stats::compare::Shift) -> Shift {
    Shift {
        q: shift.q,
        without_ns: shift.before.0,
        with_ns: shift.after.0,
        least_ns: ns(shift.least),
        most_ns: ns(shift.most),
    }
}

pub(super) fn observed(observed: &measured::Observed) -> Observed {
    Observed {
        elapsed_ns: observed.elapsed.0,
        samples: observed.samples,
        max_ns: ns(observed.max),
        shifts: observed.shifts.iter().map(shift).collect(),
        tails_p: observed.tails.map(|tails| tails.p),
        why: observed.sentence(),
    }
}
