//! The mistakes of a program in every format.

use crate::html::{assert_page, assert_well_formed};
use crate::sample::by_hand;
use crate::schema_check::violations;
use crate::{assert_current, fixture};
use whylate_base::{Comm, Ns, Policy, Severity, SourceLocation, Tid};
use whylate_investigate::doctor::{CallTotal, DoctorFinding, DoctorReport, FoundThread, ThreadReport};
use whylate_report::{Format, Render, Style, doctor};

fn line(file: &str, line: u32, function: &str) -> SourceLocation {
    SourceLocation {
        function: Some(function.to_owned()),
        file: Some(file.to_owned()),
        line: Some(line),
        module: Some("/opt/control".to_owned()),
        offset: Some(0x1234),
    }
}

fn thread(tid: i32, comm: &str, policy: Policy, priority: u32) -> ThreadReport {
    ThreadReport {
        tid: Tid(tid),
        pid: Tid(410),
        comm: Comm::from_bytes(comm.as_bytes()),
        policy,
        priority,
        cpus: "2-3".parse().ok(),
        minor_faults: 1_204,
        major_faults: 0,
        voluntary_switches: 300,
        involuntary_switches: 2,
        run_delay: Some(Ns::from_us(870)),
        locked_bytes: Some(18 << 20),
        waits: policy.is_realtime().then_some(300),
        calls: Vec::new(),
    }
}

fn call(name: &str, count: u64, total: Ns, location: Option<SourceLocation>) -> CallTotal {
    CallTotal { name: name.to_owned(), count, total, worst: Ns::from_ms(7), location }
}

/// A lock, a write and a setting, with names as they are given.
fn named(comm: &str, file: &str) -> DoctorReport {
    let control = FoundThread { tid: Tid(411), comm: Comm::from_bytes(comm.as_bytes()) };
    let logger = FoundThread { tid: Tid(412), comm: Comm::from_bytes(b"logger") };
    let finding = |code, severity, title: String| DoctorFinding {
        code,
        severity,
        title,
        thread: Some(control),
        location: Some(line(file, 40, "step")),
        other: None,
        count: 3,
        worst: Some(Ns::from_us(2_940)),
        why: "the owner keeps its own low priority".to_owned(),
        fix: vec![by_hand("PTHREAD_PRIO_INHERIT"), by_hand("share no lock")],
    };
    let mut threads = vec![thread(411, comm, Policy::Fifo, 60), thread(412, "logger", Policy::Other, 0)];
    threads[0].calls = vec![
        call("clock_nanosleep", 300, Ns::from_ms(1_480), Some(line(file, 33, "main"))),
        call("write", 12, Ns::from_ms(8), None),
    ];
    (threads[1].run_delay, threads[1].cpus, threads[1].locked_bytes) = (None, None, None);
    DoctorReport {
        duration: Ns::from_ms(1_530),
        threads,
        findings: vec![
            DoctorFinding {
                other: Some((logger, Some(line(file, 21, "log")))),
                ..finding(
                    "mutex-without-inheritance",
                    Severity::Error,
                    format!("{comm}:411 waited for a mutex"),
                )
            },
            DoctorFinding {
                location: None,
                worst: None,
                fix: vec![by_hand("a lower priority")],
                ..finding("fifo-99", Severity::Warning, format!("{comm}:411 has priority 99"))
            },
        ],
        unseen: vec![format!("{comm} is not seen")],
        child: None,
    }
}

fn sample() -> DoctorReport {
    named("control", "/src/control.c")
}

/// A name that a thread gives itself; those of files and functions are what the debug information and the symbol table of
/// a program have, and notes quote the paths of its modules.
fn hostile() -> DoctorReport {
    const EVIL: &str = "<script>alert(1)</script>|`@ann`\u{202e}\u{1b}[2J\u{9b}31m\r\n| a |.c";
    let mut report = named("\u{1b}[31m<b>|`@a`", &format!("/src/{EVIL}"));
    let rename = |location: &mut Option<SourceLocation>| {
        if let Some(location) = location {
            (location.function, location.module) = (Some(EVIL.to_owned()), Some(EVIL.to_owned()));
        }
    };
    for finding in &mut report.findings {
        rename(&mut finding.location);
        finding.other.iter_mut().for_each(|(_, location)| rename(location));
    }
    report
        .threads
        .iter_mut()
        .flat_map(|thread| &mut thread.calls)
        .for_each(|call| rename(&mut call.location));
    // Of a stripped program only the module is known, and of a library the function as well.
    let mut stripped = report.findings[0].clone();
    let module = SourceLocation { module: Some(EVIL.to_owned()), ..SourceLocation::default() };
    stripped.location = Some(SourceLocation { function: Some(EVIL.to_owned()), ..module.clone() });
    stripped.other.iter_mut().for_each(|(_, location)| *location = Some(module.clone()));
    report.findings.push(stripped);
    report.unseen.push(format!("{EVIL} cannot be read; its functions are addresses only"));
    report
}

fn without(findings: bool, threads: bool) -> DoctorReport {
    let mut report = sample();
    if !findings {
        report.findings.clear();
    }
    if !threads {
        report.threads.clear();
    }
    report
}

#[test]
fn it_reads_as_before() {
    let style = Style { color: false, width: 110 };
    assert_current(&fixture("doctor.txt"), &doctor::terminal::render(&sample(), &style));
    assert_current(&fixture("doctor.md"), &doctor::markdown::render(&sample()));
    assert_current(&fixture("doctor.json"), &format!("{:#}\n", doctor::json::render(&sample())));
    assert_page("doctor.html", &doctor::html::render(&sample()));
}

#[test]
fn documents_obey_the_schema() {
    let schema = doctor::json::schema();
    for report in [sample(), hostile(), without(false, false), DoctorReport::default()] {
        assert_eq!(violations(&schema, &doctor::json::render(&report)), Vec::<String>::new());
    }
}

#[test]
fn pages_are_well_formed_and_load_nothing() {
    for report in [sample(), hostile(), without(false, true), without(true, false), DoctorReport::default()] {
        let page = doctor::html::render(&report);
        assert_well_formed(&page);
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "url(", "@import", "<link", "fetch(", "XMLHttp"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

#[test]
fn each_format_has_each_finding_with_its_lines_and_threads() {
    let report = sample();
    for &format in <DoctorReport as Render>::FORMATS {
        let text = match report.render(format, &Style { color: false, width: 200 }).expect("every format") {
            whylate_report::Rendered::Text(text) => text,
            whylate_report::Rendered::Document(document) => document.to_string(),
        };
        let mut parts =
            vec!["mutex-without-inheritance", "fifo-99", "control.c", "PTHREAD_PRIO_INHERIT", "is not seen"];
        if format != Format::Sarif {
            parts.extend(["fifo", "logger", "clock_nanosleep"]);
        }
        for part in parts {
            assert!(text.contains(part), "{format:?}: {part}: {text}");
        }
    }
}

/// No real-time thread: nothing can be concluded. One without a finding: nothing was found.
#[test]
fn nothing_found_is_not_cannot_tell() {
    let nothing = without(false, true);
    let unknown = without(false, false);
    for (report, sentence, other) in [
        (nothing, "Nothing found", "Cannot tell: no real-time"),
        (unknown, "Cannot tell: no real-time", "Nothing found"),
    ] {
        let text = doctor::terminal::render(&report, &Style { color: false, width: 200 });
        for text in [text, doctor::html::render(&report), doctor::markdown::render(&report)] {
            assert!(text.contains(sentence) && !text.contains(other), "{text}");
        }
    }
}

#[test]
fn names_cannot_become_markup_or_escape_sequences() {
    let report = hostile();
    let page = doctor::html::render(&report);
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<b>|"));
    let text = doctor::terminal::render(&report, &Style { color: false, width: 100 });
    let markdown = doctor::markdown::render(&report);
    for text in [&page, &text, &markdown] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\r']), "{text}");
    }
    // A code host shows the strings of SARIF.
    let sarif = doctor::sarif::render(&report).to_string();
    assert!(
        !["\\u001b", "\\u009b", "\\r", "\u{9b}", "\u{202e}"].iter().any(|evil| sarif.contains(evil)),
        "{sarif}"
    );
    // A place is code, where it is shown as it is.
    for line in markdown.lines().filter(|line| !line.starts_with("at: `") && !line.starts_with("other: `")) {
        assert!(!line.contains("<b>") && !line.contains("<script") && !line.contains("@a"), "{line}");
    }
    for row in markdown.lines().filter(|line| line.starts_with("| ")) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 10, "{row}");
    }
}
