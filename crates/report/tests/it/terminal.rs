//! What an engineer reads.

use crate::{assert_current, fixture, sample};
use whylate_base::{AdvisedFix, Comm, Confidence, Ns, Priority, Severity, Tid};
use whylate_ledger::{Candidate, Cause, Culprit, Spread, TaskSummary, Trigger};
use whylate_report::{Style, explain, measure};

#[test]
fn text_is_as_before() {
    for (name, style) in [
        ("story-100.txt", Style { color: false, width: 100 }),
        ("story-80.txt", Style { color: false, width: 80 }),
        ("story-color.txt", Style { color: true, width: 100 }),
    ] {
        assert_current(&fixture(name), &explain::terminal::render(&sample::story(), &style));
    }
    for (name, width) in [("measure-100.txt", 100), ("measure-80.txt", 80)] {
        assert_current(
            &fixture(name),
            &measure::terminal::render(&sample::measurement(), &Style { color: false, width }),
        );
    }
    assert_current(
        &fixture("measure-poor.txt"),
        &measure::terminal::render(&sample::poor_measurement(), &Style::default()),
    );
    assert_current(
        &fixture("section.txt"),
        &explain::terminal::render(&sample::section(), &Style::default()),
    );
    assert_current(
        &fixture("candidates.txt"),
        &explain::terminal::render(&sample::candidates(), &Style::default()),
    );
    assert_current(&fixture("empty.txt"), &explain::terminal::render(&sample::empty(), &Style::default()));
}

#[test]
fn the_lines_that_took_more_time_are_one_sentence() {
    let style = Style { color: false, width: 200 };
    let text = explain::terminal::render(&sample::with_stacks(), &style);
    let line = text.lines().find(|line| line.starts_with("  own work  ")).expect("a line");
    assert!(line.contains("in each of the worst activations than in the others: rtload.cpp:40"), "{line}");
    assert!(line.ends_with(": 3.00 ms against 0 ns"), "{line}");
    let mut sample = sample::with_stacks();
    sample.profiles[0].grown.clear();
    assert!(!explain::terminal::render(&sample, &style).contains("  own work  "));
}

#[test]
fn an_activation_of_one_instant_has_no_shares_of_nothing() {
    let mut story = sample::story();
    let tid = story.tasks[0].tid;
    let first = story.activations.iter_mut().find(|activation| activation.tid == tid).expect("an activation");
    (first.end, first.done) = (first.due, Some(first.due));
    first.ledger.clear();
    let text = explain::terminal::render(&story, &Style { color: false, width: 200 });
    for report in [text, explain::markdown::render(&story), explain::html::render(&story)] {
        assert!(report.contains("the recording has no whole activation of it"), "{report}");
        assert!(!report.contains("0 ns of 0 ns"), "{report}");
    }
}

#[test]
fn threads_that_are_not_listed_are_counted() {
    let mut story = sample::story();
    story.unlisted = 1_204;
    let sentence = "not listed: 1,204 more threads: the 2 threads with the worst responses are";
    let text = explain::terminal::render(&story, &Style { color: false, width: 200 });
    let (markdown, html) = (explain::markdown::render(&story), explain::html::render(&story));
    for report in [text, markdown, html] {
        assert!(report.contains(sentence), "{report}");
    }
    assert_eq!(explain::json::render(&story)["unlisted_tasks"], 1_204);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 70, 80, 90, 100, 132, 200] {
        let style = Style { color: false, width };
        let explanations =
            [sample::story(), sample::hostile(), sample::section(), sample::candidates(), sample::empty()];
        let measurements = [sample::measurement(), sample::poor_measurement()];
        let texts = explanations.iter().map(|sample| explain::terminal::render(sample, &style));
        for text in texts.chain(measurements.iter().map(|sample| measure::terminal::render(sample, &style))) {
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

/// Names stay whole as long as they can, and timelines give way.
#[test]
fn on_a_narrow_terminal_names_stay_whole() {
    let mut story = sample::story();
    let owner = Culprit::Task {
        tid: Tid(4_194_303),
        comm: "fifteen-letters".into(),
        priority: Priority::realtime(50),
    };
    for segment in story.activations.iter_mut().flat_map(|activation| &mut activation.ledger) {
        if matches!(segment.by, Some(Culprit::Task { .. })) {
            segment.owner = Some(owner);
        }
    }
    for width in [60, 70, 80, 90, 100, 200] {
        let text = explain::terminal::render(&story, &Style { color: false, width });
        assert!(text.contains("rtload:313") && text.contains("lock of fifteen"), "{width}: {text}");
        assert!(width < 80 || text.contains("lock of fifteen-letters:4194303"), "{width}: {text}");
    }
    let bars = |width| explain::terminal::render(&story, &Style { color: false, width }).contains('█');
    assert!(bars(80) && !bars(60));
}

#[test]
fn where_nothing_is_found_one_line_reports_that() {
    let line = "No finding: in 5,468 activations, the latest start came 46.91 ms after it was due";
    let page = |sample: &_| explain::terminal::render(sample, &Style { color: false, width: 120 });
    let mut sample = sample::story();
    assert!(!page(&sample).contains("No finding"));
    sample.findings.clear();
    sample.activations.iter_mut().for_each(|activation| activation.verdict.fix.clear());
    sample.trace.lost_events = 0;
    sample.trace.damage.clear();
    assert!(page(&sample).contains(line), "{}", page(&sample));
    assert!(explain::html::render(&sample).contains(line));
    sample.trace.lost_events = 12;
    assert!(
        page(&sample).contains("No finding, as far as the trace could be read: in 5,468"),
        "{}",
        page(&sample)
    );
    sample.tasks.clear();
    sample.activations.clear();
    assert!(!page(&sample).contains("No finding") && !explain::html::render(&sample).contains("No finding"));
}

/// What the trace was recorded for may be none of the threads that are explained.
#[test]
fn no_finding_names_a_thread_that_waits_far_longer() {
    let mut sample = sample::candidates();
    let worker = sample.candidates.take().and_then(|all| all.threads.into_iter().last());
    sample.waits_beside =
        worker.map(|worker| Candidate { wait: Some(Ns::from_ms(332)), comm: "wor\u{7}ker".into(), ..worker });
    let page = |sample: &_| explain::terminal::render(sample, &Style { color: false, width: 400 });
    let line = "Not explained: wor\u{fffd}ker:88 waited 332.0 ms for a CPU; --task 88 explains it.";
    assert!(!page(&sample).contains("Not explained"), "a warning comes first");
    sample.findings.iter_mut().for_each(|finding| finding.severity = Severity::Info);
    assert!(page(&sample).contains(line) && !page(&sample).contains("No finding"), "{}", page(&sample));
    sample.findings.clear();
    assert!(page(&sample).contains(line), "{}", page(&sample));
    assert!(explain::html::render(&sample).contains(line));
    assert!(explain::json::render(&sample)["waits_beside"]["tid"] == 88);
}

/// A long delay beside it must not read as if nothing was late.
#[test]
fn no_finding_names_the_cause_of_the_latest_start() {
    let page = |sample: &_| explain::terminal::render(sample, &Style { color: false, width: 400 });
    let mut sample = sample::story();
    sample.findings.clear();
    sample.trace.damage.clear();
    sample.trace.lost_events = 0;
    let latest = sample
        .tasks
        .iter()
        .filter_map(|task| task.latency)
        .map(|latency| latency.max)
        .max()
        .expect("a latency");
    for activation in &mut sample.activations {
        activation.running = Some(activation.due + latest);
        (activation.verdict.cause, activation.verdict.by) = (Cause::FairQueue, None);
        activation.verdict.confidence = Confidence::High;
        activation.verdict.fix.clear();
    }
    assert!(
        page(&sample).contains("the latest start came 46.91 ms after it was due (fair-queue)."),
        "{}",
        page(&sample)
    );
}

/// The latest start and the longest activation are two.
#[test]
fn no_finding_names_each_cause_behind_its_own_number() {
    let mut sample = sample::story();
    sample.findings.clear();
    sample.trace.damage.clear();
    sample.trace.lost_events = 0;
    let by =
        |tid, name: &str| Culprit::Task { tid: Tid(tid), comm: name.into(), priority: Priority::DEFAULT };
    let [latest, longest, ..] = &mut sample.activations[..] else { panic!("two activations") };
    for (activation, late, long, by) in [
        (latest, Ns::from_ms(1), Ns::from_ms(2), by(7, "first")),
        (longest, Ns(0), Ns::from_ms(8), by(8, "second")),
    ] {
        (activation.running, activation.end) = (Some(activation.due + late), activation.due + long);
        (activation.verdict.cause, activation.verdict.by) = (Cause::FairQueue, Some(by));
        (activation.verdict.confidence, activation.verdict.fix) = (Confidence::High, Vec::new());
    }
    let of = |max| Spread { min: Ns(0), p50: max, p99: max, max };
    sample.activations.truncate(2);
    for task in &mut sample.tasks {
        (task.latency, task.response) = (Some(of(Ns::from_ms(1))), Some(of(Ns::from_ms(8))));
    }
    let text = explain::terminal::render(&sample, &Style { color: false, width: 400 });
    let line = "the latest start came 1.00 ms after it was due (fair-queue, first:7 (nice 0)), and the longest took 8.00 ms \
                (fair-queue, second:8 (nice 0)).";
    assert!(text.contains(line), "{text}");
}

/// A cause that no finding sums up may have taken a multiple of the usual: "No finding" alone would read as good news.
#[test]
fn no_finding_names_what_took_far_longer_than_usual() {
    let page = |sample: &_| explain::terminal::render(sample, &Style { color: false, width: 400 });
    let mut sample = sample::story();
    sample.findings.clear();
    sample.trace.damage.clear();
    sample.trace.lost_events = 0;
    let usual =
        Spread { min: Ns::from_us(300), p50: Ns::from_us(387), p99: Ns::from_ms(2), max: Ns::from_ms(510) };
    for task in &mut sample.tasks {
        task.response = Some(usual);
    }
    let kworker = Culprit::Task { tid: Tid(36), comm: "kworker/u4:1".into(), priority: Priority::DEFAULT };
    for activation in &mut sample.activations {
        activation.end = activation.due + Ns::from_ms(510);
        activation.running = Some(activation.due + Ns::from_us(40));
        let verdict = &mut activation.verdict;
        (verdict.cause, verdict.confidence) = (Cause::OwnWait, Confidence::Medium);
        verdict.by = Some(kworker);
        verdict.charged = Ns::from_ms(508);
        verdict.fix = vec![AdvisedFix::by_hand("leave the call to another thread", "a test")];
    }
    let line = "took up to 510.0 ms (own-wait, kworker/u4:1:36 (nice 0)), where 387.0 us is usual; in 5,468 activations, the latest start came";
    let text = page(&sample);
    assert!(text.contains("No finding beyond the worst activations: ") && text.contains(line), "{text}");
    for activation in &mut sample.activations {
        (activation.verdict.cause, activation.verdict.by) = (Cause::KernelSleep, None);
    }
    let text = page(&sample);
    assert!(text.contains("No finding names another thread: "), "{text}");
    // A second cause of other activations is named as well.
    let mut second = sample.activations[0].clone();
    second.end = second.due + Ns::from_ms(12);
    (second.verdict.cause, second.verdict.charged) = (Cause::BlockIo, Ns::from_ms(11));
    let mut both = sample.clone();
    both.activations = vec![sample.activations[0].clone(), second];
    let text = page(&both);
    let line = "(kernel-sleep), where 387.0 us is usual, and up to 12.00 ms (block-io); in 5,468 activations";
    assert!(text.contains(line), "{text}");
    // Where it is about as usual, or nothing is advised, nothing stands out.
    for activation in &mut sample.activations {
        activation.verdict.fix.clear();
    }
    assert!(page(&sample).contains("No finding: in 5,468 activations"), "{}", page(&sample));
}

#[test]
fn of_threads_that_were_only_glimpsed_no_time_is_given() {
    let mut sample = sample::story();
    sample.findings.clear();
    sample.trace.lost_events = 0;
    sample.trace.damage.clear();
    sample.activations.clear();
    for task in &mut sample.tasks {
        (task.latency, task.activations) = (None, 2);
        task.response =
            task.response.map(|_| Spread { min: Ns::ZERO, p50: Ns::ZERO, p99: Ns::ZERO, max: Ns::ZERO });
    }
    let text = explain::terminal::render(&sample, &Style { color: false, width: 400 });
    assert!(text.contains("No finding: in 4 activations, none of which the recording has whole."), "{text}");
}

#[test]
fn a_waker_that_the_text_does_not_name_is_no_thread() {
    let mut sample = sample::story();
    for activation in &mut sample.activations {
        activation.trigger = Trigger::Thread { tid: Tid(-1), comm: Comm::default() };
    }
    let text = explain::terminal::render(&sample, &Style { color: false, width: 120 });
    assert!(text.contains("(woken, the waker was not recorded)") && !text.contains("tid -1"), "{text}");
    for activation in &mut sample.activations {
        activation.trigger = Trigger::Upon { tid: Tid(7), comm: Comm::from("hog") };
    }
    let text = explain::terminal::render(&sample, &Style { color: false, width: 120 });
    assert!(text.contains("(woken by hog:7, or by an interrupt upon it)"), "{text}");
}

/// "No finding" reads as "nothing was late": not where the worst activation is not explained.
#[test]
fn a_late_activation_without_a_certain_verdict_is_no_reassurance() {
    let page = |sample: &_| explain::terminal::render(sample, &Style { color: false, width: 400 });
    let mut sample = sample::story();
    sample.findings.clear();
    let doubts: [(Cause, Confidence, &str); 3] = [
        (Cause::Unexplained, Confidence::High, "the time is unexplained"),
        (Cause::TraceLoss, Confidence::High, "events of that time were lost"),
        (Cause::TimerLate, Confidence::Low, "the trace suggests timer-late, with low confidence"),
    ];
    for (cause, confidence, words) in doubts {
        for activation in &mut sample.activations {
            (activation.verdict.cause, activation.verdict.confidence) = (cause, confidence);
        }
        let text = page(&sample);
        assert!(text.contains("Cannot tell why") && text.contains(words), "{text}");
        assert!(!text.contains("No finding:") && text.contains("46.91 ms after it was due"), "{text}");
    }
    // Own work is not late because of another.
    for activation in &mut sample.activations {
        (activation.verdict.cause, activation.verdict.confidence) = (Cause::OwnWork, Confidence::Low);
    }
    assert!(!page(&sample).contains("Cannot tell why"));
}

/// Less than a millisecond that is about what a thread takes each time is no lateness to explain.
#[test]
fn a_usual_time_of_microseconds_is_nothing_to_be_told_of() {
    let closing = |response: i64, activations: u64| {
        let mut sample = sample::story();
        sample.findings.clear();
        sample.tasks.truncate(1);
        sample.activations.truncate(1);
        // The half of them took 29.7 us.
        sample.tasks[0].activations = activations;
        for activation in &mut sample.activations {
            activation.running = Some(activation.due + Ns(8_000));
            activation.end = activation.due + Ns(response);
            activation.ledger.truncate(1);
            (activation.ledger[0].start, activation.ledger[0].end) = (activation.due, activation.end);
            (activation.verdict.cause, activation.verdict.confidence) = (Cause::Unexplained, Confidence::Low);
        }
        let text = explain::terminal::render(&sample, &Style { color: false, width: 400 });
        text.contains("Cannot tell why")
    };
    assert!(!closing(50_000, 488));
    assert!(closing(90_000, 488), "more than usual");
    assert!(closing(50_000, 3), "too few to show what is usual");
}

/// A verdict without a culprit has nothing to advise.
#[test]
fn without_a_fix_there_is_no_line_for_it() {
    let mut sample = sample::story();
    sample.findings.clear();
    for activation in &mut sample.activations {
        activation.verdict.cause = Cause::OwnWork;
        activation.verdict.fix.clear();
    }
    let text = explain::terminal::render(&sample, &Style::default());
    assert!(text.contains("own-work: ") && !text.contains("fix "), "{text}");
    assert!(!explain::html::render(&sample).contains("<h4>Fix</h4>"));
}

#[test]
fn where_the_trace_begins_in_the_middle_no_latency_is_shown() {
    let mut sample = sample::story();
    for activation in &mut sample.activations {
        activation.trigger = Trigger::TraceStart;
    }
    let text = explain::terminal::render(&sample, &Style::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("after it was first seen") && text.contains("  not seen  "), "{text}");
    assert!(!words.contains("after it was due") && !words.contains("never ran"), "{text}");
}

#[test]
fn a_percentile_without_samples_beyond_it_is_not_shown() {
    let row = |count: i64| {
        let mut sample = sample::measurement();
        sample.cpus.truncate(1);
        sample.cpus[0].histogram = (1..=count).map(|i| Ns(i * 1_000)).collect();
        let text = measure::terminal::render(&sample, &Style { color: false, width: 80 });
        let row = text.lines().skip_while(|line| !line.starts_with("CPU")).nth(1).expect("a row").to_owned();
        // CPU, wake-ups, min, mean, p50; each time is a number and its unit.
        row.split_whitespace().skip(8).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row(99)[..2], ["-", "-"]);
    assert_eq!(row(100)[1..3], ["us", "-"]);
    assert_eq!(row(9_999)[1..3], ["ms", "-"]);
    assert!(!row(10_000).contains(&"-".to_owned()));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = explain::terminal::render(&sample::story(), &Style { color: false, width: 100 });
    let mut colored = explain::terminal::render(&sample::story(), &Style { color: true, width: 100 });
    while let Some(start) = colored.find('\x1b') {
        let end = colored[start..].find('m').expect("an escape sequence ends");
        colored.replace_range(start..=start + end, "");
    }
    assert_eq!(colored, plain);
}

#[test]
fn names_send_no_escape_sequences() {
    let text = explain::terminal::render(&sample::hostile(), &Style { color: false, width: 100 });
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
}

#[test]
fn any_width_is_survived() {
    let (story, measured) = (sample::story(), sample::measurement());
    for width in (0..160).chain([1_000, 100_000]) {
        explain::terminal::render(&story, &Style { color: true, width });
        measure::terminal::render(&measured, &Style { color: true, width });
    }
}

#[test]
fn all_errors_and_the_first_others_are_written_in_full() {
    let mut sample = sample::story();
    let (error, warning) = (sample.findings[0].clone(), sample.findings[1].clone());
    sample.findings = vec![error; 6];
    sample.findings.extend(vec![warning; 3]);
    let text = explain::terminal::render(&sample, &Style::default());
    assert_eq!(text.matches("find out why rtload:313 never sleeps").count(), 6);
    assert_eq!(text.matches("warning[higher-priority-task]").count(), 3, "none is left out");
    assert_eq!(text.matches("It ran 5 times").count(), 0);
}

/// A shell at a real-time priority starts a program in each turn.
#[test]
fn of_very_many_threads_of_one_name_the_worst_few_have_rows() {
    let with = |count: i32| {
        let mut story = sample::story();
        let first = story.tasks[0].clone();
        let sleeps = (0..count).map(|n| {
            let response =
                first.response.map(|spread| Spread { max: Ns::from_us(i64::from(900 - n)), ..spread });
            TaskSummary {
                tid: Tid(5_000 + n),
                comm: "sleep".into(),
                activations: 2,
                response,
                ..first.clone()
            }
        });
        story.tasks.extend(sleeps);
        story
    };
    let few = explain::terminal::render(&with(11), &Style { color: false, width: 120 });
    assert_eq!(few.matches("sleep:").count(), 11, "{few}");
    let many = with(150);
    for text in [
        explain::terminal::render(&many, &Style { color: false, width: 120 }),
        explain::markdown::render(&many),
    ] {
        assert!(text.contains("sleep:5002") && !text.contains("sleep:5003"), "{text}");
        let row = text.lines().find(|line| line.contains("147 more sleep")).expect("a row for the others");
        assert!(row.contains("294") && row.contains("897.0 us"), "{row}");
    }
}
