//! Runs of which only least, mean and largest latencies are known: changed, and not changed.

use crate::compare::{Pair, Prepared, RunVerdict, TailVerdict, compare};
use whylate_base::Ns;
use whylate_stats::{Exact, Histogram, Measured, Run};

/// Of each thread samples, minimum, mean and maximum in whole microseconds, as the tools print them.
fn run(threads: &[(u64, i64, i64, i64)]) -> Run {
    let thread = |(at, &(count, least, mean, most)): (usize, &(u64, i64, i64, i64))| {
        let sum = count * mean.unsigned_abs() * 1_000;
        let exact = Exact { overflow: count, sum, min: Ns::from_us(least), max: Ns::from_us(most) };
        let histogram = Histogram::new([], exact).rounded_down_to(Ns::from_us(1));
        Measured { name: format!("CPU {at}"), histogram, ..Measured::default() }
    };
    let threads = threads.iter().enumerate().map(thread).collect();
    Run { tool: "rtla".to_owned(), probe: "timerlat".to_owned(), threads, ..Run::default() }
}

fn pair(before: Run, after: Run) -> Pair {
    compare(vec![Prepared::of(before), Prepared::of(after)]).pairs.remove(0)
}

fn of_maxima(count: u64, maxima: &[i64]) -> Run {
    run(&maxima.iter().map(|most| (count, 2, 9, *most)).collect::<Vec<_>>())
}

#[test]
fn a_mean_that_moved_is_the_usual_latency() {
    let before: Vec<_> = (0..8).map(|at| (3_600_000, 1, 5, 48 + at)).collect();
    let after: Vec<_> = (0..8).map(|at| (590_000, 1, 27 + at % 2, 1_350 + 9 * at)).collect();
    let worse = pair(run(&before), run(&after));
    assert_eq!((worse.usual, worse.verdict), (RunVerdict::Worse, RunVerdict::Worse), "{:?}", worse.why);
    assert!(worse.why.iter().any(|why| why.starts_with("the mean went from 5.00 us to 27.50 us (by 2")));
    assert!(worse.threads.iter().all(|(_, part)| part.differs()), "{:?}", worse.threads);
    // Nearly the same on all CPUs: one stop of the machine would do.
    assert_eq!(worse.tail, TailVerdict::CannotTell, "{:?}", worse.why);
    assert!(
        worse.why[0].starts_with("the largest latency is larger than before in 8 of 8 threads (sign test"),
        "{:?}",
        worse.why
    );
    assert!(worse.why[0].contains("a single event"), "{:?}", worse.why);
    let better = pair(run(&after), run(&before));
    assert_eq!((better.usual, better.verdict), (RunVerdict::Better, RunVerdict::CannotTell));
}

#[test]
fn largest_latencies_of_all_threads_are_the_tail() {
    let (low, high) = ([41, 55, 38, 61, 44, 50, 47, 59], [103, 240, 88, 310, 95, 140, 207, 99]);
    for (threads, test) in [(8, "sign test"), (5, "exact rank test")] {
        let (low, high) = (of_maxima(900_000, &low[..threads]), of_maxima(800_000, &high[..threads]));
        let worse = pair(low.clone(), high.clone());
        assert_eq!((worse.tail, worse.verdict), (TailVerdict::Worse, RunVerdict::Worse), "{:?}", worse.why);
        assert!(worse.why[0].contains(test) && worse.why[0].contains("larger"), "{:?}", worse.why);
        assert!(worse.why[1].starts_with("only minimum, mean and maximum"), "{:?}", worse.why);
        assert_eq!(worse.usual, RunVerdict::CannotTell);
        let better = pair(high, low);
        assert_eq!((better.tail, better.verdict), (TailVerdict::Better, RunVerdict::CannotTell));
        assert!(better.why[0].contains("smaller"), "{:?}", better.why);
    }
}

/// Three threads with late samples in a short run, perhaps of one event: that it fell into the short run is what chance rarely does.
#[test]
fn the_largest_of_all_in_a_short_run_is_the_tail() {
    let (short, long) =
        (of_maxima(90_000, &[9_100, 61, 9_090, 8_700]), of_maxima(5_000_000, &[55, 63, 88, 71]));
    let worse = pair(long.clone(), short.clone());
    assert_eq!((worse.tail, worse.verdict), (TailVerdict::Worse, RunVerdict::Worse), "{:?}", worse.why);
    assert!(worse.why[0].starts_with("the largest latency of all is in the run now, which has only 1.8 %"));
    let better = pair(short.clone(), long.clone());
    assert_eq!((better.tail, better.verdict), (TailVerdict::Better, RunVerdict::CannotTell));
    assert!(
        better.why[0].starts_with("the largest latency of all was in the run before"),
        "{:?}",
        better.why
    );
    // Chance does that every third, and every fifteenth time.
    for count in [2_500_000, 350_000] {
        let fair = pair(of_maxima(count, &[9_100, 61, 9_090, 8_700]), long.clone());
        assert_eq!((fair.tail, fair.verdict), (TailVerdict::CannotTell, RunVerdict::CannotTell));
    }
    assert_eq!(pair(of_maxima(90_000, &[55, 61, 70, 71]), long).tail, TailVerdict::CannotTell);
}

#[test]
fn what_may_be_chance_is_not_told() {
    let low = of_maxima(900_000, &[41, 55, 38, 61, 44, 50, 47, 59]);
    for (other, why) in [
        (of_maxima(900_000, &[103, 240, 88, 310, 95, 140, 47, 59]), "not on all CPUs"),
        (of_maxima(9_000_000, &[103, 240, 88, 310, 95, 140, 207, 99]), "it is ten times as long"),
        (of_maxima(90, &[103, 240, 88, 310, 95, 140, 207, 99]), "too few samples of a thread"),
        (of_maxima(900_000, &[103, 240, 88, 310, 95, 140, 207]), "other threads"),
        (of_maxima(900_000, &[42, 56, 39, 62, 45, 51, 48, 60]), "it is the next class"),
        (of_maxima(900_000, &[904, 711, 950, 620, 880, 799, 1_010, 930]), "a stop of nearly an interval"),
    ] {
        let one = pair(low.clone(), other);
        assert_eq!((one.tail, one.verdict), (TailVerdict::CannotTell, RunVerdict::CannotTell), "{why}");
    }
}

/// The number of samples, least, mean and largest latency of a thread in microseconds.
fn drawn(random: &mut fastrand::Rng, samples: u64, scale: f64, stop: Option<i64>) -> (u64, i64, i64, i64) {
    let own = (0..samples).map(|_| (3.0 + scale * random.f64().max(1e-9).powf(-0.6)) as i64);
    let mut all: Vec<i64> = own.collect();
    // The stop ends the sleep of each thread that is due in it.
    let due = random.i64(0..1_000);
    if let Some(late) = stop.map(|stop| stop - due).filter(|late| *late > all[0]) {
        all[0] = late;
    }
    let sum: i64 = all.iter().sum();
    let extremes = (all.iter().min().copied(), all.iter().max().copied());
    (samples, extremes.0.unwrap_or_default(), sum / samples as i64, extremes.1.unwrap_or_default())
}

/// Two runs of the same distributions, of which some were stopped once on all CPUs at once.
#[test]
fn runs_that_did_not_change_are_rarely_called_worse_or_better() {
    const PAIRS: usize = 2_000;
    let mut random = fastrand::Rng::with_seed(7);
    for (threads, stops) in [(5, false), (8, false), (8, true)] {
        let mut shown = 0;
        for _ in 0..PAIRS {
            let scales: Vec<f64> = (0..threads).map(|_| 1.0 + 9.0 * random.f64()).collect();
            let mut one = || {
                let stop = (stops && random.bool()).then(|| random.i64(50..5_000));
                run(&scales.iter().map(|scale| drawn(&mut random, 120, *scale, stop)).collect::<Vec<_>>())
            };
            let pair = pair(one(), one());
            let is_shown = pair.tail != TailVerdict::CannotTell || pair.usual != RunVerdict::CannotTell;
            shown += usize::from(is_shown);
        }
        // 100 of 2,000 are the level.
        assert!(shown <= 100, "{shown} of {PAIRS} with {threads} threads, stops: {stops}");
    }
}

#[test]
fn what_is_not_known_of_which_run_is_stated_and_no_number_follows_from_it() {
    let bare = |threads: usize, mean: bool, least: bool| {
        let mut run = run(&[(40_000, 3, 8, 55), (40_000, 4, 9, 71)][..threads]);
        for thread in &mut run.threads {
            let known = std::mem::take(&mut thread.histogram);
            let known = if mean { known } else { known.without_mean() };
            thread.histogram = if least { known } else { known.without_min() };
        }
        run
    };
    for (before, after, words) in [
        ((1, false, true), (2, false, true), "only minimum and maximum are known of both"),
        ((2, true, true), (2, true, true), "only minimum, mean and maximum are known of both"),
        (
            (2, true, true),
            (2, false, false),
            "only minimum, mean and maximum are known of the run before, and only the maximum is of the run now",
        ),
    ] {
        let of = |(threads, mean, least)| bare(threads, mean, least);
        let pair = pair(of(before), of(after));
        assert!(pair.why.iter().any(|why| why.starts_with(words)), "{words}: {:?}", pair.why);
        assert!(!pair.why.iter().any(|why| why.contains("more samples")), "{:?}", pair.why);
        assert_eq!(pair.has_other_threads, before.0 != after.0);
        let has_means = before.1 && after.1;
        assert!(pair.threads.iter().all(|(_, part)| part.is_tested() == has_means), "{words}");
    }
}
