//! Runs side by side: better or worse, why, and what moved.

use super::layout::{Align, Cell, Page};
use super::paint::Ink;
use crate::compared::{Carried, Compared, carried, gate, known, signed};
use crate::words;
use whylate_investigate::compare::{CauseShift, Pair, Part, Seen, Statistic, Verdict};
use whylate_stats::{Histogram, Run};

/// Rows of settings, and of causes, that are written; the JSON has all.
const ROWS: usize = 20;

pub(super) fn write(page: &mut Page, compared: &Compared) {
    let runs = &compared.comparison.runs;
    for (at, pair) in compared.comparison.pairs.iter().enumerate() {
        page.gap();
        self::pair(page, compared, at + 1, pair);
    }
    gates(page, compared);
    claims(page, compared);
    if compared.comparison.pairs.is_empty() {
        page.gap();
    }
    numbers(page, runs);
    notes(page, runs);
}

fn pair(page: &mut Page, compared: &Compared, run: usize, pair: &Pair) {
    let ink = match pair.verdict {
        Verdict::Better => Ink::Green,
        Verdict::Worse => Ink::Red,
        Verdict::Mixed | Verdict::CannotTell => Ink::Yellow,
        Verdict::Same => Ink::Strong,
    };
    page.paragraph(0, &compared.verdict(run, pair.verdict), ink);
    pair.why.iter().for_each(|why| page.labelled(2, ("- ", Ink::Faint), &words::clean(why), Ink::Plain));
    page.gap();
    let names = (compared.label(0), compared.label(run));
    shifts(page, &names, &[("", &pair.all)]);
    let differ: Vec<(&str, &Part)> = pair
        .threads
        .iter()
        .filter(|(_, part)| part.differs())
        .map(|(name, part)| (name.as_str(), part))
        .collect();
    if !pair.threads.is_empty() {
        page.gap();
        match differ.as_slice() {
            [] => page.line(&[("None of the threads differs on its own by more than chance.", Ink::Faint)]),
            differ => shifts(page, &names, differ),
        }
    }
    causes(page, &pair.causes);
    settings(page, pair);
}

/// The quantiles of all threads together, or of some of them one by one.
fn shifts(page: &mut Page, names: &(String, String), parts: &[(&str, &Part)]) {
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut rows = vec![vec![
        faint(""),
        faint("latency"),
        faint(&short(&names.0)),
        faint(&short(&names.1)),
        faint("by"),
        faint("with 95 %"),
    ]];
    for (name, part) in parts {
        let mut own = words::clean(name);
        for shift in &part.shifts {
            let ink = if shift.is_shown() { Ink::Strong } else { Ink::Plain };
            let interval = match shift.least.zip(shift.most) {
                Some((least, most)) => format!("{} to {}", signed(least), signed(most)),
                None => "too few samples".to_owned(),
            };
            rows.push(vec![
                std::mem::take(&mut own).into(),
                Statistic::Quantile(shift.q).to_string().into(),
                shift.before.to_string().into(),
                shift.after.to_string().into(),
                Cell::new(signed(shift.after - shift.before), ink),
                Cell::new(interval, Ink::Faint),
            ]);
        }
        if let Some((before, after)) = part.max {
            rows.push(vec![
                std::mem::take(&mut own).into(),
                "max".to_owned().into(),
                before.to_string().into(),
                after.to_string().into(),
                signed(after - before).into(),
                faint("of a maximum chance says nothing"),
            ]);
        }
    }
    if rows.len() > 1 {
        let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
        page.table(0, &aligns, &rows);
    }
}

fn causes(page: &mut Page, causes: &[CauseShift]) {
    if causes.is_empty() {
        return;
    }
    page.gap();
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let seen = |seen: Option<Seen>| match seen {
        Some(seen) => format!("{}, up to {}", words::plural(seen.count as u64, "time"), seen.worst),
        None => "-".to_owned(),
    };
    let mut rows = vec![vec![faint("cause of late samples"), faint("before"), faint("now"), faint("")]];
    for cause in causes.iter().take(ROWS) {
        let who = match &cause.culprit {
            Some(culprit) => format!("{}, {}", words::clean(&cause.cause), words::clean(culprit)),
            None => words::clean(&cause.cause),
        };
        let news = match (cause.before, cause.after) {
            (Some(_), None) => Cell::new("gone", Ink::Green),
            (None, Some(_)) => Cell::new("new", Ink::Red),
            _ => Cell::new("", Ink::Plain),
        };
        rows.push(vec![who.into(), seen(cause.before).into(), seen(cause.after).into(), news]);
    }
    page.table(0, &[Align::Left; 4], &rows);
    more(page, causes.len());
    if causes.iter().any(|cause| !cause.is_sure) {
        page.paragraph(
            0,
            "Not every late sample was explained: one that is gone may be among these.",
            Ink::Faint,
        );
    }
}

fn settings(page: &mut Page, pair: &Pair) {
    page.gap();
    match pair.settings.as_deref() {
        None => page.paragraph(
            0,
            "How the machine was set is not known of both: what changed cannot be told.",
            Ink::Faint,
        ),
        Some([]) => page.paragraph(0, "The machine was set in the same way.", Ink::Faint),
        Some(settings) => {
            page.line(&[("What changed in the machine:", Ink::Strong)]);
            let value =
                |value: &Option<String>| value.as_deref().map_or_else(|| "-".to_owned(), words::clean);
            for setting in settings.iter().take(ROWS) {
                let label = format!("{}  ", words::clean(&setting.name));
                let text = format!("{} -> {}", value(&setting.before), value(&setting.after));
                page.labelled(2, (&label, Ink::Cyan), &text, Ink::Plain);
            }
            more(page, settings.len());
        }
    }
}

fn more(page: &mut Page, all: usize) {
    if all > ROWS {
        page.line(&[(&format!("and {} more", all - ROWS), Ink::Faint)]);
    }
}

fn gates(page: &mut Page, compared: &Compared) {
    page.gap();
    for gated in &compared.gates {
        let (text, is_met) = gate(&gated.judged);
        let (word, ink) = match is_met {
            Some(true) => ("met    ", Ink::Green),
            Some(false) => ("MISSED ", Ink::Red),
            None => ("?      ", Ink::Yellow),
        };
        page.labelled(0, (word, ink), &format!("{}: {text}", compared.label(gated.run)), Ink::Plain);
    }
}

fn claims(page: &mut Page, compared: &Compared) {
    for claimed in &compared.claims {
        page.gap();
        let ink = match carried(&claimed.claim) {
            Carried::Measured => Ink::Green,
            Carried::Fitted => Ink::Yellow,
            Carried::No => Ink::Red,
        };
        let sentences = compared.claim(claimed);
        for (at, sentence) in sentences.iter().enumerate() {
            match at {
                0 => page.paragraph(0, &format!("{}: {sentence}", compared.label(claimed.run)), ink),
                _ => page.labelled(2, ("- ", Ink::Faint), sentence, Ink::Plain),
            }
        }
    }
}

/// The runs themselves.
fn numbers(page: &mut Page, runs: &[Run]) {
    page.gap();
    let names = ["run", "samples", "min", "mean", "p50", "p99", "p99.99", "max"];
    let mut rows = vec![names.map(|name| Cell::new(name, Ink::Faint)).to_vec()];
    for run in runs {
        let all: Histogram = run.all();
        let mut row: Vec<Cell> = [
            short(&words::clean(&run.label)),
            words::count(all.count()),
            known(all.min()),
            known(all.mean()),
            known(all.percentile(0.5)),
            known(all.tail(0.99)),
            known(all.tail(0.9999)),
        ]
        .map(Cell::from)
        .to_vec();
        row.push(Cell::new(known(all.max()), Ink::Strong));
        rows.push(row);
    }
    let mut aligns = [Align::Right; 8];
    aligns[0] = Align::Left;
    page.table(0, &aligns, &rows);
}

fn notes(page: &mut Page, runs: &[Run]) {
    page.gap();
    for run in runs {
        for note in &run.notes {
            let note = format!("{}: {}", words::clean(&run.label), words::clean(note));
            page.labelled(0, ("- ", Ink::Faint), &note, Ink::Faint);
        }
    }
}

/// A file's name that leaves room for numbers.
fn short(label: &str) -> String {
    super::layout::cut(label, 24)
}
