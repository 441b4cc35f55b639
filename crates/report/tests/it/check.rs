//! The answers about a machine, for a terminal and as JSON.

use crate::html::assert_page;
use crate::schema_check::violations;
use crate::{assert_current, fixture};
use serde_json::Value;
use whylate_base::Severity;
use whylate_checks::{CheckOptions, CheckReport, Profile, RuleStatus, Selection, check};
use whylate_host::{FsRoot, Snapshot, Why};
use whylate_report::{Style, check};

/// Some rules of every sort of answer: the fixtures need not change with each new one.
fn some() -> Selection {
    let only = [
        "preempt-rt",
        "rt-kernel-not-booted",
        "rt-throttling",
        "fair-server",
        "rt-group-sched",
        "throttling-off-no-net",
        "rogue-rt-threads",
        "smt",
        "governor",
        "clocksource",
        "irq-affinity",
    ];
    Selection { only: only.map(str::to_owned).to_vec(), skip: Vec::new() }
}

/// A machine with something of everything: failures of all severities, passes, what does not apply, and what is
/// unknown.
pub(crate) fn mixed() -> CheckReport {
    let tree = FsRoot::memory(&[
        ("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1\n"),
        ("/proc/cmdline", "preempt=full\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/smt/active", "0\n"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ("/proc/irq/24/disk\u{1b}[31m/x", ""),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/default_smp_affinity", "f\n"),
    ]);
    let ask = CheckOptions {
        cpus: Some("2-3".parse().expect("a list")),
        priority: Some(80),
        ..CheckOptions::of(Profile::Realtime)
    };
    check(&Snapshot::read(&tree), &ask, &some())
}

pub(crate) fn unread() -> CheckReport {
    let host = Snapshot::read(&FsRoot::refusing(Why::Denied));
    check(&host, &CheckOptions::of(Profile::Audio), &some())
}

/// The rules' pages are in every log, and change for other reasons than this crate.
fn without_pages(mut log: Value) -> Value {
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().expect("rules") {
        assert_eq!(rule["help"]["text"], rule["help"]["markdown"]);
        rule["help"] = "its page".into();
    }
    log
}

#[test]
fn it_reads_as_before() {
    let text = |report: &CheckReport, width| check::terminal::render(report, &Style { color: false, width });
    assert_current(&fixture("check-100.txt"), &text(&mixed(), 100));
    assert_current(&fixture("check-unread-80.txt"), &text(&unread(), 80));
    assert_current(&fixture("check.json"), &format!("{:#}\n", check::json::render(&mixed())));
    assert_current(
        &fixture("check.sarif"),
        &format!("{:#}\n", without_pages(check::sarif::render(&mixed()))),
    );
    assert_current(&fixture("check.xml"), &check::junit::render(&mixed(), Severity::Error));
    assert_current(&fixture("check.md"), &check::markdown::render(&mixed()));
    assert_page("check.html", &check::html::render(&mixed()));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 120] {
        for report in [mixed(), unread()] {
            let text = check::terminal::render(&report, &Style { color: false, width });
            let wide: Vec<&str> = text
                .lines()
                .filter(|line| {
                    line.chars().count() > width && !line.contains("/sys/") && !line.contains("/proc/")
                })
                .collect();
            assert_eq!(wide, Vec::<&str>::new(), "{width}");
        }
    }
}

#[test]
fn names_from_the_machine_cannot_write_to_the_terminal() {
    let ask =
        CheckOptions { cpus: Some("0".parse().expect("a list")), ..CheckOptions::of(Profile::Realtime) };
    let tree = FsRoot::memory(&[
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/proc/irq/24/disk\u{1b}[31m/x", ""),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/default_smp_affinity", "1\n"),
    ]);
    let report = check(&Snapshot::read(&tree), &ask, &Selection::default());
    let text = check::terminal::render(&report, &Style::default());
    assert!(text.contains("disk") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn documents_obey_the_schema() {
    for report in [mixed(), unread()] {
        assert_eq!(violations(&check::json::schema(), &check::json::render(&report)), Vec::<String>::new());
    }
}

/// What the standard demands of the parts that are used (SARIF 2.1.0, 3.14, 3.27 and 3.49).
#[test]
fn a_sarif_log_keeps_the_standard() {
    for report in [mixed(), unread()] {
        let log = check::sarif::render(&report);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        let results = run["results"].as_array().expect("results");
        assert_eq!(results.len(), report.answers.len());
        for (result, answered) in results.iter().zip(&report.answers) {
            let index = result["ruleIndex"].as_u64().expect("an index") as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let (kind, level) = (result["kind"].as_str(), result["level"].as_str());
            assert_eq!(kind == Some("fail"), answered.failed(), "{result}");
            assert_eq!(kind == Some("open"), answered.verdict.is_err(), "{result}");
            assert_eq!(level == Some("none"), kind != Some("fail"), "only a failure has a level: {result}");
            assert!(
                result["message"]["text"]
                    .as_str()
                    .is_some_and(|text| text.ends_with(['.', '%']) || text.contains("\nFix: ")),
                "{result}"
            );
            for place in result["locations"].as_array().expect("places") {
                let uri = &place["physicalLocation"]["artifactLocation"]["uri"];
                let name = &place["logicalLocations"][0]["fullyQualifiedName"];
                let is_uri = uri.as_str().is_some_and(|uri| {
                    uri.starts_with("file:///") && uri.bytes().all(|byte| byte.is_ascii_graphic())
                });
                assert!(is_uri ^ name.is_string(), "{place}");
            }
        }
    }
}

/// The cases of a JUnit document: the name of each, and the element in it.
fn cases(xml: &str) -> Vec<(String, Option<&str>)> {
    let attribute = |text: &str, name: &str| {
        let start = text.find(&format!(" {name}=\"")).expect("the attribute") + name.len() + 3;
        text[start..].split('"').next().expect("its value").to_owned()
    };
    let inner = |case: &str| {
        let of = |element: &&str| case.contains(&format!("<{element} "));
        ["failure", "error", "skipped"].into_iter().find(of)
    };
    let parts = xml.split("<testcase").skip(1);
    parts.map(|case| (attribute(case, "name"), inner(case))).collect()
}

#[test]
fn junit_is_red_where_the_exit_code_is_and_green_only_for_a_pass() {
    for report in [mixed(), unread()] {
        for fail_on in [Severity::Info, Severity::Warning, Severity::Error] {
            let xml = check::junit::render(&report, fail_on);
            let cases = cases(&xml);
            assert_eq!(cases.len(), report.answers.len());
            for ((name, element), answered) in cases.iter().zip(&report.answers) {
                assert_eq!(name, answered.rule.code);
                let grave = answered.severity() >= fail_on;
                let expected = match &answered.verdict {
                    Ok(answer) if answer.status == RuleStatus::Pass => None,
                    Ok(answer) if answer.status == RuleStatus::Fail && grave => Some("failure"),
                    Err(_) if grave => Some("error"),
                    _ => Some("skipped"),
                };
                assert_eq!(*element, expected, "{name} at {fail_on}");
            }
            let count = |of: &str| cases.iter().filter(|(_, element)| *element == Some(of)).count();
            let totals = [
                ("tests", cases.len()),
                ("failures", count("failure")),
                ("errors", count("error")),
                ("skipped", count("skipped")),
            ];
            for tag in ["<testsuites ", "<testsuite "] {
                let (_, attributes) = xml.split_once(tag).expect("the element");
                let (attributes, _) = attributes.split_once('>').expect("its end");
                for (name, total) in totals {
                    assert!(attributes.contains(&format!(" {name}=\"{total}\"")), "{name}: {attributes}");
                }
            }
        }
    }
}

/// Every code of a report is in every format.
#[test]
fn nothing_is_left_out() {
    let host = Snapshot::read(&FsRoot::refusing(Why::NotCollected));
    let all = check(&host, &CheckOptions::of(Profile::Realtime), &Selection::default());
    assert!(all.answers.len() > 20);
    for report in [mixed(), unread(), all] {
        for text in [
            check::sarif::render(&report).to_string(),
            check::junit::render(&report, Severity::Error),
            check::markdown::render(&report),
            check::html::render(&report),
        ] {
            for answered in &report.answers {
                assert!(text.contains(answered.rule.code), "{}", answered.rule.code);
            }
        }
    }
}

/// An interrupt's action is named by a driver, a thread by itself.
#[test]
fn names_from_the_machine_cannot_become_markup() {
    let ask =
        CheckOptions { cpus: Some("0".parse().expect("a list")), ..CheckOptions::of(Profile::Realtime) };
    let tree = FsRoot::memory(&[
        ("/proc/sys/kernel/osrelease", "6.1\u{1b}[31m</testcase><script>alert(1)<|`@ann`\u{ffff}&\"\n"),
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/proc/irq/24/disk\u{1b}[31m<script>\"&|`@ann`/x", ""),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/default_smp_affinity", "1\n"),
    ]);
    let report = check(&Snapshot::read(&tree), &ask, &Selection::default());
    let (page, xml) = (check::html::render(&report), check::junit::render(&report, Severity::Info));
    let md = check::markdown::render(&report);
    for text in [&page, &xml, &md] {
        assert!(text.contains("disk") && !text.contains('\u{1b}'), "{text}");
    }
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!xml.contains("<script") && !xml.contains('\u{ffff}') && xml.contains("&lt;script&gt;"), "{xml}");
    assert_eq!(
        xml.matches("</testcase>").count(),
        cases(&xml).iter().filter(|case| case.1.is_some()).count()
    );
    // Evidence is code, where it is shown as it is.
    for line in md.lines().filter(|line| !line.starts_with("- `")) {
        assert!(!line.contains("<script") && !line.contains("@ann"), "{line}");
    }
}
