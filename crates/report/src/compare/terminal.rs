//! Runs side by side: better or worse, why, and what moved.

use crate::compare::runs::{self, Compared, News};
use crate::measure::terminal::long_run;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page, distribution};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_investigate::compare::{CauseShift, Difference, Pair, Prepared, RunVerdict};

/// Rows of settings, and of causes, that are written; the JSON has all.
const ROWS: usize = 20;

/// Runs side by side as text: gates, better or worse and why, what moved, causes, settings and claims. Ends with a line
/// break.
pub fn render(compared: &Compared, style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, compared);
    text.finish()
}

fn write(page: &mut Page, compared: &Compared) {
    let runs = &compared.comparison.runs;
    gates(page, compared);
    for pair in &compared.comparison.pairs {
        page.gap();
        self::pair(page, compared, pair);
    }
    claims(page, compared);
    if compared.comparison.pairs.is_empty() {
        page.gap();
    }
    numbers(page, runs);
    notes(page, runs);
}

fn pair(page: &mut Page, compared: &Compared, pair: &Pair) {
    let ink = match pair.verdict {
        RunVerdict::Better => Ink::Green,
        RunVerdict::Worse => Ink::Red,
        RunVerdict::Mixed | RunVerdict::CannotTell => Ink::Yellow,
        RunVerdict::Same => Ink::Strong,
    };
    page.paragraph(0, &compared.verdict(pair), ink);
    pair.why.iter().for_each(|why| page.labelled(2, ("- ", Ink::Faint), &words::clean(why), Ink::Plain));
    page.gap();
    let names = (compared.label(pair.before), compared.label(pair.after));
    shifts(page, &names, &[(String::new(), &pair.all)]);
    match runs::threads(pair) {
        Ok(differ) if differ.is_empty() => {}
        Ok(differ) => {
            page.gap();
            shifts(page, &names, &differ);
            if let Some(left_out) = runs::left_out(pair) {
                page.paragraph(0, &left_out, Ink::Faint);
            }
        }
        Err(why) => {
            page.gap();
            page.paragraph(0, why, Ink::Faint);
        }
    }
    causes(page, &pair.causes);
    settings(page, pair);
}

/// The quantiles of all threads together, or of some of them one by one.
fn shifts(page: &mut Page, names: &(String, String), parts: &[(String, &Difference)]) {
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
        let mut own = name.clone();
        for moved in runs::moved(part) {
            let ink = if moved.is_shown { Ink::Strong } else { Ink::Plain };
            rows.push(vec![
                std::mem::take(&mut own).into(),
                moved.statistic.into(),
                moved.before.into(),
                moved.after.into(),
                Cell::new(moved.by, ink),
                Cell::new(moved.chance, Ink::Faint),
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
    let mut rows = vec![vec![faint(""), faint("cause of late samples"), faint("before"), faint("now")]];
    for cause in causes.iter().take(ROWS) {
        let who = match &cause.culprit {
            Some(culprit) => format!("{}, {}", words::clean(&cause.cause), words::clean(culprit)),
            None => words::clean(&cause.cause),
        };
        let news = News::of(cause);
        let ink = match news {
            News::Gone => Ink::Green,
            News::New => Ink::Red,
            News::None => Ink::Plain,
        };
        let (before, after) = (runs::seen(cause.before), runs::seen(cause.after));
        rows.push(vec![Cell::new(news.word(), ink), who.into(), before.into(), after.into()]);
    }
    page.table(0, &[Align::Left; 4], &rows);
    more(page, causes.len());
    if let Some(why) = runs::unsure(causes) {
        page.paragraph(0, why, Ink::Faint);
    }
}

fn settings(page: &mut Page, pair: &Pair) {
    page.gap();
    match runs::settings(pair) {
        Err(why) => page.paragraph(0, &why, Ink::Faint),
        Ok(settings) => {
            page.line(&[("What changed in the machine:", Ink::Strong)]);
            for setting in settings.iter().take(ROWS) {
                let label = format!("{}  ", words::clean(&setting.name));
                let (before, after) =
                    (runs::value(setting.before.as_ref()), runs::value(setting.after.as_ref()));
                page.labelled(2, (&label, Ink::Cyan), &format!("{before} -> {after}"), Ink::Plain);
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
        let (text, is_met) = runs::gate(&gated.judged);
        let (word, ink) = match is_met {
            Some(true) => ("met    ", Ink::Green),
            Some(false) => ("MISSED ", Ink::Red),
            None => ("?      ", Ink::Yellow),
        };
        page.labelled(0, (word, ink), &format!("{}: {text}", compared.label(gated.run)), Ink::Plain);
    }
}

fn claims(page: &mut Page, compared: &Compared) {
    for claiming in &compared.claims {
        page.gap();
        long_run::claim(page, &compared.label(claiming.run), &claiming.claimed);
    }
}

/// The runs themselves.
fn numbers(page: &mut Page, runs: &[Prepared]) {
    page.gap();
    let names = ["run", "samples"].into_iter().chain(words::DISTRIBUTION);
    let mut rows = vec![names.map(|name| Cell::new(name, Ink::Faint)).collect()];
    rows.extend(
        runs.iter().map(|run| distribution(short(&words::clean(&run.run.label)), &run.all.histogram)),
    );
    let mut aligns = [Align::Right; 8];
    aligns[0] = Align::Left;
    page.table(0, &aligns, &rows);
}

fn notes(page: &mut Page, runs: &[Prepared]) {
    page.gap();
    for (label, note) in runs::notes(runs) {
        page.labelled(0, ("- ", Ink::Faint), &format!("{label}: {note}"), Ink::Faint);
    }
}

/// A file's name that leaves room for numbers.
fn short(label: &str) -> String {
    crate::terminal::layout::cut(label, 24)
}
