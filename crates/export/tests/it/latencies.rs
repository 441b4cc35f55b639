//! Measurements, written and read back: by our readers, and as the scripts do that others wrote.

use proptest::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};
use whylate_base::{Cpu, Ns};
use whylate_export::latencies::{Form, write};
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

fn run(threads: &[&[i64]]) -> Run {
    let thread = |(at, samples): (usize, &&[i64])| Measured {
        cpu: Some(Cpu(at as u32)),
        name: format!("CPU {at}"),
        histogram: samples.iter().map(|&sample| Ns(sample)).collect(),
        ..Measured::default()
    };
    Run {
        tool: "whylate measure".to_owned(),
        probe: "timer".to_owned(),
        interval: Some(Ns::from_ms(1)),
        elapsed: Some(Ns::from_secs(3)),
        threads: threads.iter().enumerate().map(thread).collect(),
        machine: vec![("/proc/sys/kernel/osrelease".to_owned(), "6.12-rt".to_owned())],
        ..Run::default()
    }
}

fn text(run: &Run, form: Form) -> String {
    let mut bytes = Vec::new();
    write(run, form, &mut bytes).expect("memory is written");
    String::from_utf8(bytes).expect("text")
}

fn sample() -> Run {
    run(&[&[1_200, 3_999, 3_000, 0], &[3_100, 2_000_000_000]])
}

#[test]
fn a_histogram_is_cyclictest_s_line_by_line() {
    let expected = "# whylate: tool=whylate measure\n# whylate: probe=timer\n# Histogram\n000000 000001\t000000\n000001 000001\t000000\n000002 000000\t000000\n\
        000003 000002\t000001\n# Total: 000000004 000000001\n# Min Latencies: 00000 00003\n\
        # Avg Latencies: 00002 1000001\n# Max Latencies: 00003 2000000\n# Histogram Overflows: 00000 00001\n\
        # Histogram Overflow at cycle number:\n# Thread 0:\n# Thread 1: # 00001 others\n\n";
    assert_eq!(text(&sample(), Form::Histogram), expected);
}

/// What OSADL's mklatencyplot does: the maximum from its line, then a column for each core.
#[test]
fn scripts_that_plot_histograms_go_on_working() {
    let script = r#"
        max=$(printf '%s\n' "$H" | grep "Max Latencies" | tr ' ' '\n' | sort -n | tail -1 | sed 's/^0*//')
        rows=$(printf '%s\n' "$H" | grep -v -e '^#' -e '^$' | tr ' ' '\t')
        first=$(printf '%s\n' "$rows" | cut -f1,2 | awk '$2 > 0 { n += $2; last = $1 } END { print n, last + 0 }')
        second=$(printf '%s\n' "$rows" | cut -f1,3 | awk '$2 > 0 { n += $2; last = $1 } END { print n, last + 0 }')
        echo "$max; $first; $second"
    "#;
    let shell = Command::new("sh")
        .args(["-c", script])
        .env("H", text(&sample(), Form::Histogram))
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&shell.stdout), "2000000; 4 3; 1 3\n");
}

#[test]
fn csv_has_each_bucket_and_what_is_in_none() {
    let bucket = Bucket { from: Ns(1_000), upto: Ns(1_999), count: 7 };
    let exact = Exact { overflow: 2, sum: 0, min: Ns(1_000), max: Ns(9_000) };
    let mut run = run(&[&[]]);
    run.threads[0].name = "CPU 0, thread".to_owned();
    run.threads[0].histogram = Histogram::new([bucket], exact);
    assert_eq!(
        text(&run, Form::Csv),
        "thread,from_ns,upto_ns,count\n\"CPU 0, thread\",1000,1999,7\n\"CPU 0, thread\",,9000,2\n"
    );
}

#[test]
fn metrics_are_complete() {
    let text = text(&sample(), Form::Metrics);
    let line = |start: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(start));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let of = "{probe=\"timer\",tool=\"whylate measure\",thread=\"CPU 1\",cpu=\"1\"";
    assert_eq!(line(&format!("whylate_latency_seconds_bucket{of},le=\"5e-06\"}} ")), ["1"]);
    assert_eq!(line(&format!("whylate_latency_seconds_bucket{of},le=\"1.0\"}} ")), ["1"]);
    assert_eq!(line(&format!("whylate_latency_seconds_bucket{of},le=\"2.0\"}} ")), ["2"]);
    assert_eq!(line(&format!("whylate_latency_seconds_bucket{of},le=\"+Inf\"}} ")), ["2"]);
    assert_eq!(line(&format!("whylate_latency_seconds_sum{of}}} ")), ["2.0000031"]);
    assert_eq!(line(&format!("whylate_latency_max_seconds{of}}} ")), ["2"]);
    assert_eq!(line("# TYPE whylate_latency_seconds "), ["histogram"]);
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn without_a_sample_nothing_is_made_up() {
    let none = run(&[&[]]);
    assert!(!text(&none, Form::Metrics).contains("whylate_latency_max_seconds{"));
    assert_eq!(text(&none, Form::Csv).lines().count(), 1);
    assert!(text(&Run::default(), Form::Histogram).starts_with("# Histogram\n# Total:\n"));
}

#[test]
fn a_file_s_name_tells_its_form() {
    for (name, form) in [
        ("night.hist", Some(Form::Histogram)),
        ("/tmp/a.CSV", Some(Form::Csv)),
        ("a.cyclictest.json", Some(Form::Cyclictest)),
        ("a.prom", Some(Form::Metrics)),
        ("a.json", None),
        ("a", None),
    ] {
        assert_eq!(Form::of_file(Path::new(name)), form, "{name}");
    }
}

/// What a count in microseconds still knows.
fn known(histogram: &Histogram) -> (u64, Option<i64>, Option<i64>) {
    let us = |ns: Option<Ns>| ns.map(|ns| ns.0 / 1_000);
    (histogram.count(), us(histogram.min()), us(histogram.max()))
}

#[test]
fn a_thread_whose_samples_are_all_off_the_scale_is_read_back() {
    let run = run(&[&[100_000_000]]);
    let back = whylate_intake::latencies::read(Path::new("a.hist"), text(&run, Form::Histogram).as_bytes());
    let back = back.expect("a histogram");
    assert_eq!(
        (back.threads.len(), known(&back.threads[0].histogram)),
        (1, known(&run.threads[0].histogram))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read_back(
        samples in prop::collection::vec(prop::collection::vec(prop_oneof![0i64..300_000, 0i64..20_000_000_000], 1..60), 1..4),
    ) {
        let threads: Vec<&[i64]> = samples.iter().map(Vec::as_slice).collect();
        let run = run(&threads);
        for (form, name) in [(Form::Histogram, "a.hist"), (Form::Cyclictest, "a.cyclictest.json")] {
            let back = whylate_intake::latencies::read(Path::new(name), text(&run, form).as_bytes());
            let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!((&back.tool, &back.probe), (&run.tool, &run.probe));
            prop_assert_eq!(back.threads.len(), run.threads.len());
            for (back, own) in back.threads.iter().zip(&run.threads) {
                prop_assert_eq!(known(&back.histogram), known(&own.histogram), "{}", name);
                for q in [0.01, 0.5, 0.9] {
                    let (Some(back), Some(own)) = (back.histogram.tail(q), own.histogram.tail_bounds(q)) else { continue };
                    let classes = own.least.0 / 1_000..=own.most.0 / 1_000;
                    prop_assert!(classes.contains(&(back.0 / 1_000)), "{name} at {q}: {back} and {own:?}");
                }
            }
        }
    }

    #[test]
    fn metrics_never_fall_from_bound_to_bound(samples in prop::collection::vec(0i64..20_000_000_000, 1..100)) {
        let text = text(&run(&[&samples]), Form::Metrics);
        let buckets = text.lines().filter(|line| line.contains("_bucket{"));
        let counts: Vec<u64> = buckets
            .filter_map(|line| line.rsplit_once(' ')?.1.parse().ok())
            .collect();
        prop_assert_eq!(counts.len(), 23);
        prop_assert!(counts.is_sorted());
        prop_assert_eq!(counts.last(), Some(&(samples.len() as u64)));
    }
}
