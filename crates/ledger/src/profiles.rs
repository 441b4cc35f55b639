//! What threads spent their CPU time on, by the samples of their CPU clocks.

use crate::model::{Activation, CpuProfile, GrownLine, SampleCounts};
use crate::places::Samples;
use crate::scope::AppliedScope;
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{SourceLocation, Tid};
use whylate_events::{SampleKind, StackId, StackSample, Stacks};

/// Lines that are named.
const NAMED: usize = 3;
/// A line with fewer samples in the worst activations is not named, whatever there is in the others.
const FEWEST: u64 = 5;

/// The profile of a thread: `worst` are those of its `activations` that the explanation lists.
pub(crate) fn of(
    samples: &Samples<'_>,
    tid: Tid,
    worst: &[&Activation],
    activations: u64,
    scope: Option<&AppliedScope>,
) -> Option<CpuProfile> {
    let mut counts: HashMap<StackId, SampleCounts> = HashMap::new();
    for sample in samples.of(tid).iter().filter(|sample| is_own_work(sample, scope)) {
        let counts = counts.entry(sample.stack).or_default();
        match worst.iter().any(|one| sample.time >= one.due && sample.time <= one.end) {
            true => counts.worst += 1,
            false => counts.others += 1,
        }
    }
    if counts.is_empty() {
        return None;
    }
    let mut stacks: Vec<(StackId, SampleCounts)> = counts.into_iter().collect();
    stacks.sort_unstable_by_key(|&(stack, counts)| (Reverse(counts.worst), Reverse(counts.others), stack));
    let listed = worst.len() as u64;
    let mut profile = CpuProfile {
        tid,
        stacks,
        activations: SampleCounts { worst: listed, others: activations.saturating_sub(listed) },
        period: samples.stacks().period,
        grown: Vec::new(),
    };
    profile.grown = grown(samples, &profile);
    Some(profile)
}

/// A sample of the CPU clock that lies in the part of the trace that is reported.
fn is_own_work(sample: &StackSample, scope: Option<&AppliedScope>) -> bool {
    let is_within = |scope: &AppliedScope| {
        scope.from.is_none_or(|from| sample.time >= from)
            && scope.to.is_none_or(|to| sample.time <= to)
            && scope.cpus.as_ref().is_none_or(|cpus| cpus.contains(sample.cpu))
    };
    sample.kind == SampleKind::CpuClock && scope.is_none_or(is_within)
}

/// The lines by which the worst activations differ: with all that they called, because the line that called a function more
/// often explains more than the function's own lines.
fn grown(samples: &Samples<'_>, profile: &CpuProfile) -> Vec<GrownLine> {
    let mut left: Vec<SampledStack> = profile
        .stacks
        .iter()
        .map(|&(stack, counts)| SampledStack { lines: own_lines(samples.stacks(), stack), counts })
        .collect();
    let mut grown = Vec::new();
    while grown.len() < NAMED
        && let Some(line) = most_grown(&left, profile)
    {
        let has = |stack: &SampledStack| stack.lines.iter().any(|one| one.0 == line.location.to_string());
        left.retain(|stack| !has(stack));
        grown.push(line);
    }
    grown
}

/// A stack of the profile: the program's own lines, innermost first, each as it is shown.
struct SampledStack {
    lines: Vec<(String, SourceLocation)>,
    counts: SampleCounts,
}

/// The program's own lines of a stack, innermost first, each once; its innermost frame where it has none.
fn own_lines(stacks: &Stacks, stack: StackId) -> Vec<(String, SourceLocation)> {
    let mut lines: Vec<(String, SourceLocation)> = Vec::new();
    let own: Vec<_> = stacks.own_frames(stack).collect();
    let own = if own.is_empty() { stacks.own_frame(stack).into_iter().collect() } else { own };
    for frame in own {
        let shown = frame.to_string();
        if !lines.iter().any(|(line, _)| *line == shown) {
            lines.push((shown, frame.source()));
        }
    }
    lines
}

/// The line with the most additional time that the other activations do not have; of several the innermost.
fn most_grown(stacks: &[SampledStack], profile: &CpuProfile) -> Option<GrownLine> {
    let mut lines: HashMap<&str, (&SourceLocation, usize, SampleCounts)> = HashMap::new();
    for stack in stacks {
        for (depth, (shown, location)) in stack.lines.iter().enumerate() {
            let (_, innermost, counts) =
                lines.entry(shown).or_insert((location, depth, SampleCounts::default()));
            *innermost = depth.min(*innermost);
            counts.worst += stack.counts.worst;
            counts.others += stack.counts.others;
        }
    }
    let mut best: Option<(f64, usize, &str, GrownLine)> = None;
    for (shown, (location, depth, counts)) in lines {
        let change = profile.change(counts);
        if counts.worst < FEWEST || change <= 0.0 {
            continue;
        }
        let (worst, others) = profile.mean(counts);
        let score = (worst - others).0 as f64 * change;
        let is_better = best.as_ref().is_none_or(|&(best_score, best_depth, best_shown, _)| {
            let by_score = score.total_cmp(&best_score);
            by_score.then(best_depth.cmp(&depth)).then(best_shown.cmp(shown)).is_gt()
        });
        if is_better {
            best = Some((score, depth, shown, GrownLine { location: location.clone(), worst, others }));
        }
    }
    best.map(|(.., line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Activation;
    use whylate_base::{Comm, Cpu, Ns, Priority};
    use whylate_events::{AddressId, CodeAddress, CodeLocation, CodeModule, ModuleId};

    const THREAD: Tid = Tid(10);

    /// 100 periods of 10 ms. In each, `step` calls `filter`, which calls `spin`: one sample. In the last two, `step` also calls
    /// `tune`, which calls `spin`: 4 samples each. Of another thread, one.
    fn stacks() -> Stacks {
        let location = |function: &str, line| CodeLocation {
            function: Some(function.to_owned()),
            file: Some("/src/control.c".to_owned()),
            line: Some(line),
        };
        let address = |(offset, function): (u64, &str)| CodeAddress {
            module: Some(ModuleId(0)),
            offset,
            locations: vec![location(function, offset as u32)],
        };
        let sample = |ms: i64, tid, kind, stack| StackSample {
            time: Ns::from_ms(ms),
            tid,
            pid: THREAD,
            cpu: Cpu(0),
            kind,
            stack: StackId(stack),
        };
        let clock = SampleKind::CpuClock;
        let mut samples: Vec<StackSample> =
            (0..100).map(|period| sample(period * 10 + 1, THREAD, clock, 0)).collect();
        for tune in 2..6 {
            samples.extend([980, 990].map(|start| sample(start + tune, THREAD, clock, 1)));
        }
        samples.push(sample(985, THREAD, SampleKind::SwitchOut, 2));
        // The tick may find each activation at the same place: it counts for no profile.
        samples.push(sample(985, THREAD, SampleKind::Timer, 2));
        samples.push(sample(985, Tid(99), clock, 2));
        samples.sort_by_key(|sample| sample.time);
        Stacks {
            modules: vec![CodeModule::default()],
            addresses: [(7, "filter"), (20, "tune"), (30, "sleep"), (3, "spin"), (40, "step"), (41, "step")]
                .map(address)
                .to_vec(),
            stacks: [&[3, 0, 4][..], &[3, 1, 5], &[2]]
                .map(|ids| ids.iter().map(|&id| AddressId(id)).collect())
                .to_vec(),
            samples,
            period: Ns::from_ms(1),
            ..Stacks::default()
        }
    }

    fn worst() -> [Activation; 2] {
        [980, 990].map(|due| {
            let (due, end) = (Ns::from_ms(due), Ns::from_ms(due + 7));
            Activation::of(THREAD, Comm::default(), Priority::realtime(50), due, end)
        })
    }

    #[test]
    fn only_the_innermost_line_that_explains_the_worst_is_named() {
        let stacks = stacks();
        let worst = worst();
        let worst: Vec<&Activation> = worst.iter().collect();
        let profile = of(&Samples::new(&stacks), THREAD, &worst, 100, None).expect("a profile");
        assert_eq!(profile.activations, SampleCounts { worst: 2, others: 98 });
        let counts: Vec<(u32, u64, u64)> =
            profile.stacks.iter().map(|(stack, counts)| (stack.0, counts.worst, counts.others)).collect();
        assert_eq!(counts, [(1, 8, 0), (0, 2, 98)], "no switch, and no other thread");
        let grown: Vec<(String, Ns, Ns)> =
            profile.grown.iter().map(|line| (line.location.to_string(), line.worst, line.others)).collect();
        assert_eq!(grown, [("control.c:20 (`tune`)".to_owned(), Ns::from_ms(4), Ns::ZERO)]);
    }

    #[test]
    fn samples_outside_of_the_reported_part_do_not_count() {
        let stacks = stacks();
        let scope = AppliedScope {
            from: Some(Ns::from_ms(985)),
            to: Some(Ns::from_ms(990)),
            cpus: None,
            outside: None,
        };
        let worst = worst();
        let worst: Vec<&Activation> = worst.iter().collect();
        let samples = Samples::new(&stacks);
        let profile = of(&samples, THREAD, &worst, 2, Some(&scope)).expect("a profile");
        assert_eq!(profile.stacks, [(StackId(1), SampleCounts { worst: 1, others: 0 })]);
        assert_eq!(profile.grown, [], "no activation to compare with");
        assert_eq!(of(&samples, Tid(5), &worst, 2, None), None);
    }
}
