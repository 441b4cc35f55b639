//! The HTML file: whole, self-contained, and safe whatever a thread calls itself.

use crate::check::{mixed, unread};
use crate::text_pieces::{missing, pieces};
use crate::{assert_current, fixture, sample};
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_ledger::{CpuTrack, OnCpu, Slice};
use whylate_report::{Style, check, explain, measure};

#[test]
fn page_is_as_before() {
    assert_page("story.html", &explain::html::render(&sample::story()));
    assert_page("measure.html", &measure::html::render(&sample::measurement()));
}

/// Compares a page without its style and script: these have one fixture for all pages.
#[track_caller]
pub(crate) fn assert_page(name: &str, page: &str) {
    assert_current(&fixture(name), &markup(page));
}

/// The rules that every page has, and those of the causes that this one shows.
#[test]
fn style_is_as_before() {
    let page = explain::html::render(&sample::story());
    let start = page.find("<style>").expect("a style") + "<style>".len();
    let end = page.find("</style>").expect("its end");
    assert_current(&fixture("story.css"), &page[start..end]);
    for (cause, is_shown) in [("rt-throttled", true), ("starved", false)] {
        assert_eq!(page.contains(&format!(".c-{cause}{{")), is_shown, "{cause}");
    }
    let rules = |page: &str| page.split("</style>").next().is_some_and(|head| head.contains(".c-own-work{"));
    assert!(!rules(&check::html::render(&mixed())), "a page without causes has no colours of theirs");
}

/// The page without what the style and the script contain, which is not markup.
fn markup(page: &str) -> String {
    let mut page = page.to_owned();
    for element in ["style", "script"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let start = page.find(&open).expect("one of each") + open.len();
        let end = page.find(&close).expect("closed");
        assert_eq!(page.matches(&close).count(), 1, "{element}");
        page.replace_range(start..end, "");
    }
    page
}

/// Every tag opened is closed in its turn.
pub(crate) fn assert_well_formed(page: &str) {
    const VOID: [&str; 2] = ["meta", "br"];
    let markup = markup(page);
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "a bare > before {}", &rest[start..rest.len().min(start + 80)]);
        let end = rest[start..].find('>').expect("a tag ends") + start;
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        assert!(!tag.contains('<'), "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "closing {name}"),
            None => {
                let name = tag.split(' ').next().unwrap_or_default();
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{tag}");
                if !VOID.contains(&name) {
                    open.push(name);
                }
            }
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn pages_are_well_formed() {
    for sample in
        [sample::story(), sample::with_stacks(), sample::section(), sample::empty(), sample::hostile()]
    {
        assert_well_formed(&explain::html::render(&sample));
    }
    for sample in [sample::measurement(), sample::poor_measurement()] {
        assert_well_formed(&measure::html::render(&sample));
    }
    for report in [mixed(), unread()] {
        assert_well_formed(&check::html::render(&report));
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = explain::html::render(&sample::story())
        + &measure::html::render(&sample::measurement())
        + &check::html::render(&mixed());
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "url(", "@import", "<link", "fetch(", "XMLHttp", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn names_cannot_become_markup() {
    let hostile = sample::hostile();
    let mut measured = sample::measurement();
    measured.spikes[0].answer = Ok(hostile.activations[3].clone());
    measured.findings = hostile.findings.clone();
    for page in [explain::html::render(&hostile), measure::html::render(&measured)] {
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!page.contains(['\x1b', '\u{202e}']));
    }
}

/// A rectangle's width is its function's share of the worst activations, and its colour how that differs from the others.
#[test]
fn stacks_are_folded_and_own_work_is_a_flame_graph() {
    let page = markup(&explain::html::render(&sample::with_stacks()));
    let (flame, _) =
        page.split_once("<svg class=\"flame\"").expect("one").1.split_once("</svg>").expect("its end");
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 1, "of the one thread with samples");
    for (name, width, class) in
        [("main", "1136.0", "more"), ("filter", "284.0", "same"), ("tune", "852.0", "more")]
    {
        let rect = flame.split("<rect ").find(|rect| rect.contains(&format!("<title>{name}"))).expect(name);
        assert!(rect.contains(&format!("width=\"{width}\"")), "{rect}");
        assert!(rect.contains(&format!("class=\"{class}\"")), "{rect}");
    }
    assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'));
    let (place, _) = page
        .split_once("<details class=\"calls\">")
        .expect("a place")
        .1
        .split_once("</details>")
        .expect("an end");
    assert!(
        place.contains("its own work: rtload.cpp:40") && place.contains("<li>rtload.cpp:9 (`main`)</li>"),
        "{place}"
    );
    assert!(
        page.contains("CPU time of the 10 worst activations against the other 90, sampled every 1.00 ms"),
        "{page}"
    );
    assert!(
        !markup(&explain::html::render(&sample::story())).contains("flame"),
        "nothing of it without stacks"
    );
}

#[test]
fn all_that_matters_is_there_without_script() {
    let page = markup(&explain::html::render(&sample::story()));
    for text in [
        "rtload:312",
        "RT throttling hit 3 times",
        "46.90 ms",
        "kernel.sched_rt_runtime_us=-1",
        "multipathd:977 (rt 99)",
        "irq 127 eth0-rx-0",
        "softirq NET_RX",
        "lock:contention_begin",
        "12 events lost",
        "page ends in the middle",
        ">CPU 0<",
        ">CPU 1<",
        ">running +46.91 ms<",
        ">20 ms<",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<svg class=\"timeline\"").count(), 4, "one for each activation");
}

/// Loads, spikes by cause, the claim, what lies beyond, what is to be known of it all.
#[test]
fn the_page_of_a_measurement_shows_what_the_terminal_shows() {
    for sample in [sample::measurement(), sample::poor_measurement()] {
        let text = measure::terminal::render(&sample, &Style { color: false, width: 4_000 });
        // Of activations the page shows the same in another way: a timeline, and words for numbers.
        let without: Vec<&str> = text
            .split("\n\n")
            .filter(|part| !part.contains(" by the thread's clock"))
            .filter(|part| !part.starts_with("worst ") && !part.starts_with("CPU "))
            .collect();
        assert!(without.len() >= 2, "{text}");
        let mut shown = pieces(&without.join("\n"));
        // Labels, for which the page has colours and signs.
        let labels = ["fix", "because", "warning", "warning[higher-priority-task]"];
        shown.retain(|piece| !labels.contains(&piece.as_str()));
        let missing = missing(shown, &markup(&measure::html::render(&sample)));
        assert_eq!(missing, Vec::<String>::new());
    }
}

/// A group leads to the worst of its spikes that is listed, a mark in the plot to its own.
#[test]
fn what_is_linked_is_there() {
    let page = markup(&measure::html::render(&sample::measurement()));
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.contains(&"spike-0") && links.contains(&"spike-1"), "{links:?}");
    for link in links {
        assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
}

#[test]
fn dense_lanes_stay_small_and_lose_nothing() {
    let mut sample = sample::story();
    let activation = &mut sample.activations[0];
    let span = activation.end - activation.due;
    let count: i64 = 200_000;
    let slices = (0..count).map(|i| Slice {
        start: activation.due + Ns(span.0 * i / count),
        end: activation.due + Ns(span.0 * (i + 1) / count),
        on_cpu: match i % 3 {
            0 => OnCpu::Idle,
            1 => OnCpu::Softirq { vec: 3 },
            _ => OnCpu::Task { tid: Tid(7), comm: Comm::from("busy"), priority: Priority::DEFAULT },
        },
    });
    activation.tracks = vec![CpuTrack { cpu: Cpu(0), slices: slices.collect() }];
    let small = explain::html::render(&sample::story()).len();
    let page = explain::html::render(&sample);
    assert!(page.len() < small + 300_000, "{} bytes", page.len());
    let drawn: i64 = page
        .split("<title>")
        .filter_map(|title| title.split_once(" drawn as one")?.0.parse::<i64>().ok())
        .sum();
    assert_eq!(drawn, count, "every slice is counted in one box");
}

#[test]
fn candidates_are_on_the_page() {
    let page = explain::html::render(&sample::candidates());
    assert_well_formed(&page);
    for text in [
        "No thread of this trace has a real-time policy",
        "a|b &lt;i&gt;:77",
        "12,345",
        "on CPUs 1-2",
        "--task COMM|TID",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
