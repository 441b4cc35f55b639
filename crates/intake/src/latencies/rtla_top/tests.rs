//! Tables of rtla, whole, repeated and cut.

use super::read;
use whylate_base::Ns;
use whylate_stats::Run;

pub(crate) const TIMERLAT: &str = "                                     Timer Latency\n\
      0 00:00:12   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n\
    CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n\
      1 #12322     |        0         0         1        15 |       10         3         9        31\n\
     23 #12320     |       28         0         1        28 |       41         3        11        41\n";
const OF_ALL: &str = "---------------|----------------------------------------|---------------------------------------\n\
    ALL #24642  e0 |                  0         1        28 |                  3        10        41\n";
pub(crate) const OSNOISE: &str = "                                          Operating System Noise\n\
    duration:   0 00:00:09 | time is in us\n\
    CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI          IRQ      Softirq       Thread\n\
      0 #4           4000000        37712    99.05720       10998          555        7624            0         4011           34           24\n\
      2 #4           4000000          712    99.98220         998           55         624            0         4011           34           24\n";

fn run(text: &str) -> Run {
    let mut runs = read(text);
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0).unwrap_or_else(|broken| panic!("{}: {text}", broken.why))
}

/// Each thread and its maximum in microseconds; a thread of which nothing is known has none.
fn maxima(text: &str) -> Vec<(String, Option<i64>)> {
    let of = |most: Option<Ns>| most.map(|most| most.0 / 1_000);
    run(text).threads.into_iter().map(|thread| (thread.name, of(thread.histogram.max()))).collect()
}

fn named(expected: &[(&str, Option<i64>)]) -> Vec<(String, Option<i64>)> {
    expected.iter().map(|(name, most)| ((*name).to_owned(), *most)).collect()
}

#[test]
fn each_stage_of_each_cpu_has_its_maximum() {
    let rows = named(&[
        ("CPU 1, interrupt", Some(15)),
        ("CPU 1, thread", Some(31)),
        ("CPU 23, interrupt", Some(28)),
        ("CPU 23, thread", Some(41)),
    ]);
    assert_eq!(maxima(TIMERLAT), rows);
    assert_eq!(maxima(&format!("{TIMERLAT}{OF_ALL}")), rows);
    let run = run(TIMERLAT);
    assert_eq!((run.all().count(), run.all().max()), (24_642, Some(Ns::from_us(41))));
    assert_eq!(run.elapsed, Some(Ns::from_secs(12)));
    assert_eq!(run.all().max_bounds().map(|bounds| bounds.most.0), Some(41_999));
}

#[test]
fn a_row_that_is_missing_is_never_fine() {
    let [head, unknown] = [("CPU 23, interrupt", Some(28)), ("CPU 23, thread", Some(41))]
        .map(|(name, most)| (name.to_owned(), most));
    let cut = TIMERLAT.replace("15 |       10         3         9        31", "15 |       10");
    let broken = ("CPU 1, whose row is not whole".to_owned(), None);
    assert_eq!(maxima(&cut), [head.clone(), unknown.clone(), broken]);
    let dots = TIMERLAT.replace("23 #", "...\n23 #");
    assert_eq!(maxima(&dots).last(), Some(&("CPUs of rows that were left out".to_owned(), None)));
    // The line ALL has them, whichever rows are there.
    assert_eq!(maxima(&format!("{dots}{OF_ALL}")).len(), 4);
    let larger = OF_ALL.replace("10        41", "18        97");
    let expected = named(&[("all CPUs, interrupt", Some(28)), ("all CPUs, thread", Some(97))]);
    assert_eq!(maxima(&format!("{dots}{larger}")), expected);
    assert_eq!(run(&format!("{dots}{larger}")).all().mean(), None);
}

#[test]
fn a_later_table_of_the_same_run_takes_the_place_of_an_earlier_one() {
    let later = TIMERLAT.replace("#12322", "#22322").replace("         9        31", "         9        33");
    let both = run(&format!("{TIMERLAT}{later}"));
    assert_eq!((both.all().count(), both.all().max()), (34_642, Some(Ns::from_us(41))));
}

/// Each run's largest latencies in microseconds, and its duration in seconds.
fn each_run(text: &str) -> Vec<(Option<i64>, Option<i64>)> {
    let shown = |run: Run| {
        (run.all().max().map(|most| most.0 / 1_000), run.elapsed.map(|elapsed| elapsed.0 / 1_000_000_000))
    };
    let of = |run: Result<Run, _>| run.map(shown).unwrap_or_else(|_| panic!("{text}"));
    read(text).into_iter().map(of).collect()
}

#[test]
fn a_table_whose_numbers_fall_is_of_another_run() {
    // Fewer samples, a smaller maximum, a shorter time.
    let fewer = TIMERLAT.replace("#12320", "#320").replace("41\n", "97\n");
    let smaller =
        TIMERLAT.replace("41\n", "17\n").replace("#12320", "#99999").replace("00:00:12", "00:01:12");
    let shorter = TIMERLAT.replace("00:00:12", "00:00:11").replace("41\n", "52\n");
    for (later, expected) in [(fewer, (97, 12)), (smaller, (31, 72)), (shorter, (52, 11))] {
        let [own, other] = [(Some(41), Some(12)), (Some(expected.0), Some(expected.1))];
        assert_eq!(each_run(&format!("{TIMERLAT}{later}")), [own, other], "{later}");
        assert_eq!(each_run(&format!("{later}\nBefore it was\n\n{TIMERLAT}")), [other, own], "{later}");
    }
    let smaller = OSNOISE.replace("10998          555", "10998          155").replace("00:00:09", "00:01:09");
    let both = format!("{OSNOISE}{smaller}");
    assert_eq!(each_run(&both), [(Some(555), Some(9)), (Some(155), Some(69))]);
    let goes_on = OSNOISE.replace("#4  ", "#5  ").replace("10998          555", "20998          855");
    assert_eq!(each_run(&format!("{OSNOISE}{goes_on}")), [(Some(855), Some(9))]);
}

#[test]
fn a_table_without_rows_is_none_with_small_latencies() {
    for table in [TIMERLAT, OSNOISE] {
        let head: String = table.lines().take(3).map(|line| format!("{line}\n")).collect();
        let why = read(&head).into_iter().find_map(Result::err).map(|broken| broken.why).unwrap_or_default();
        assert!(why.starts_with("its table has no row"), "{why}");
        assert_eq!(each_run(&format!("{head}{table}")).len(), 1, "rtla prints it before the first sample");
    }
    assert!(read("CPU COUNT is 8\n").is_empty());
}

#[test]
fn of_osnoise_the_largest_single_noise_counts() {
    let run = run(OSNOISE);
    assert_eq!((run.all().max(), run.all().min(), run.all().mean()), (Some(Ns::from_us(555)), None, None));
    assert_eq!(run.elapsed, Some(Ns::from_secs(9)));
    let cut = OSNOISE
        .replace("998           55         624            0         4011           34           24", "998");
    let expected = named(&[("CPU 0", Some(555)), ("CPU 2, whose row is not whole", None)]);
    assert_eq!(maxima(&cut), expected);
}

#[test]
fn osnoise_without_its_title_and_hwnoise_are_read() {
    let without_title: String = OSNOISE.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(maxima(&without_title), maxima(OSNOISE));
    let head = "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI\n";
    let rows = "  3 #321        83460000        71178    99.91471        2107         2103          19            2\n  \
                4 #321        83460000            0   100.00000           0            0           0            0\n";
    let expected = named(&[("CPU 3", Some(2_103)), ("CPU 4", Some(0))]);
    for title in ["", "Hardware-related Noise\nduration:   0 00:02:00 | time is in us\n"] {
        let text = format!("{title}{head}{rows}");
        assert_eq!(maxima(&text), expected);
        assert_eq!(run(&text).probe, "hwnoise");
    }
    assert_eq!(run(OSNOISE).probe, "osnoise");
}
