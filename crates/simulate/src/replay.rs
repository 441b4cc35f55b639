//! A recording replayed: as it was, to see how far the model can be relied on, and with changes.

use crate::change::{self, ChangeError, WrittenChange};
use crate::engine::{Simulation, Tally};
use crate::mean_error;
use crate::model::{Arrival, Model};
use crate::recording::Recording;
use crate::replay_report::{MeanReplay, ReplayError, ReplayReport, ReplayedThread, ResponseSummary};
use crate::report::{RunOptions, SimulationReport, simulate_some};
use whylate_base::Ns;

/// So many threads are shown that are neither chosen nor changed, those that change the most first.
const OTHERS: usize = 10;
/// A change of a thread's worst response by less is not notable.
const NOTABLE: Ns = Ns::from_us(10);

/// What is asked of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// The threads to show, by names, ids or patterns; empty for the real-time threads.
    pub tasks: Vec<String>,
    /// A longer response of a chosen thread is late.
    pub deadline: Option<Ns>,
    /// The changes, in their order.
    pub changes: Vec<WrittenChange>,
    /// How many activations of each thread are explained.
    pub worst: usize,
}

/// One run of a model: what was counted, and the responses of recorded jobs.
struct Run {
    tallies: Vec<Tally>,
    responses: Vec<Vec<(usize, Ns)>>,
}

impl Run {
    fn of(model: &Model, length: Ns, seed: u64) -> Run {
        let mut simulation = Simulation::new(model, length, seed, false);
        while simulation.advance() {}
        Run::taken(&simulation)
    }

    fn taken(simulation: &Simulation<'_>) -> Run {
        Run {
            tallies: simulation.tallies().cloned().collect(),
            responses: simulation.responses().map(<[_]>::to_vec).collect(),
        }
    }

    fn summary(&self, thread: usize) -> Option<ResponseSummary> {
        ResponseSummary::of(self.responses[thread].iter().map(|&(_, response)| response))
    }
}

/// The responses of a thread's jobs in the recording, `None` for those that were not seen whole.
fn recorded(model: &Model, thread: usize) -> Vec<Option<Ns>> {
    match &model.tasks[thread].arrival {
        Arrival::Recorded(script) => script.jobs.iter().map(|job| job.response).collect(),
        _ => Vec::new(),
    }
}

/// Replays a recording without changes and with them.
///
/// # Errors
/// [`ChangeError`]: a change names no thread of the recording, or cannot be made.
pub fn replay(recording: &Recording, asked: &ReplayOptions) -> Result<SimulationReport, ChangeError> {
    let (mut model, changed) = change::apply(recording, &asked.changes)?;
    let chosen = chosen(recording, asked, &changed)?;
    let compared = asked_for(recording, &asked.tasks)?;
    for &thread in &compared {
        model.tasks[thread].deadline = asked.deadline;
    }
    // What is compared with the recording is as long as that.
    let seen = recording.drawn.map_or(recording.length, |drawn| drawn.length);
    let mut changes: Vec<String> = asked.changes.iter().map(|change| change.text.clone()).collect();
    if recording.length != seen {
        changes.insert(0, format!("--duration {}", recording.length));
    }
    let before = Run::of(&recording.model, seen, recording.seed());
    let quick = (!changes.is_empty()).then(|| Run::of(&model, recording.length, recording.seed()));
    let after = quick.as_ref().unwrap_or(&before);
    let (shown, unlisted) = shown(recording, &chosen, &before, after);
    let options = RunOptions { duration: recording.length, seed: recording.seed(), worst: asked.worst };
    let mut report = simulate_some(&model, options, &shown);
    let one = |&thread: &usize| {
        let source = &recording.threads[thread];
        let responses = recorded(&recording.model, thread);
        ReplayedThread {
            name: recording.model.tasks[thread].name.clone(),
            tid: source.tid,
            chosen: chosen.contains(&thread),
            recorded: ResponseSummary::of(responses.iter().copied().flatten()),
            replayed: before.summary(thread),
            predicted: quick.as_ref().and_then(|run| run.summary(thread)),
            ran: [source.ran, before.tallies[thread].ran, after.tallies[thread].ran],
            longest_wait: [before.tallies[thread].longest_wait, after.tallies[thread].longest_wait],
            waited: [before.tallies[thread].waited, after.tallies[thread].waited],
            error: recording.drawn.is_none().then(|| error(&[thread], recording, &before)).flatten(),
            cut_off: source.cut_off,
        }
    };
    let threads: Vec<ReplayedThread> = shown.iter().map(one).collect();
    report.assumptions.splice(0..0, recording.notes.iter().cloned());
    report.assumptions.push(match recording.drawn {
        None => "an interrupt comes when it came in the recording, whatever is changed; so does what a device or another \
                 machine lets begin"
            .to_owned(),
        Some(_) => {
            "interrupts come when they came in the recording, and again after its end, whatever is changed".to_owned()
        }
    });
    report.replay = Some(ReplayReport {
        length: seen,
        changes,
        losses: recording.losses,
        cpu_time: Ns(seen.0.saturating_mul(i64::from(recording.model.machine.cpus))),
        error: recording.drawn.is_none().then(|| error(&compared, recording, &before)).flatten(),
        mean: recording.drawn.map(|drawn| MeanReplay {
            seed: drawn.seed,
            run: recording.length,
            error: mean_error::of(&compared, recording, seen, &before.responses),
        }),
        threads,
        unlisted,
    });
    Ok(report)
}

/// The threads that were asked for, else the real-time threads that are not the kernel's.
pub(crate) fn asked_for(recording: &Recording, tasks: &[String]) -> Result<Vec<usize>, ChangeError> {
    if tasks.is_empty() {
        return Ok((0..recording.threads.len())
            .filter(|&thread| recording.is_realtime_program(thread))
            .collect());
    }
    let mut all = Vec::new();
    for target in tasks {
        let found = change::matches(recording, target);
        if found.is_empty() {
            let wrong = change::unknown(recording, target);
            return Err(ChangeError { change: format!("--task {target}"), wrong });
        }
        all.extend(found);
    }
    Ok(all)
}

/// The threads that were asked for, and those that are changed.
fn chosen(
    recording: &Recording,
    asked: &ReplayOptions,
    changed: &[usize],
) -> Result<Vec<usize>, ChangeError> {
    let mut all = asked_for(recording, &asked.tasks)?;
    all.extend(changed);
    all.retain(|&thread| recording.threads[thread].ran > Ns::ZERO);
    let mut seen = Vec::new();
    all.retain(|thread| {
        !seen.contains(thread) && {
            seen.push(*thread);
            true
        }
    });
    Ok(all)
}

/// Chosen threads, and those that the changes affect the most; and how many others there are.
fn shown(recording: &Recording, chosen: &[usize], before: &Run, after: &Run) -> (Vec<usize>, usize) {
    let effect = |thread: usize| {
        let worst =
            |run: &Run| run.tallies[thread].longest_wait.max(run.tallies[thread].worst().unwrap_or(Ns::ZERO));
        Ns((worst(after) - worst(before)).0.abs())
    };
    let active = |thread: usize| recording.threads[thread].ran > Ns::ZERO;
    let mut others: Vec<(Ns, usize)> = (0..recording.threads.len())
        .filter(|thread| !chosen.contains(thread) && active(*thread))
        .map(|thread| (effect(thread), thread))
        .collect();
    let count = others.len();
    others.retain(|(effect, _)| *effect >= NOTABLE);
    others.sort_by_key(|&(effect, thread)| (std::cmp::Reverse(effect), thread));
    others.truncate(OTHERS);
    let unlisted = count - others.len();
    (chosen.iter().copied().chain(others.into_iter().map(|(_, thread)| thread)).collect(), unlisted)
}

/// How far the replay of some threads is from the recording.
fn error(threads: &[usize], recording: &Recording, run: &Run) -> Option<ReplayError> {
    let mut differences: Vec<Ns> = Vec::new();
    let (mut worst_share, mut whole) = (0.0f64, 0u64);
    for &thread in threads {
        let recorded = recorded(&recording.model, thread);
        whole += recorded.iter().flatten().count() as u64;
        let (mut seen, mut replayed) = (Ns::ZERO, Ns::ZERO);
        for &(job, response) in &run.responses[thread] {
            let Some(before) = recorded.get(job).copied().flatten() else { continue };
            differences.push(Ns((response - before).0.abs()));
            (seen, replayed) = (seen.max(before), replayed.max(response));
        }
        if seen > Ns::ZERO {
            let share = (replayed - seen).0 as f64 / seen.0 as f64;
            if share.abs() > worst_share.abs() {
                worst_share = share;
            }
        }
    }
    differences.sort_unstable();
    let at = |percent: usize| differences.get(differences.len() * percent / 100).copied();
    Some(ReplayError {
        jobs: differences.len() as u64,
        median: at(50)?,
        p90: at(90)?,
        most: differences.last().copied()?,
        worst_share,
        not_reached: whole.saturating_sub(differences.len() as u64),
    })
}
