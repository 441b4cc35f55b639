//! Samples one by one, with their times: the files of `sysjitter --raw` (`write_thread_raw` in sysjitter.c), and what
//! `jittersamples` prints of jitterdebugger's.
//!
//! ```text
//! # cpu_mhz: 2400                                         0;1114.936950838;9
//! # threshold: 300ns                                      0;1114.937204763;3
//! # n_interruptions: 2                                    CPU, seconds, microseconds
//! #      Timestamp      delta   <== interruption =>
//! #         (nsec)     (usec)   (cycles)     (nsec)
//!          1000321          0        980        408
//!          2000410       1000       1102        459
//! ```

use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use super::sections;
use super::source::Source;
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// sysjitter writes a file for each core, which has the core in its name alone.
pub(super) fn sysjitter(text: &str) -> Vec<Result<Run, Broken>> {
    let mut has_file = false;
    let parts =
        sections::cut(text, |line| line.starts_with("# cpu_mhz:") && std::mem::replace(&mut has_file, true));
    parts.into_iter().filter_map(gaps).collect()
}

/// The gaps of one core.
fn gaps(text: &str) -> Option<Result<Run, Broken>> {
    let comment =
        |name: &str| text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name)).map(str::trim);
    let promised: u64 = comment("n_interruptions:")?.parse().ok()?;
    let threshold = comment("threshold:")?;
    let source = Source { tool: "sysjitter", probe: "busy", unit: Unit::NS };
    let mut classes: BTreeMap<u64, u64> = BTreeMap::new();
    for line in text.lines() {
        let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        // Sorted by length (--sort), a row lacks the time since the one before.
        if let Some([_, .., gap]) = numbers.as_deref().filter(|row| (3..=4).contains(&row.len())) {
            *classes.entry(*gap).or_default() += 1;
        }
    }
    let rows: u64 = classes.values().sum();
    if promised == 0 || rows != promised {
        return Some(Err(source.broken(match promised {
            0 => format!("there is no sample in it: no gap took as long as {threshold}, its threshold"),
            _ => format!(
                "it has {rows} of its {promised} gaps: lines are missing, and they may be the longest"
            ),
        })));
    }
    let elapsed = text.lines().filter_map(|line| line.strip_prefix("# total_runtime:"));
    let elapsed = elapsed.filter_map(|time| time.trim().strip_suffix(" seconds")?.parse::<f64>().ok()).next();
    let thread =
        Counted { name: "the core".to_owned(), classes: classes.into_iter().collect(), ..Counted::default() };
    let notes = [
        "a sample is a gap; which core it is of, only the name of the file shows".to_owned(),
        format!("gaps shorter than {threshold} are not counted"),
    ];
    Some(source.run([thread]).map(|run| Run {
        elapsed: elapsed.map(|seconds| Ns((seconds.clamp(0.0, 1e9) * 1e9) as i64)),
        notes: run.notes.into_iter().chain(notes).collect(),
        ..run
    }))
}

/// The lines of jittersamples; none where other lines are as many.
pub(super) fn jitterdebugger(text: &str) -> Vec<Result<Run, Broken>> {
    let source = Source { tool: "jitterdebugger", probe: "timer", unit: Unit::US };
    let mut threads: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
    let (mut samples, mut others) = (0_u64, 0_u64);
    for line in text.lines() {
        match sample(line) {
            Some((cpu, latency)) => {
                *threads.entry(cpu).or_default().entry(latency).or_default() += 1;
                samples += 1;
            }
            None => others += 1,
        }
        if threads.len() > MOST_THREADS {
            return vec![Err(source.broken(format!("it has more than {MOST_THREADS} CPUs")))];
        }
    }
    if samples <= others {
        return Vec::new();
    }
    let counted = threads.into_iter().map(|(cpu, classes)| Counted {
        cpu: Some(Cpu(cpu)),
        name: format!("CPU {cpu}"),
        classes: classes.into_iter().collect(),
        ..Counted::default()
    });
    vec![source.run(counted)]
}

/// `0;1114.936950838;9`
fn sample(line: &str) -> Option<(u32, u64)> {
    let (cpu, rest) = line.split_once(';')?;
    let (time, latency) = rest.split_once(';')?;
    let (seconds, fraction) = time.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(seconds) && is_number(fraction)).then_some(())?;
    Some((cpu.parse().ok()?, latency.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{jitterdebugger, sysjitter};
    use whylate_base::{Cpu, Ns};

    const RAW: &str = "# cpu_mhz: 2400\n# threshold: 300ns\n# n_interruptions: 3\n# interruption: 0.010000%\n\
                       # total_interruption: 4321 cycles\n# total_runtime: 24000000 cycles\n\
                       # total_interruption: 0.000001800 seconds\n# total_runtime: 0.010000000 seconds\n#\n\
                       #      Timestamp      delta   <== interruption =>\n#         (nsec)     (usec)   (cycles)     (nsec)\n\
                       \u{20}        1000321          0        980        408\n         2000410       1000       1102        459\n\
                       \u{20}        3000410       1000      23021       9592\n";

    #[test]
    fn every_gap_of_a_core_is_a_sample() {
        let run = sysjitter(RAW).remove(0).unwrap_or_else(|broken| panic!("{}", broken.why));
        let thread = &run.threads[0].histogram;
        assert_eq!((thread.count(), thread.min(), thread.max()), (3, Some(Ns(408)), Some(Ns(9592))));
        assert_eq!(run.elapsed, Some(Ns::from_ms(10)));
        assert_eq!(sysjitter(&format!("{RAW}{RAW}")).len(), 2);
    }

    #[test]
    fn a_file_that_lacks_gaps_is_refused() {
        let cut = RAW.rsplit_once("         3000410").map_or("", |(cut, _)| cut);
        let none = "# cpu_mhz: 2400\n# threshold: 300ns\n# n_interruptions: 0\n";
        for (text, reason) in [(cut, "2 of its 3 gaps"), (none, "no gap took as long as 300ns")] {
            let why = sysjitter(text).remove(0).err().map(|broken| broken.why).unwrap_or_default();
            assert!(why.contains(reason), "{why}");
        }
    }

    #[test]
    fn jittersamples_prints_a_cpu_a_time_and_microseconds() {
        let text = "# jittersamples samples.raw\n0;14.93695083;9\n1;14.93720476;3\n0;14.93745845;13\n";
        let run = jitterdebugger(text).remove(0).unwrap_or_else(|broken| panic!("{}", broken.why));
        let shown: Vec<_> = run.threads.iter().map(|one| (one.cpu, one.histogram.max())).collect();
        assert_eq!(shown, [(Some(Cpu(0)), Some(Ns::from_us(13))), (Some(Cpu(1)), Some(Ns::from_us(3)))]);
        assert!(jitterdebugger("a;b;c\n1;2;3\n").is_empty());
    }
}
