//! A mean model of a recording: the jobs of each thread are drawn from those that were seen, for a run of any length.
//!
//! ```text
//! Recording ─┬─> arrivals: by a period, at random distances, by its own sleep, by other threads ─┐
//!            └─> bodies: what each job does by itself, which wake-ups begin jobs of others      ─┴─> Recording
//! ```
//!
//! A job keeps together what it had in the recording: its work, its locks and sleeps, the distance to the job before it, the
//! kernel's way to it. What is drawn is which job comes when. A thread of which too few jobs were seen does what it did in the
//! recording, once.

mod arrivals;
mod bodies;

use crate::model::{Amount, Arrival, DrawnJobs, Interrupt, JobOrder, JobTrigger, RecordedJob, Script};
use crate::recording::{DrawnFrom, Recording};
use arrivals::ArrivalKind;
use bodies::{Bodies, WakeUps};
use whylate_base::Ns;

/// The model of a recording, for a run of `duration`; the same `seed` draws the same jobs.
pub fn mean(recording: &Recording, duration: Ns, seed: u64) -> Recording {
    let scripts: Vec<&Script> = recording
        .model
        .tasks
        .iter()
        .map(|task| match &task.arrival {
            Arrival::Recorded(script) => script,
            _ => &EMPTY,
        })
        .collect();
    let kinds: Vec<ArrivalKind> = scripts.iter().map(|script| arrivals::kind(script)).collect();
    let wake_ups = WakeUps::of(&scripts);
    let mut counts = Counts::default();
    let mut model = recording.model.clone();
    for (at, kind) in kinds.iter().enumerate() {
        counts.add(kind, scripts[at]);
        let bodies = Bodies { thread: at, kinds: &kinds, wake_ups: &wake_ups };
        let task = &mut model.tasks[at];
        if *kind != ArrivalKind::AsRecorded {
            (task.scheduling, task.cpus) = bodies::usual_place(task, scripts[at]);
        }
        let seed = seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(at as u64);
        task.arrival = Arrival::Recorded(script(scripts[at], kind, &bodies, seed));
    }
    model.interrupts.iter_mut().for_each(|interrupt| repeat(interrupt, recording.length));
    let mut notes = recording.notes.clone();
    notes.push(counts.sentence());
    notes.push(
        "the jobs of each thread are drawn by themselves: those of two threads that met in the recording, and of which none woke \
         the other, meet by chance"
            .to_owned(),
    );
    Recording {
        model,
        notes,
        drawn: Some(DrawnFrom { length: recording.length, seed }),
        length: duration,
        ..recording.clone()
    }
}

static EMPTY: Script = Script { jobs: Vec::new(), steps: Vec::new(), order: JobOrder::AsRecorded };

fn script(recorded: &Script, kind: &ArrivalKind, bodies: &Bodies<'_>, seed: u64) -> Script {
    let mut script = Script::default();
    let mut all = bodies.all(recorded);
    let mut body = |number: usize| all.get_mut(number).map(std::mem::take).unwrap_or_default();
    if *kind == ArrivalKind::AsRecorded {
        for (number, job) in recorded.jobs.iter().enumerate() {
            let released = job.woken.max(Ns::ZERO);
            let due = job.due.map_or(released, |due| due.min(released)).max(Ns::ZERO);
            let trigger = JobTrigger::At { due, released };
            script.push(RecordedJob { trigger, ..*job }, body(number));
        }
        return script;
    }
    let (first, period) = match kind {
        ArrivalKind::Paced { first, period, .. } => (*first, *period),
        ArrivalKind::Apart { first, .. } => (*first, Ns::ZERO),
        _ => (Ns::ZERO, Ns::ZERO),
    };
    script.order = JobOrder::Drawn(DrawnJobs { seed, first, period });
    for (place, (number, job)) in arrivals::whole(recorded).enumerate() {
        let trigger = kind.trigger(job, place);
        script.push(RecordedJob { trigger, ..*job }, body(number));
    }
    script
}

/// It comes as in the recording, again and again: so it stays where it was beside threads with a period.
fn repeat(interrupt: &mut Interrupt, length: Ns) {
    let Amount::Sequence(gaps) = &mut interrupt.gap else { return };
    let Some((last, others)) = gaps.split_last_mut() else { return };
    let before: Ns = others.iter().copied().sum();
    *last = (length - before).max(Ns(1));
}

/// How many threads have which arrivals.
#[derive(Default)]
struct Counts {
    paced: usize,
    apart: usize,
    slept: usize,
    woken: usize,
    as_recorded: usize,
}

impl Counts {
    fn add(&mut self, kind: &ArrivalKind, script: &Script) {
        let count = match kind {
            ArrivalKind::Paced { .. } => &mut self.paced,
            ArrivalKind::Apart { .. } => &mut self.apart,
            ArrivalKind::Slept { .. } => &mut self.slept,
            ArrivalKind::Woken { .. } => &mut self.woken,
            ArrivalKind::AsRecorded if script.jobs.is_empty() => return,
            ArrivalKind::AsRecorded => &mut self.as_recorded,
        };
        *count += 1;
    }

    fn sentence(&self) -> String {
        let parts = [
            (self.paced, "have a period"),
            (self.apart, "are due at random distances"),
            (self.slept, "sleep for a time after each job"),
            (self.woken, "are woken by other threads"),
            (self.as_recorded, "with few whole jobs do what they did in the recording, once"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        format!("of the threads of the mean model {}", parts.join(", "))
    }
}
