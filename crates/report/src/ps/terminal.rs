//! Threads and interrupts as tables for a terminal.

use super::view::PsView;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::{Comm, Ns, Policy};
use whylate_threads::ps::{BlockedOn, InterruptRow, PsReport, ThreadRow};

/// The tables as text. Ends with a line break.
pub fn render(view: &PsView<'_>, style: &Style) -> String {
    let report = view.report;
    let mut page = Page::new(style);
    page.facts(&facts(report));
    threads(&mut page, report);
    if view.interrupts {
        page.gap();
        interrupts(&mut page, report);
    }
    notes(&mut page, report);
    page.finish()
}

/// The headline: how many threads, over which time, the machine's page faults.
pub fn facts(report: &PsReport) -> Vec<String> {
    let mut facts =
        vec![format!("{} of {}", report.threads.len(), words::plural(report.all_threads as u64, "thread"))];
    facts.push(match report.interval {
        Some(interval) => format!("rates over {interval}"),
        None => "sums since each thread started".to_owned(),
    });
    if let Some(faults) = report.page_faults {
        facts.push(match (faults.rate, faults.major_rate) {
            (Some(all), Some(major)) => {
                format!("page faults of the machine: {} a second, {} major", rate(all), rate(major))
            }
            _ => format!(
                "page faults of the machine: {}, {} major",
                words::count(faults.all),
                words::count(faults.major)
            ),
        });
    }
    facts
}

/// The heading of each column, and how it is aligned.
const COLUMNS: [(&str, Align); 11] = [
    ("thread", Align::Left),
    ("policy", Align::Left),
    ("CPUs", Align::Left),
    ("on", Align::Right),
    ("CPU", Align::Right),
    ("waits", Align::Right),
    ("vol", Align::Right),
    ("invol", Align::Right),
    ("faults", Align::Right),
    ("locked", Align::Right),
    ("blocked on", Align::Left),
];

/// The headings of the table of threads.
pub fn headings() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(heading, _)| heading)
}

fn threads(page: &mut Page, report: &PsReport) {
    if report.threads.is_empty() {
        page.gap();
        page.paragraph(0, "No thread is selected: --all shows those that are not real-time.", Ink::Strong);
        return;
    }
    let mut rows = vec![headings().map(|heading| Cell::new(heading, Ink::Faint)).to_vec()];
    rows.extend(report.threads.iter().map(|row| {
        let mut cells = cells(row, report.interval.is_some()).map(Cell::from).to_vec();
        if !row.odd.is_empty() {
            cells[0] = Cell::new(name(row), Ink::Yellow);
        }
        cells
    }));
    page.table(0, &COLUMNS.map(|(_, align)| align), &rows);
}

/// The cells of a thread, in the order of [`headings`]: rates, or the sums since it started. A thread that started between
/// the samples has no rates.
pub fn cells(row: &ThreadRow, rated: bool) -> [String; COLUMNS.len()] {
    let counted = |a_second: Option<f64>, sum: Option<u64>| match rated {
        true => a_second.map(rate),
        false => sum.map(words::count),
    };
    let timed = |share: Option<f64>, sum: Option<Ns>| match rated {
        true => share.map(words::percent),
        false => sum.map(|time| time.to_string()),
    };
    let rates = row.rates;
    let faults = row.usage.minor_faults.zip(row.usage.major_faults).map(|(minor, major)| minor + major);
    let optional: [Option<String>; 9] = [
        row.cpus.as_ref().map(ToString::to_string),
        row.last_cpu.map(|cpu| cpu.to_string()),
        timed(rates.and_then(|rates| rates.cpu_share), row.cpu_time),
        timed(rates.and_then(|rates| rates.waiting_share), row.run_delay),
        counted(rates.and_then(|rates| rates.voluntary), row.usage.voluntary_switches),
        counted(rates.and_then(|rates| rates.involuntary), row.usage.involuntary_switches),
        counted(rates.and_then(|rates| rates.faults), faults),
        row.usage.locked_bytes.map(size),
        row.blocked_on.as_ref().map(|blocked| words::clean(&blocked_on(blocked))),
    ];
    let [cpus, on, cpu, waits, vol, invol, faults, locked, blocked] =
        optional.map(|text| text.unwrap_or_else(|| "-".to_owned()));
    [name(row), policy(row), cpus, on, cpu, waits, vol, invol, faults, locked, blocked]
}

fn name(row: &ThreadRow) -> String {
    words::thread(&Comm::from(row.comm.as_str()), row.tid)
}

/// As chrt(1) shows it: `fifo 50`; of an ordinary thread its nice value, where it has one.
fn policy(row: &ThreadRow) -> String {
    match row.policy {
        Some(policy @ (Policy::Fifo | Policy::Rr)) => format!("{} {}", policy.name(), row.priority),
        Some(policy) if row.nice != 0 => format!("{} {}", policy.name(), row.nice),
        Some(policy) => policy.name().to_owned(),
        None => "unknown".to_owned(),
    }
}

/// A rate in a second: whole where that is enough.
fn rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        rate if rate < 9.95 => format!("{rate:.1}"),
        rate => words::count(rate.round() as u64),
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{}K", bytes >> 10),
        mebibytes => format!("{mebibytes}M"),
    }
}

/// `futex_do_wait, lock held by 412, futex 0x7f...`; what is worth most comes first, as the end may be cut.
fn blocked_on(blocked: &BlockedOn) -> String {
    let mut parts: Vec<String> = blocked.function.iter().cloned().collect();
    if let Some(futex) = blocked.futex {
        parts.extend(futex.owner.map(|owner| format!("lock held by {owner}")));
        parts.push(format!("futex {:#x}", futex.address));
    }
    parts.extend(blocked.files.iter().cloned());
    parts.join(", ")
}

fn interrupts(page: &mut Page, report: &PsReport) {
    let mut rows = vec![interrupt_headings().map(|heading| Cell::new(heading, Ink::Faint)).to_vec()];
    rows.extend(
        report
            .irqs
            .iter()
            .filter(|irq| irq.per_cpu.iter().any(|&count| count > 0))
            .map(|irq| interrupt_cells(irq).map(Cell::from).to_vec()),
    );
    let mut aligns = [Align::Left; 8];
    aligns[3] = Align::Right;
    page.table(0, &aligns, &rows);
}

/// The headings of the table of interrupts.
pub fn interrupt_headings() -> [&'static str; 8] {
    ["irq", "kind", "device", "rate", "on", "affinity", "effective", "thread"]
}

/// The cells of an interrupt, in the order of [`interrupt_headings`].
pub fn interrupt_cells(irq: &InterruptRow) -> [String; 8] {
    let list = |cpus: &Option<whylate_base::CpuSet>| {
        cpus.as_ref().map(ToString::to_string).unwrap_or_else(|| "-".to_owned())
    };
    let rate_or_sum = match irq.rate() {
        Some(all) => format!("{}/s", rate(all)),
        None => words::count(irq.per_cpu.iter().sum()),
    };
    let on: whylate_base::CpuSet = (0u32..)
        .zip(&irq.per_cpu)
        .filter(|(cpu, count)| match irq.per_cpu_rate.get(*cpu as usize) {
            Some(rate) => rate.is_some_and(|rate| rate > 0.0),
            None => **count > 0,
        })
        .map(|(cpu, _)| whylate_base::Cpu(cpu))
        .collect();
    let thread = irq.thread.as_ref().map(|thread| {
        let policy = thread.policy.map_or("unknown", Policy::name);
        format!(
            "{} {policy} {}",
            words::thread(&Comm::from(thread.comm.as_str()), thread.tid),
            thread.priority
        )
    });
    [
        irq.irq.map_or_else(|| irq.name.clone(), |irq| irq.to_string()),
        irq.kind.name().to_owned(),
        match irq.irq {
            Some(_) => words::clean(&irq.name),
            None => words::clean(&irq.description),
        },
        rate_or_sum,
        if on.is_empty() { "-".to_owned() } else { on.to_string() },
        list(&irq.affinity),
        list(&irq.effective_affinity),
        thread.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// What is odd, and what could not be read.
fn notes(page: &mut Page, report: &PsReport) {
    page.gap();
    for row in &report.threads {
        for odd in &row.odd {
            let label = format!("{}: ", name(row));
            let text = format!("{} [{}]", odd.text, odd.code);
            page.labelled(0, (&label, Ink::Yellow), &words::clean(&text), Ink::Plain);
        }
    }
    for note in &report.notes {
        page.labelled(0, ("note: ", Ink::Faint), &words::clean(note), Ink::Plain);
    }
}
