//! Rows of `perf sched timehist`: of each thread the delays from its wake-ups to its switches in, which are samples.
//!
//! A thread that was preempted was not woken: its wait is no delay, though newer perf prints it in that column.

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::source::Source;
use super::unknown::with_unknown;
use crate::pasted;
use crate::text::delay_of_row;
use std::collections::BTreeMap;
use whylate_base::Tid;
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "perf sched timehist", probe: "scheduling delay", unit: Unit::US };

/// The rows in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut threads: BTreeMap<Tid, Counted> = BTreeMap::new();
    let mut is_cut = false;
    for line in text.lines() {
        is_cut |= pasted::leaves_out(line);
        let Some((tid, comm, delay)) = delay_of_row(line) else { continue };
        let thread = threads.entry(tid).or_default();
        if thread.name.is_empty() {
            thread.name = format!("{comm}:{tid}");
        }
        let us = u64::try_from(delay.0 / 1_000).unwrap_or(0);
        match thread.classes.binary_search_by_key(&us, |class| class.0) {
            Ok(at) => thread.classes[at].1 += 1,
            Err(at) => thread.classes.insert(at, (us, 1)),
        }
    }
    if threads.is_empty() {
        return Vec::new();
    }
    vec![run(threads, is_cut)]
}

fn run(threads: BTreeMap<Tid, Counted>, is_cut: bool) -> Result<Run, Broken> {
    SOURCE.at_most(threads.len())?;
    let most = |thread: &Counted| thread.classes.last().map_or(0, |class| class.0);
    let worst = threads.values().max_by_key(|thread| most(thread));
    let worst = worst.map(|worst| format!("the largest delay is that of {}: {} us", worst.name, most(worst)));
    let mut run = SOURCE.run(threads.into_values())?;
    run.notes.extend(worst);
    run.notes.push(
        "a sample is a delay from a thread's wake-up to its switch in; waits of threads that were preempted are not counted".to_owned(),
    );
    run.notes.push(
        "whylate explain reads the same rows, and shows which threads had the CPU meanwhile".to_owned(),
    );
    let cut = is_cut.then(|| "threads of rows that were left out".to_owned());
    Ok(with_unknown(run, cut))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn each_wakeup_is_a_sample_of_its_thread() {
        let text = "\
           time    cpu  task name                       wait time  sch delay   run time
   40504.084981 [0000]  migration/0[18]                     0.000      0.005      0.014
   40504.088597 [0000]  perf-exec[5500]                     0.000      0.037      0.165
   40504.091304 [0000]  sleep[5500]                         0.389      0.038      2.316
   40504.092307 [0000]  rustc[5498/5496]                    2.316      0.000      1.003
   40504.092407 [0000]  rustc[5498/5496]                    2.316      2.315      1.003
   40504.100347 [0000]  <idle>                              8.021      0.051      0.009
   40504.100447 [0000]  sleep[5500]                         0.389      0.038      2.316
";
        let run = read(text).remove(0).unwrap_or_else(|broken| panic!("{}", broken.why));
        let of = |name: &str| {
            let thread = run.threads.iter().find(|thread| thread.name == name).expect("a thread");
            (thread.histogram.count(), thread.histogram.max().map(|max| max.0 / 1_000))
        };
        assert_eq!(run.threads.len(), 2);
        assert_eq!(of("migration/0:18"), (1, Some(5)));
        assert_eq!(of("perf-exec:5500"), (3, Some(38)));
        assert!(run.notes.iter().any(|note| note.contains("perf-exec:5500: 38 us")), "{:?}", run.notes);
        let cut = read(&text.replace("   40504.092407", "...\n   40504.092407"))
            .remove(0)
            .unwrap_or_else(|broken| panic!("{}", broken.why));
        assert!(
            cut.threads
                .iter()
                .any(|thread| thread.name.contains("left out") && thread.histogram.max().is_none())
        );
        assert!(read("40504.084981 [0000]  a[18]  0.000  0.000  0.014\nprose\n").is_empty());
    }
}
