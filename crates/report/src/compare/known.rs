//! What one measurement shows by itself, in a sentence, for a reader that cannot explain it.

use crate::words;
use whylate_base::Ns;
use whylate_stats::{Bounds, Measured, Run};

/// Quantiles that are usual latencies, with their names.
const USUAL: [(f64, &str); 2] = [(0.5, "median"), (0.99, "p99")];

/// What is known of a measurement: how many samples, the longest latency and its thread, and the usual one, followed by what
/// a reader must know of these numbers.
pub fn known(run: &Run) -> String {
    let all = run.all();
    let counted =
        (all.count() > run.whole().count() as u64).then(|| format!("{} samples", words::count(all.count())));
    let mut facts: Vec<String> = counted.into_iter().chain(longest(run)).collect();
    let quantile = |(q, name): (f64, &str)| Some(format!("{name} {}", latency(all.tail_bounds(q)?)));
    let quantiles: Vec<String> = USUAL.into_iter().filter_map(quantile).collect();
    match quantiles.is_empty() {
        true => facts.extend(all.mean().map(|mean| format!("mean {mean}"))),
        false => facts.extend(quantiles),
    }
    let sentences = [facts.join(", ")].into_iter().chain(run.notes.iter().map(|note| words::clean(note)));
    sentences.filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The longest latency of all threads and stages, and where there are several, which of them had it.
fn longest(run: &Run) -> Option<String> {
    let most = |thread: &Measured| thread.histogram.max_bounds();
    let with = run.threads.iter().filter_map(|thread| Some((thread, most(thread)?)));
    // Of equal ones it is the whole wake-up, and not a stage of it.
    let (thread, bounds) = with.max_by_key(|(thread, bounds)| (bounds.most, !thread.is_stage))?;
    let of = match run.threads.len() {
        1 => String::new(),
        _ => format!(" ({})", words::clean(&thread.name)),
    };
    // A row that cannot be read is a thread without samples.
    let is_whole = run.threads.iter().all(|thread| thread.histogram.count() > 0);
    let least = if is_whole { "" } else { "at least " };
    let what = match run.probe.as_str() {
        // Time that was taken from a CPU: no thread is late by it.
        "osnoise" => "noise",
        _ if run.measures_time() => "time",
        _ => "latency",
    };
    Some(format!("the longest {what} is {least}{}{of}", latency(bounds)))
}

/// As the tools print it, rounded down to its class; with both ends where the class is a wide one.
fn latency(Bounds { least, most }: Bounds) -> String {
    let width = most.0.saturating_sub(least.0);
    if most == Ns::MAX {
        return format!("at least {least}");
    }
    match width > Ns::from_us(1).0 && width > least.0 / 8 {
        true => format!("{least} to {most}"),
        false => least.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::known;
    use whylate_base::Ns;
    use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

    fn thread(name: &str, buckets: &[(i64, u64)], overflow: u64, max: i64, is_stage: bool) -> Measured {
        let bucket =
            |&(us, count): &(i64, u64)| Bucket { from: Ns::from_us(us), upto: Ns(us * 1_000 + 999), count };
        let samples = overflow + buckets.iter().map(|bucket| bucket.1).sum::<u64>();
        let exact = Exact { overflow, sum: samples * 5_000, min: Ns::from_us(2), max: Ns::from_us(max) };
        let histogram = Histogram::new(buckets.iter().map(bucket), exact).rounded_down_to(Ns::from_us(1));
        Measured { name: name.to_owned(), histogram, is_stage, ..Measured::default() }
    }

    #[test]
    fn samples_the_longest_latency_and_the_usual_one_are_known() {
        let quick = || thread("thread 0", &[(2, 800), (4, 199), (9, 1)], 0, 9, false);
        let only = |name: &str, most, is_stage| thread(name, &[], 2_000, most, is_stage);
        let unknown = || Measured { name: "a row".to_owned(), is_stage: true, ..Measured::default() };
        for (threads, expected) in [
            (vec![quick()], "1,000 samples, the longest latency is 9.00 us, median 2.00 us, p99 4.00 us"),
            (
                vec![only("CPU 0", 7, false), only("CPU 3", 60, false)],
                "4,000 samples, the longest latency is 60.00 us (CPU 3), mean 5.00 us",
            ),
            // Of the stages of one wake-up, the longest of all counts.
            (
                vec![only("CPU 0, thread", 60, false), only("CPU 0, user space", 64, true)],
                "2,000 samples, the longest latency is 64.00 us (CPU 0, user space), mean 5.00 us",
            ),
            (
                vec![only("CPU 0, user space", 60, true), only("CPU 0, thread", 60, false)],
                "2,000 samples, the longest latency is 60.00 us (CPU 0, thread), mean 5.00 us",
            ),
            (
                vec![only("CPU 0", 7, false), unknown()],
                "2,000 samples, the longest latency is at least 7.00 us (CPU 0), mean 5.00 us",
            ),
        ] {
            assert_eq!(known(&Run { threads, ..Run::default() }), expected);
        }
    }

    #[test]
    fn the_largest_alone_is_no_number_of_samples() {
        let mut gap = thread("gaps", &[], 1, 19, false);
        gap.histogram = gap.histogram.without_min().without_mean();
        let notes = vec!["of all samples only the largest is shown".to_owned()];
        let run = Run { threads: vec![gap], notes, ..Run::default() };
        assert_eq!(known(&run), "the longest latency is 19.00 us; of all samples only the largest is shown");
    }

    #[test]
    fn of_a_wide_class_both_ends_are_shown() {
        let wide = Bucket { from: Ns::from_us(64), upto: Ns(127_999), count: 5 };
        let exact = Exact { overflow: 0, sum: 0, min: Ns::from_us(64), max: Ns::from_us(64) };
        let histogram = Histogram::new([wide], exact).rounded_down_to(Ns::from_us(64)).without_mean();
        let run = Run { threads: vec![Measured { histogram, ..Measured::default() }], ..Run::default() };
        assert_eq!(
            known(&run),
            "5 samples, the longest latency is 64.00 us to 128.0 us, median 64.00 us to 128.0 us"
        );
        let run = Run { probe: "on-CPU time".to_owned(), ..run };
        assert_eq!(
            known(&run),
            "5 samples, the longest time is 64.00 us to 128.0 us, median 64.00 us to 128.0 us"
        );
    }
}
