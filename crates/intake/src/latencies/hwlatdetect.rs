//! The report of `hwlatdetect` of rt-tests as a measurement: its largest gap.

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::source::Source;
use crate::text::Hwlatdetect;
use whylate_base::{Cpu, Ns};
use whylate_events::{Breakdown, PartKind};
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "hwlatdetect", probe: "hwlat", unit: Unit::US };

/// Each report in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let (mut report, mut found) = (Hwlatdetect::default(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        report.takes(number, line.trim(), &mut found);
    }
    found.iter().map(one).collect()
}

fn one(found: &Breakdown) -> Result<Run, Broken> {
    let above = found.part(PartKind::AboveThreshold);
    let us = |time: Ns| u64::try_from(time.0 / 1_000).unwrap_or(0);
    let cpu = Some(found.cpu).filter(|cpu| *cpu != Cpu::UNKNOWN);
    let name = cpu.map_or("all CPUs".to_owned(), |cpu| format!("CPU {}", cpu.0));
    // A report without a gap above the threshold still had gaps.
    let thread = match (found.total, above) {
        (Ns::ZERO, None) => {
            return Err(SOURCE.broken(
                "no gap was above its threshold, and the line `Latency threshold:` is missing: how large gaps were is not known"
                    .to_owned(),
            ));
        }
        // The kernel reports a gap whose whole microseconds are above the threshold (`get_sample` in kernel/trace/trace_hwlat.c).
        (Ns::ZERO, Some(above)) => {
            let width = us(above.time).saturating_add(1);
            Counted { cpu, name, classes: vec![(0, 1)], width, rounding: width, ..Counted::default() }
        }
        (largest, _) => Counted {
            cpu,
            name,
            overflow: 1,
            is_largest_only: true,
            max: Some(us(largest)),
            ..Counted::default()
        },
    };
    let mut run = SOURCE.run([thread])?;
    run.notes.push(match above {
        Some(above) => format!(
            "samples above its threshold of {}: {}; of all samples only the largest is shown",
            above.time,
            above.id.unwrap_or(0)
        ),
        None => "of all samples only the largest is shown".to_owned(),
    });
    run.elapsed = found.time_of(PartKind::Measured);
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::read;
    use whylate_base::{Cpu, Ns};

    #[test]
    fn the_largest_gap_is_the_maximum_and_nothing_else_is_known() {
        let head = "hwlatdetect:  test duration 60 seconds\n        Latency threshold: 10us\n";
        let cases = [
            ("Max Latency: 19us\nSamples exceeding threshold: 61\n", Some((19_000, 19_999)), None),
            (
                "Max Latency: 19us\nts: 1700.5, inner:19, outer:3, cpu:2\n",
                Some((19_000, 19_999)),
                Some(Cpu(2)),
            ),
            ("Max Latency: Below threshold\nSamples exceeding threshold: 0\n", Some((0, 10_999)), None),
            ("Max Latency: Below threshold\n", None, None),
        ];
        for (lines, most, cpu) in cases {
            let mut runs = read(&format!("{head}{lines}"));
            let run = runs.remove(0);
            let Some((least, most)) = most else {
                assert!(run.is_err(), "{lines}");
                continue;
            };
            let run = run.unwrap_or_else(|broken| panic!("{lines}: {}", broken.why));
            let thread = &run.threads[0];
            let bounds = thread.histogram.max_bounds().map(|bounds| (bounds.least.0, bounds.most.0));
            assert_eq!(
                (bounds, thread.cpu, run.elapsed),
                (Some((least, most)), cpu, Some(Ns::from_secs(60)))
            );
            let is_counted = least == 0;
            assert_eq!(
                (thread.histogram.min().is_some(), thread.histogram.mean().is_some()),
                (is_counted, is_counted)
            );
        }
    }
}
