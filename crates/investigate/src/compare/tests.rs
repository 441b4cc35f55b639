//! Two runs, and their comparison.

use super::*;
use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Late, Maxima, Measured, Run, Tail};

/// A run of 20,000 wake-ups, a millisecond apart, of 20 to 30 us; the second argument changes some.
fn run(seed: i64, mut change: impl FnMut(i64, i64) -> i64) -> Run {
    let mut maxima = Maxima::new(Ns::from_ms(500));
    let samples = (0..20_000i64).map(|at| {
        let scattered = (at * 7_919 + seed * 104_729) % 10_007;
        let latency = Ns(change(at, 20_000 + scattered));
        maxima.record(Ns::from_ms(at), latency);
        latency
    });
    let histogram = samples.collect();
    let name = "CPU 0".to_owned();
    let thread = Measured { cpu: Some(Cpu(0)), name, histogram, maxima: Some(maxima), ..Measured::default() };
    Run { probe: "timer".to_owned(), threads: vec![thread], ..Run::default() }
}

fn spike(latency: i64, culprit: Option<&str>) -> Late {
    Late {
        latency: Ns(latency),
        cause: culprit.map(|_| "higher-priority-task".to_owned()),
        culprit: culprit.map(str::to_owned),
        ..Late::default()
    }
}

fn pair(before: Run, after: Run) -> Pair {
    compare(vec![Prepared::of(before), Prepared::of(after)]).pairs.remove(0)
}

#[test]
fn story_b_the_rogue_is_gone() {
    let rogue = |at: i64, latency: i64| if at % 1_000 == 0 { 331_000 + latency % 100 } else { latency };
    let mut before = run(1, rogue);
    before.spikes =
        Some(vec![spike(331_050, Some("multipathd (RR 99)")), spike(331_010, Some("multipathd (RR 99)"))]);
    before.machine = vec![("a".to_owned(), "1".to_owned()), ("multipathd".to_owned(), "runs".to_owned())];
    let mut after = run(2, |_, latency| latency);
    after.spikes = Some(vec![spike(30_000, Some("kworker/0:1 (other)"))]);
    after.machine = vec![("a".to_owned(), "1".to_owned())];
    let pair = pair(before, after);
    assert_eq!(pair.verdict, RunVerdict::Better, "{:?}", pair.why);
    let gone = "multipathd (RR 99) (higher-priority-task) is gone; it was there 2 times, up to 331.1 us";
    assert!(pair.why.iter().any(|why| why.starts_with(gone)), "{:?}", pair.why);
    assert!(!pair.why.iter().any(|why| why.contains("kworker")), "as late as that is usual: {:?}", pair.why);
    let settings = pair.settings.expect("both are known");
    assert_eq!((settings.differ.len(), settings.compared), (1, 1));
    let gone = &settings.differ[0];
    assert_eq!((gone.name.as_str(), gone.after.as_deref()), ("multipathd", None));
}

#[test]
fn the_same_is_called_the_same() {
    let pair = pair(run(1, |_, latency| latency), run(2, |_, latency| latency));
    assert_eq!((pair.verdict, pair.settings), (RunVerdict::Same, None), "{:?}", pair.why);
}

#[test]
fn slower_is_worse_and_a_trade_is_mixed() {
    let slower = pair(run(1, |_, latency| latency), run(2, |_, latency| latency * 3 / 2));
    assert_eq!(slower.verdict, RunVerdict::Worse);
    // The usual case is better, the tail worse.
    let tail = |at: i64, latency: i64| if at % 500 == 0 { latency * 10 } else { latency / 2 };
    assert_eq!(pair(run(1, |_, latency| latency), run(2, tail)).verdict, RunVerdict::Mixed);
}

/// For real-time work the tail decides: what is usual is better, of the tail nothing is shown, and the largest doubled.
#[test]
fn a_better_median_does_not_hide_a_larger_maximum() {
    let once = |at: i64, latency: i64, largest: i64| if at == 7_777 { largest } else { latency };
    let before = run(1, |at, latency| once(at, latency, 1_900_000));
    // The latest thousandth is as before, the rest is less.
    let after =
        run(2, |at, latency| once(at, if latency > 29_700 { latency } else { latency - 5_000 }, 3_880_000));
    let pair = pair(before, after);
    assert_eq!(
        (pair.tail, pair.usual, pair.verdict),
        (TailVerdict::Same, RunVerdict::Better, RunVerdict::Same)
    );
    assert!(
        pair.is_max_larger && pair.why[0].starts_with("no difference is shown in the tail"),
        "{:?}",
        pair.why
    );
    let largest =
        pair.why.iter().find(|why| why.starts_with("the largest latency went from 1.90 ms to 3.88 ms"));
    assert!(largest.is_some_and(|why| why.contains("more samples of each")), "{:?}", pair.why);
    assert!(pair.why.iter().any(|why| why.starts_with("the median went from")), "{:?}", pair.why);
}

/// A rare cause strikes as often and as late as before; all else is quicker, also the 99th percentile.
#[test]
fn high_quantiles_that_follow_the_bulk_do_not_make_the_tail_better() {
    let with = |scale: i64| {
        move |at: i64, latency: i64| if at % 800 == 0 { 1_500_000 + latency } else { latency * scale }
    };
    let pair = pair(run(1, with(2)), run(2, with(1)));
    assert!(pair.all.shifts.iter().any(|shift| shift.q == 0.99 && shift.is_shown()));
    assert_eq!((pair.tail, pair.usual), (TailVerdict::Same, RunVerdict::Better), "{:?}", pair.why);
    // The other way round the 99th percentile is worse, whatever the latest samples are.
    let worse =
        super::compare(vec![Prepared::of(run(1, with(1))), Prepared::of(run(2, with(2)))]).pairs.remove(0);
    assert_eq!((worse.tail, worse.verdict), (TailVerdict::Worse, RunVerdict::Worse), "{:?}", worse.why);
}

#[test]
fn too_few_samples_for_the_tail_are_counted() {
    let few = |seed, scale| {
        let mut run = run(seed, |_, latency| latency * scale);
        run.threads[0].histogram = (0..150).map(|at| Ns((20_000 + at * 7_919 % 10_007) * scale)).collect();
        run.threads[0].maxima = None;
        run
    };
    let better = pair(few(1, 2), few(2, 1));
    assert_eq!((better.tail, better.usual), (TailVerdict::TooFew { more: 100 }, RunVerdict::Better));
    assert_eq!(better.verdict, RunVerdict::CannotTell, "{:?}", better.why);
    assert_eq!(pair(few(1, 1), few(2, 2)).verdict, RunVerdict::Worse);
}

#[test]
fn where_classes_are_too_wide_more_samples_show_nothing() {
    let wide = |upto: i64, samples: u64| {
        let mut run = run(1, |_, latency| latency);
        let one = Bucket { from: Ns(0), upto: Ns(upto), count: samples };
        run.threads[0].histogram =
            Histogram::new([one], Exact { overflow: 0, sum: 0, min: Ns(0), max: Ns(upto) });
        run.threads[0].maxima = None;
        run
    };
    let of = |samples| pair(wide(65_535, samples), wide(131_071, samples));
    let many = of(10_000);
    assert_eq!(many.tail, TailVerdict::CannotTell, "{:?}", many.why);
    assert!(many.why.iter().any(|why| why.contains("too wide")), "{:?}", many.why);
    assert_eq!(of(100).tail, TailVerdict::TooFew { more: 150 });
}

/// Counts in classes of 1 us up to a limit, as cyclictest -h keeps them.
fn limited(limit: i64, change: impl Fn(i64) -> i64) -> Run {
    let mut run = run(1, |_, latency| latency);
    let all: Vec<i64> = (0..20_000).map(|at| change(at) / 1_000).collect();
    let bucket = |us: i64| Bucket {
        from: Ns(us * 1_000),
        upto: Ns(us * 1_000 + 999),
        count: all.iter().filter(|own| **own == us).count() as u64,
    };
    let beyond = all.iter().filter(|us| **us >= limit).count() as u64;
    let us = |us: Option<&i64>| Ns(us.copied().unwrap_or_default() * 1_000);
    let exact = Exact { overflow: beyond, sum: 0, min: us(all.iter().min()), max: us(all.iter().max()) };
    run.threads[0].histogram = Histogram::new((0..limit).map(bucket), exact).rounded_down_to(Ns(1_000));
    run.threads[0].maxima = None;
    run
}

#[test]
fn what_is_beyond_the_scale_leaves_the_rest_comparable() {
    let slow = |at: i64| if at % 100 == 0 { 300_000 } else { 90_000 + at % 7 * 1_000 };
    let quick = |at: i64| if at % 4_000 == 0 { 150_000 } else { 8_000 + at % 7 * 1_000 };
    // Of both the latest are unknown: what is usual is known.
    let both = pair(limited(100, slow), limited(100, quick));
    assert_eq!((both.tail, both.usual), (TailVerdict::CannotTell, RunVerdict::Better), "{:?}", both.why);
    assert!(both.why[0].contains("200 samples before and 5 now") && both.why[0].contains("off the scale"));
    assert!(
        both.why.iter().any(|why| why.starts_with("the median went from 93.00 us to 11.00 us")),
        "{:?}",
        both.why
    );
    assert_eq!(both.verdict, RunVerdict::CannotTell);
    // The second has none beyond the scale: it is better there, however late the first was.
    let first = pair(limited(100, slow), limited(1_000, quick));
    assert_eq!((first.tail, first.verdict), (TailVerdict::Better, RunVerdict::Better), "{:?}", first.why);
    let second = pair(limited(1_000, quick), limited(100, slow));
    assert_eq!((second.tail, second.verdict), (TailVerdict::Worse, RunVerdict::Worse), "{:?}", second.why);
    // Only minimum, mean and maximum are known.
    let nothing = pair(limited(0, slow), limited(0, quick));
    assert_eq!((nothing.tail, nothing.usual), (TailVerdict::CannotTell, RunVerdict::CannotTell));
    assert!(nothing.why[0].starts_with("only minimum, mean and maximum"), "{:?}", nothing.why);
    assert!(
        nothing.why[1].starts_with("the largest latency went from 300.0 us to 150.0 us"),
        "{:?}",
        nothing.why
    );
}

/// Of both only minimum, mean and maximum are known.
#[test]
fn runs_without_a_common_latency_are_compared_without_histograms() {
    let of = |from: i64, samples: u64| {
        let mut run = run(1, |_, latency| latency);
        let exact = Exact { overflow: samples, sum: 0, min: Ns(from), max: Ns(from + 26_000) };
        run.threads[0].histogram = Histogram::new([], exact);
        run.threads[0].maxima = None;
        run
    };
    let worse = pair(of(9_000, 10_000), of(116_000, 10_000));
    assert_eq!((worse.tail, worse.usual), (TailVerdict::Worse, RunVerdict::Worse), "{:?}", worse.why);
    assert_eq!(worse.verdict, RunVerdict::Worse);
    assert_eq!(
        worse.why[0],
        "every sample is later than each one before: the least is 116.0 us now, the largest was 35.00 us"
    );
    assert!(!worse.why.iter().any(|why| why.contains("histogram")), "{:?}", worse.why);
    let better = pair(of(116_000, 10_000), of(9_000, 10_000));
    assert_eq!((better.tail, better.verdict), (TailVerdict::Better, RunVerdict::Better), "{:?}", better.why);
    // The range of one reaches into that of the other, or nearly.
    for from in [30_000, 35_000, 35_100] {
        let near = pair(of(9_000, 10_000), of(from, 10_000));
        assert_eq!((near.tail, near.verdict), (TailVerdict::CannotTell, RunVerdict::CannotTell));
    }
    // Few samples do not show that none is ever late, but that they are.
    let few = pair(of(116_000, 150), of(9_000, 150));
    assert_eq!((few.usual, few.verdict), (RunVerdict::Better, RunVerdict::CannotTell), "{:?}", few.why);
    assert_eq!(pair(of(9_000, 150), of(116_000, 150)).verdict, RunVerdict::Worse);
}

/// A bound inside a class is neither met nor missed.
#[test]
fn gates_take_both_ends_of_a_class() {
    let run = limited(1_000, |at| if at == 5 { 50_000 } else { 8_000 });
    let answer = |text: &str| Gate::list(text).expect("a gate")[0].judge(&run).answer;
    assert_eq!(answer("p99<9us"), GateAnswer::Met(Ns(8_000)));
    assert_eq!(answer("max<51us"), GateAnswer::Met(Ns(50_000)));
    assert!(matches!(answer("max<50us"), GateAnswer::Missed { value: Ns(50_000), .. }));
    let inside = answer("max<=50us");
    assert!(
        matches!(&inside, GateAnswer::CannotTell(why) if why.contains("between 50.00 us and 51.00 us")),
        "{inside:?}"
    );
    assert!(matches!(answer("p99<8500ns"), GateAnswer::CannotTell(_)));
    // Of a file that may have been cut, the maximum may be in what is missing.
    let mut cut = run.clone();
    let thread = &mut cut.threads[0];
    thread.histogram = std::mem::take(&mut thread.histogram).with_open_end();
    let of_cut = |text: &str| Gate::list(text).expect("a gate")[0].judge(&cut).answer;
    assert!(matches!(of_cut("max<1s"), GateAnswer::CannotTell(why) if why.contains("may be missing")));
    assert!(matches!(of_cut("max<50us"), GateAnswer::Missed { .. }));
}

#[test]
fn what_cannot_be_compared_is_not() {
    let few = Run {
        threads: vec![Measured { histogram: [Ns(5)].into_iter().collect(), ..Measured::default() }],
        ..run(1, |_, l| l)
    };
    assert_eq!(pair(few, run(1, |_, latency| latency)).verdict, RunVerdict::CannotTell);
    let other = Run { probe: "busy".to_owned(), ..run(1, |_, latency| latency) };
    assert_eq!(pair(other, run(1, |_, latency| latency)).verdict, RunVerdict::CannotTell);
    // What another tool does not list is not gone, and what it does not ask for has not changed.
    let mut before = run(1, |_, latency| latency);
    before.spikes = Some(vec![spike(40_000, Some("a"))]);
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    before.machine = vec![setting("kernel", "6.12"), setting("tick", "on")];
    let after = Run {
        tool: "cyclictest".to_owned(),
        machine: vec![setting("kernel", "6.12")],
        ..run(2, |_, latency| latency)
    };
    let other_tool = pair(before, after);
    assert_eq!(other_tool.causes, []);
    assert_eq!(other_tool.settings, Some(Settings { differ: Vec::new(), compared: 1 }));
    // What is as late as the other run's usual ones is no news, though only one of them lists it.
    for (latency, is_news) in [(20_500, false), (40_000, true)] {
        let mut before = run(1, |_, latency| latency);
        before.spikes = Some(vec![spike(latency, Some("a"))]);
        let mut after = run(2, |_, latency| latency);
        after.spikes = Some(Vec::new());
        let shifts = pair(before, after).causes;
        assert_eq!(shifts.iter().map(|shift| shift.is_news).collect::<Vec<_>>(), [is_news], "{latency}");
    }
    // A run that skipped a third of its periods for lateness is not the better one for it.
    let skipped = |missed, scale: i64| {
        let mut run = run(1, |_, latency| latency * scale);
        run.threads[0].missed = Some(missed);
        run
    };
    let samples = run(1, |_, latency| latency).threads[0].histogram.count();
    let better = pair(skipped(0, 2), skipped(samples / 2, 1));
    assert_eq!(better.verdict, RunVerdict::CannotTell, "{:?}", better.why);
    assert!(better.why[0].starts_with("0.0 % of the periods"), "{:?}", better.why);
    assert_eq!(pair(skipped(samples / 2, 2), skipped(0, 1)).verdict, RunVerdict::Better);
    assert_eq!(pair(skipped(0, 2), skipped(0, 1)).verdict, RunVerdict::Better);
    // Where some spikes have no explanation, no cause is surely gone.
    let mut before = run(1, |_, latency| latency);
    before.spikes = Some(vec![spike(40_000, Some("a"))]);
    let mut after = run(2, |_, latency| latency);
    after.spikes = Some(vec![spike(40_000, Some("b")), spike(50_000, None)]);
    let shifts = pair(before, after).causes;
    assert_eq!(
        shifts.iter().map(|shift| (shift.culprit.as_deref(), shift.is_sure)).collect::<Vec<_>>(),
        [(Some("a"), false), (Some("b"), true)]
    );
}

#[test]
fn gates() {
    let run = run(1, |_, latency| latency);
    let judge = |text: &str| -> Vec<GateAnswer> {
        Gate::list(text).expect("gates").iter().map(|gate| gate.judge(&run).answer).collect()
    };
    let answers = judge("p50<26us,max<=30.007us,max<30us,p99.99<40us,p99.9999<40us,min<20.5us");
    assert!(matches!(answers[0], GateAnswer::Met(_)), "{answers:?}");
    assert!(matches!(answers[1], GateAnswer::Met(_)), "{answers:?}");
    assert!(matches!(&answers[2], GateAnswer::Missed { thread, .. } if thread == "CPU 0"), "{answers:?}");
    assert!(matches!(answers[3], GateAnswer::Met(_)), "{answers:?}");
    assert!(
        matches!(&answers[4], GateAnswer::CannotTell(why) if why.contains("1000000 samples")),
        "{answers:?}"
    );
    assert!(matches!(answers[5], GateAnswer::Met(_)), "{answers:?}");
    assert_eq!(Gate::list("p99.99<50us").expect("a gate")[0].to_string(), "p99.99 < 50.00 us");
    for bad in ["", "max", "max<100", "p100<5us", "p0<5us", "pineapple<5us", "max<5us,"] {
        assert!(Gate::list(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_prepared_is_of_all_threads_and_of_each() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut thread = |cpu: u32, base: f64| Measured {
        name: format!("CPU {cpu}"),
        histogram: (0..20_000).map(|_| Ns((base - 900.0 * (1.0 - random.f64()).ln()) as i64)).collect(),
        ..Measured::default()
    };
    let run = Run { threads: vec![thread(0, 2_000.0), thread(1, 2_000.0)], ..Run::default() };
    let prepared = Prepared::of(run.clone());
    assert_eq!(prepared.all.histogram.count(), 40_000);
    let tail = prepared.together().tail().expect("exponential");
    assert_eq!(Ok(tail), Tail::fit(&run.all(), None).as_ref());
    let samples: Vec<Option<u64>> =
        prepared.threads().map(|thread| thread.tail().ok().map(|tail| tail.samples)).collect();
    assert_eq!(samples, [Some(20_000), Some(20_000)], "of each alone");
    assert_eq!(prepared, Prepared::of(run), "asked for its fits or not");
}

#[test]
fn a_gate_may_be_of_some_cpus() {
    let mut run = run(1, |_, latency| latency);
    let mut isolated = run.threads[0].clone();
    (isolated.cpu, isolated.name) = (Some(Cpu(3)), "CPU 3".to_owned());
    isolated.histogram = [Ns(5_000); 10].into_iter().collect();
    run.threads.push(isolated);
    let answers = |text: &str| -> Vec<GateAnswer> {
        Gate::list(text).expect("gates").iter().map(|gate| gate.judge(&run).answer).collect()
    };
    assert!(matches!(answers("max<10us")[..], [GateAnswer::Missed { .. }]));
    let each = answers("max<10us@2-3,9,max<40us@0,max<10us@0,3");
    assert!(
        matches!(&each[..], [GateAnswer::Met(_), GateAnswer::Met(_), GateAnswer::Missed { thread, .. }] if thread == "CPU 0"),
        "{each:?}"
    );
    assert!(
        matches!(&answers("max<10us@7")[..], [GateAnswer::CannotTell(why)] if why == "it was measured on CPUs 0,3")
    );
    run.threads[0].cpu = None;
    let unknown = Gate::list("max<10us@3").expect("a gate")[0].judge(&run).answer;
    assert!(matches!(unknown, GateAnswer::CannotTell(_)), "{unknown:?}");
    assert_eq!(Gate::list("max<=10us@3,4").expect("a gate")[0].to_string(), "max <= 10.00 us on CPUs 3-4");
    for bad in ["max<10us@", "max<10us@x", "max<10us,3", "@3", "max@3<10us"] {
        assert!(Gate::list(bad).is_err(), "{bad}");
    }
}
