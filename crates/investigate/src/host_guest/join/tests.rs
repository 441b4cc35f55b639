//! The join of made-up recordings whose offset and drift are known.

use super::*;
use proptest::prelude::*;

/// A guest of two CPUs on a host: random work, sleeps and preemptions, with the events that both record.
struct Made {
    gaps: Gaps,
    away: Vec<Vec<Away>>,
    host: (Ns, Ns),
}

impl Made {
    /// `offset` and `drift` lead from the guest's time to the host's.
    fn new(seed: u64, (offset, drift): (f64, f64), length: Ns) -> Made {
        let mut random = fastrand::Rng::with_seed(seed);
        let start = 5_000_000_000_i64;
        let to_guest = |host: i64| {
            let x = (host - start) as f64;
            Ns(host - (offset + drift * x).round() as i64)
        };
        let mut gaps = Gaps::default();
        let mut away = Vec::new();
        for cpu in 0..2 {
            let (mut at, mut aways) = (start, Vec::new());
            while at < start + length.0 {
                // It runs for a while, with an event now and then.
                let until = at + random.i64(20_000..3_000_000);
                let mut event = at + random.i64(1_000..60_000);
                while event < until {
                    gaps.see(Cpu(cpu), to_guest(event));
                    event += random.i64(500..400_000);
                }
                // It is away for a while.
                let back = until + random.i64(30_000..6_000_000);
                aways.push(Away { from: Ns(until + random.i64(0..2_000)), to: Ns(back) });
                at = back;
            }
            away.push(aways);
        }
        Made { gaps, away, host: (Ns(start), Ns(start + length.0)) }
    }

    fn join(&self) -> Result<Join, JoinError> {
        self.join_with(&self.away, self.host)
    }

    fn join_with(&self, away: &[Vec<Away>], host: (Ns, Ns)) -> Result<Join, JoinError> {
        let away: Vec<(Cpu, &[Away])> =
            away.iter().enumerate().map(|(cpu, away)| (Cpu(cpu as u32), away.as_slice())).collect();
        join(&self.gaps, &away, host, false)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever offset and drift are: they are within the error that the join states, all along.
    #[test]
    fn the_true_offset_is_within_the_stated_error(
        seed in any::<u64>(),
        offset in -1e12..1e12,
        drift in -400e-6..400e-6,
    ) {
        let made = Made::new(seed, (offset, drift), Ns::from_secs(2));
        let joined = made.join().expect("a join");
        let summary = joined.summary();
        prop_assert!(summary.error <= MOST_ERROR && summary.agreeing >= FEWEST, "{summary:?}");
        for step in 0..=20 {
            let x = made.host.1.since(made.host.0).0 as f64 * f64::from(step) / 20.0;
            let (found, error) = joined.offset_at(made.host.0 + Ns(x as i64)).expect("covered");
            let wrong = (found.0 as f64 - (offset + drift * x)).abs();
            prop_assert!(wrong <= error.0 as f64 + 1.0, "wrong by {wrong} ns, and the error is {error}");
        }
    }

    /// A recording of another time has no offset at all.
    #[test]
    fn a_recording_of_another_time_is_refused(seed in any::<u64>(), other in any::<u64>()) {
        prop_assume!(seed != other);
        let made = Made::new(seed, (7e9, 0.0), Ns::from_secs(1));
        let stranger = Made::new(other, (7e9, 0.0), Ns::from_secs(1));
        prop_assert_eq!(made.join_with(&stranger.away, stranger.host).err(), Some(JoinError::NoOffset));
    }
}

#[test]
fn the_threads_of_swapped_cpus_are_refused() {
    let made = Made::new(3, (1e9, 20e-6), Ns::from_secs(2));
    let swapped = [made.away[1].clone(), made.away[0].clone()];
    assert_eq!(made.join_with(&swapped, made.host).err(), Some(JoinError::NoOffset));
}

#[test]
fn a_part_of_the_time_is_enough() {
    let made = Made::new(5, (1e9, 20e-6), Ns::from_secs(4));
    let from = made.host.0 + Ns::from_ms(1_500);
    let away: Vec<Vec<Away>> =
        made.away.iter().map(|all| all.iter().filter(|away| away.from >= from).copied().collect()).collect();
    let joined = made.join_with(&away, (from, made.host.1)).expect("a join");
    let (offset, error) = joined.offset_at(made.host.1).expect("covered");
    assert!((offset - Ns(1_000_080_000)).0.abs() <= error.0, "{offset} within {error}");
}

/// With a rhythm and nothing else, each period fits as well as the next.
#[test]
fn a_rhythm_alone_is_ambiguous() {
    let mut gaps = Gaps::default();
    let mut away = Vec::new();
    for period in 0..1_000_i64 {
        let at = Ns::from_ms(period);
        gaps.see(Cpu(0), at);
        gaps.see(Cpu(0), at + Ns::from_us(100));
        let host = at + Ns::from_secs(9);
        away.push(Away { from: host + Ns::from_us(105), to: host + Ns::from_us(995) });
    }
    let host = (Ns::from_secs(9), Ns::from_secs(10));
    let joined = join(&gaps, &[(Cpu(0), &away)], host, false);
    assert_eq!(joined.err(), Some(JoinError::Ambiguous));
}

#[test]
fn few_times_away_are_refused() {
    let made = Made::new(5, (1e9, 0.0), Ns::from_ms(60));
    assert!(matches!(made.join(), Err(JoinError::TooFew { needed: FEWEST, .. })), "{:?}", made.join());
    let none = join(&Gaps::default(), &[], (Ns::ZERO, Ns::ZERO), false);
    assert_eq!(none.err(), Some(JoinError::TooFew { times: 0, needed: FEWEST }));
}

/// Clocks that run apart at a changing rate are joined part by part.
#[test]
fn long_recordings_are_joined_part_by_part() {
    let length = Ns::from_secs(65);
    let made = Made::new(11, (3e9, 30e-6), length);
    let joined = made.join().expect("a join");
    assert_eq!(joined.parts.len(), 2);
    assert_eq!(joined.covers(), made.host);
    for at in [made.host.0, made.host.0 + Ns::from_secs(33), made.host.1] {
        let true_offset = 3e9 + 30e-6 * (at - made.host.0).0 as f64;
        let (offset, error) = joined.offset_at(at).expect("covered");
        assert!((offset.0 as f64 - true_offset).abs() <= error.0 as f64 + 1.0);
        let guest = joined.to_guest(at).expect("covered");
        assert!((joined.to_host(guest).expect("covered") - at).0.abs() <= 2, "there and back");
    }
}
