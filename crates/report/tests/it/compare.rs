//! Runs side by side: as text, as a document, as a page, as plots.

use crate::html::assert_page;
use crate::schema_check::violations;
use crate::text_pieces::{missing, pieces};
use crate::{assert_current, fixture};
use whylate_base::{Cpu, Ns};
use whylate_investigate::compare::{Gate, Prepared, compare, compare_pairs};
use whylate_investigate::measure::Claimed;
use whylate_report::Style;
use whylate_report::compare::{self, Claiming, Compared, Gated};
use whylate_report::plot::{self, Kind};
use whylate_stats::{Bucket, Exact, Histogram, Late, Maxima, Measured, Run};

/// A triangle around `body` and, of the first CPU, one far beyond it.
fn run(label: &str, body: i64, rogue: Option<i64>) -> Prepared {
    Prepared::of(measured(label, body, rogue))
}

fn measured(label: &str, body: i64, rogue: Option<i64>) -> Run {
    let latencies =
        |cpu: i64| (0..6_000).map(move |at| body + (at * 7_919 % 2_003) + (at * 104_729 % 2_011) + cpu * 40);
    let thread = |cpu: u32| {
        let mut all: Vec<Ns> = latencies(i64::from(cpu)).map(Ns).collect();
        if let (0, Some(rogue)) = (cpu, rogue) {
            all[3_210] = Ns(rogue);
        }
        let blocks = all.chunks(300).map(|block| block.iter().max().copied()).collect();
        Measured {
            cpu: Some(Cpu(cpu)),
            name: format!("CPU {cpu}"),
            histogram: all.into_iter().collect(),
            maxima: Some(Maxima::of_blocks(Ns::from_secs(1), blocks)),
            missed: Some(0),
            is_stage: false,
        }
    };
    let spike = |latency| Late {
        cpu: Some(Cpu(0)),
        latency: Ns(latency),
        cause: Some("higher-priority-task".to_owned()),
        culprit: Some("multipathd (priority 99)".to_owned()),
    };
    Run {
        label: label.to_owned(),
        tool: "whylate measure".to_owned(),
        probe: "timer".to_owned(),
        interval: Some(Ns(1_000_000)),
        elapsed: Some(Ns::from_secs(6)),
        threads: vec![thread(0), thread(1)],
        spikes: Some(rogue.map(spike).into_iter().collect()),
        machine: vec![(
            "service multipathd".to_owned(),
            if rogue.is_some() { "active" } else { "inactive" }.to_owned(),
        )],
        notes: vec!["counted as it should be".to_owned()],
    }
}

fn compared() -> Compared {
    let runs = vec![run("before.json", 6_000, Some(331_000)), run("after.json", 6_000, None)];
    let gates = Gate::list("p99<50us,max<9us,p99.9999<1ms").expect("gates");
    let gates = gates.iter().map(|gate| Gated { run: 1, judged: gate.judge(&runs[1].run) }).collect();
    let wanted = "100us@1e-6".parse().expect("a claim");
    let claim = |at: usize| Claiming { run: at, claimed: Claimed::of(&runs[at], wanted) };
    let claims = vec![claim(0), claim(1)];
    Compared { comparison: compare(runs), gates, claims }
}

/// Two pairs: the first lost its rogue, the second became slower.
fn pairs() -> Compared {
    let runs = vec![
        run("a-before.json", 6_000, Some(331_000)),
        run("a-after.json", 6_000, None),
        run("b-before.json", 6_000, None),
        run("b-after.json", 20_000, None),
    ];
    let gate: Gate = "max<50us".parse().expect("a gate");
    let gates = [1, 3].map(|run: usize| Gated { run, judged: gate.judge(&runs[run].run) }).to_vec();
    Compared { comparison: compare_pairs(runs, &[(0, 1), (2, 3)]), gates, claims: Vec::new() }
}

/// Names that would be markup, escape sequences and directions.
fn hostile() -> Compared {
    let evil = "<script>alert(1)</script>\x1b[31m\u{202e}&\"'";
    let mut runs = vec![measured(evil, 6_000, Some(331_000)), measured(evil, 9_000, None)];
    for run in &mut runs {
        run.threads[0].name = evil.to_owned();
        run.notes = vec![evil.to_owned()];
        run.machine[0].0 = evil.to_owned();
        run.spikes.iter_mut().flatten().for_each(|spike| spike.culprit = Some(evil.to_owned()));
    }
    let runs = runs.into_iter().map(Prepared::of).collect();
    Compared { comparison: compare(runs), gates: Vec::new(), claims: Vec::new() }
}

#[test]
fn text_and_document_are_as_before() {
    let style = Style::default();
    assert_current(&fixture("compare.txt"), &compare::terminal::render(&compared(), &style));
    assert_current(&fixture("compare.md"), &compare::markdown::render(&compared()));
    assert_page("compare.html", &compare::html::render(&compared()));
    assert_current(&fixture("compare.json"), &format!("{:#}\n", compare::json::render(&compared())));
}

#[test]
fn page_and_markdown_show_what_the_terminal_shows() {
    let mut unsure = compared();
    unsure.comparison.pairs[0].causes[0].is_sure = false;
    unsure.comparison.pairs[0].settings = None;
    for compared in [compared(), unsure] {
        let text = compare::terminal::render(&compared, &Style { color: false, width: 4_000 });
        let mut shown = pieces(&text);
        // Titles that are longer there, and a mark beside the run's name.
        let other = ["cause of late samples", "run", "missed after.json"];
        shown.retain(|piece| !other.contains(&piece.as_str()));
        assert!(shown.len() > 50, "{text}");
        for page in [compare::html::render(&compared), compare::markdown::render(&compared)] {
            assert_eq!(missing(shown.clone(), &page), Vec::<String>::new());
        }
    }
}

/// Of a thread's extremes alone, or of one that a run does not have, no test shows anything.
#[test]
fn threads_that_cannot_be_compared_are_not_called_alike() {
    let text = |before: Run, after: Run| {
        let runs = [before, after].map(Prepared::of).to_vec();
        let compared = Compared { comparison: compare(runs), gates: Vec::new(), claims: Vec::new() };
        compare::terminal::render(&compared, &Style::default())
    };
    let whole = || measured("one.json", 6_000, None);
    assert!(text(whole(), whole()).contains("None of the threads differs on its own"));
    let mut fewer = whole();
    fewer.threads.truncate(1);
    assert!(text(whole(), fewer).contains("None of the threads that can be compared differs"));
    // Beside one that differs.
    let mut slower = measured("two.json", 9_000, None);
    slower.threads[1] = whole().threads[1].clone();
    let left_out = text(whole(), slower.clone()).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "Threads that do not differ by more than chance, or not by as much as counts: CPU 1.";
    assert!(left_out.contains(words), "{left_out}");
    slower.threads.truncate(1);
    let others = text(whole(), slower).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(others.contains("Threads of one run that the other does not have are not compared"), "{others}");
    let mut bare = whole();
    for thread in &mut bare.threads {
        let exact = Exact { overflow: 9_000, sum: 0, min: Ns(6_000), max: Ns(70_000) };
        thread.histogram = Histogram::new([], exact).without_mean();
        thread.maxima = None;
    }
    assert!(text(whole(), bare).contains("Too little is known of the threads"));
    let mut means = whole();
    for thread in &mut means.threads {
        let exact = Exact { overflow: 9_000, sum: 9_000 * 8_000, min: Ns(6_000), max: Ns(70_000) };
        thread.histogram = Histogram::new([], exact);
        thread.maxima = None;
    }
    let text = text(means.clone(), means).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("None of the threads' means that are known of both differs"), "{text}");
}

/// Where all threads together cannot be compared, the headline has what those show that can.
#[test]
fn the_headline_has_the_usual_latency_of_threads() {
    let means = |label: &str, of: &[i64]| {
        let mut run = measured(label, 6_000, None);
        for (thread, mean) in run.threads.iter_mut().zip(of) {
            let sum = 9_000 * u64::try_from(*mean).expect("positive");
            thread.histogram =
                Histogram::new([], Exact { overflow: 9_000, sum, min: Ns(6_000), max: Ns(70_000) });
            thread.maxima = None;
        }
        run.threads.truncate(of.len());
        run
    };
    let headline = |before: &[i64], after: &[i64]| {
        let runs = [means("a", before), means("b", after)].map(Prepared::of).to_vec();
        let compared = Compared { comparison: compare(runs), gates: Vec::new(), claims: Vec::new() };
        let text = compare::terminal::render(&compared, &Style { color: false, width: 4_000 });
        text.lines().next().unwrap_or_default().to_owned()
    };
    let better = "b beside a: the tail cannot be compared; the usual latency of CPU 0 is better";
    assert_eq!(headline(&[30_000, 30_000], &[8_000]), better);
    assert_eq!(headline(&[8_000, 30_000], &[30_000]), better.replace("better", "worse"));
    let unknown = "whether b is better or worse than a cannot be determined";
    assert_eq!(headline(&[30_000, 30_000], &[30_000]), unknown);
}

#[test]
fn pairs_are_each_compared_by_themselves() {
    let answer = compare::json::render(&pairs());
    let of = |at: usize| (&answer["pairs"][at]["baseline"], &answer["pairs"][at]["run"]);
    assert_eq!(of(0), (&"a-before.json".into(), &"a-after.json".into()));
    assert_eq!(of(1), (&"b-before.json".into(), &"b-after.json".into()));
    assert_eq!(answer["pairs"][1]["verdict"], "worse");
    assert_eq!(
        (answer["pairs"].as_array().map(Vec::len), answer["runs"].as_array().map(Vec::len)),
        (Some(2), Some(4))
    );
    let worse = "b-after.json is worse than b-before.json";
    let text = compare::terminal::render(&pairs(), &Style { color: false, width: 4_000 });
    for rendered in [&text, &compare::html::render(&pairs()), &compare::markdown::render(&pairs())] {
        for words in [worse, "a-before.json", "a-after.json"] {
            assert!(rendered.contains(words), "{words}: {rendered}");
        }
        assert!(!rendered.contains("than a-before.json"), "{rendered}");
    }
    let drawing = compare::svg::render(&pairs()).expect("samples");
    assert!(drawing.contains("b-before.json → b-after.json"));
    // Only what others are compared with is exempt from gates and claims.
    let baselines: Vec<bool> = (0..4).map(|run| pairs().comparison.is_baseline(run)).collect();
    assert_eq!(baselines, [true, false, true, false]);
    let chain = compare_pairs(pairs().comparison.runs, &[(0, 1), (1, 2), (3, 9)]);
    assert_eq!((chain.pairs.len(), chain.is_baseline(0), chain.is_baseline(1)), (2, true, false));
}

/// One pair is what two files are.
#[test]
fn a_single_pair_is_as_two_files_are() {
    let one = compared();
    let pair = Compared { comparison: compare_pairs(one.comparison.runs.clone(), &[(0, 1)]), ..one.clone() };
    assert_eq!(pair, one);
}

#[test]
fn documents_obey_the_schema() {
    let schema = compare::json::schema();
    for compared in [compared(), pairs(), hostile()] {
        assert_eq!(violations(&schema, &compare::json::render(&compared)), Vec::<String>::new());
    }
}

#[test]
fn every_width_is_kept_and_names_do_no_harm() {
    for width in [60, 100, 200] {
        for compared in [compared(), pairs(), hostile()] {
            let text = compare::terminal::render(&compared, &Style { color: false, width });
            assert!(!text.contains(['\x1b', '\u{202e}']));
            // A table of eight numbers is as wide as it is.
            assert!(text.lines().all(|line| line.chars().count() <= width.max(110)), "{width}: {text}");
        }
    }
    let page = compare::html::render(&hostile());
    let drawing = compare::svg::render(&hostile()).expect("samples");
    for text in [&page, &drawing] {
        assert!(!text.contains("<script>alert") && !text.contains(['\x1b', '\u{202e}']));
    }
    let drawing = drawing.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "url(", "@import", "href"] {
        assert!(!drawing.contains(outside), "{outside}");
    }
}

#[test]
fn a_drawing_in_light_colours_has_nothing_that_must_be_known() {
    for kind in [Kind::Histogram, Kind::Ccdf, Kind::Time] {
        for by_thread in [false, true] {
            let drawing = plot::plotted(&compared().comparison.runs, kind, by_thread).expect("samples");
            let plain = plot::plain(&drawing);
            assert!(drawing.contains("var(--") && drawing.contains("@media"));
            assert!(!plain.contains("var(--") && !plain.contains("@media"), "{kind:?}");
        }
    }
    assert!(plot::shifted(&compared().comparison, true).is_some_and(|drawing| drawing.contains("CPU 1")));
}

/// Foreign histograms: nothing below a microsecond, samples beyond the scale, one sample, none.
#[test]
fn whatever_was_measured_can_be_drawn() {
    let bucket = |us: i64, count| Bucket { from: Ns(us * 1_000), upto: Ns(us * 1_000 + 999), count };
    let of = |buckets: Vec<Bucket>, overflow, min, max| {
        Histogram::new(buckets, Exact { overflow, sum: 0, min: Ns(min), max: Ns(max) })
    };
    for histogram in [
        of(vec![bucket(0, 5), bucket(3, 1)], 0, 0, 3_000),
        of(vec![bucket(7, 1)], 0, 7_000, 7_000),
        of(vec![bucket(7, 1)], 12, 7_000, 90_000_000_000),
        of(Vec::new(), 3, 50_000_000_000, 90_000_000_000),
        of(vec![bucket(1, u64::MAX / 4), bucket(1_000_000, 1)], 0, 1_000, 1_000_000_000),
        Histogram::default(),
    ] {
        let is_empty = histogram.count() == 0;
        let threads = vec![Measured { histogram, ..Measured::default() }];
        let runs = [Prepared::of(Run { threads, ..Run::default() })];
        for kind in [Kind::Histogram, Kind::Ccdf, Kind::Time] {
            for by_thread in [false, true] {
                let drawing = plot::plotted(&runs, kind, by_thread);
                assert_eq!(drawing.is_none(), is_empty || kind == Kind::Time, "{kind:?}");
                let drawing = drawing.unwrap_or_default();
                assert!(!drawing.contains("NaN") && !drawing.contains("inf\""), "{kind:?}");
            }
        }
    }
}
