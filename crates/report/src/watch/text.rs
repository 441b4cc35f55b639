//! The events of a watch as lines of text.

use super::facts;
use crate::explain::terminal::activation;
use crate::guard::text::LogLevel;
use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_investigate::watch::{LateActivation, WatchEvent};

/// The lines of an event, without line breaks; none where there is nothing to report.
pub fn lines(event: &WatchEvent<'_>) -> Vec<(LogLevel, String)> {
    match event {
        WatchEvent::Started(sentences) => {
            let notes = sentences.iter().map(|sentence| (LogLevel::Info, words::clean(sentence)));
            std::iter::once((LogLevel::Info, "watching".to_owned())).chain(notes).collect()
        }
        WatchEvent::Late(late) => vec![(LogLevel::Warning, one_line(late))],
        WatchEvent::Recording { dropped, paused } => vec![(LogLevel::Warning, recording(dropped, *paused))],
        WatchEvent::Reloaded(Ok(rules)) => {
            vec![(
                LogLevel::Info,
                format!("the configuration was read again: {}", words::plural(*rules as u64, "rule")),
            )]
        }
        WatchEvent::Reloaded(Err(why)) => vec![(
            LogLevel::Warning,
            format!("the configuration was not read again, and the old one stays: {}", words::clean(why)),
        )],
        WatchEvent::Progress(_) => Vec::new(),
    }
}

fn recording(dropped: &[&str], paused: Option<whylate_base::Ns>) -> String {
    match (paused, dropped.is_empty()) {
        (Some(pause), _) => {
            format!(
                "nothing is recorded for {pause}: the events cost more CPU time than the bound (--max-cpu)"
            )
        }
        (None, false) => format!(
            "not recorded from now on, to keep the bound on CPU time (--max-cpu): {}",
            dropped.join(", ")
        ),
        (None, true) => "all kinds of events are recorded again".to_owned(),
    }
}

/// A late activation in one line.
pub fn one_line(late: &LateActivation) -> String {
    let activation = &late.activation;
    let verdict = &activation.verdict;
    let window = match (&late.window, &late.not_kept) {
        (Some(window), _) => format!("; window: {window}"),
        (None, Some(why)) => format!("; no window: {why}"),
        (None, None) => String::new(),
    };
    let dropped = match late.dropped.is_empty() {
        true => String::new(),
        false => format!("; not recorded then: {}", late.dropped.join(", ")),
    };
    format!(
        "late: {} took {}, more than {}: {}: {}{dropped}{window}",
        words::thread(&activation.comm, activation.tid),
        activation.response(),
        late.limit,
        verdict.cause,
        words::clean(&verdict.why)
    )
}

/// A late activation in full, as `explain` prints it.
pub fn in_full(late: &LateActivation) -> String {
    let mut page = Page::new(&Style::default());
    page.led(0, ("", Ink::Plain), &one_line(late), Ink::Strong);
    page.facts(&[format!("due at {}", facts::date(late.at))]);
    page.gap();
    activation::write(&mut page, "", &late.activation);
    page.finish()
}
