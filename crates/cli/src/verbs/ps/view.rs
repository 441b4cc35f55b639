//! What the full-screen view shows, and what the keys do.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use std::cmp::Ordering;
use whylate_report::ps::terminal::{cells, facts, headings, interrupt_cells, interrupt_headings};
use whylate_threads::ps::{PsOptions, PsReport, ThreadRow};

/// What follows a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Leave.
    End,
    /// Other threads are selected.
    Select,
    /// Only what is shown of them changed.
    Draw,
}

/// The state of the view.
pub(super) struct View {
    options: PsOptions,
    interrupts: bool,
    /// The column that sorts; `None`: in the order in which threads run.
    sorted: Option<usize>,
    reversed: bool,
    filter: String,
    /// The filter is being typed.
    typing: bool,
    scroll: usize,
}

const KEYS: &str = "q quit  </> sort  r reverse  / filter  a all  i interrupts  arrows scroll";

impl View {
    pub(super) fn new(options: PsOptions, interrupts: bool) -> View {
        View {
            options,
            interrupts,
            sorted: None,
            reversed: false,
            filter: String::new(),
            typing: false,
            scroll: 0,
        }
    }

    pub(super) fn options(&self) -> &PsOptions {
        &self.options
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Step {
        if key.kind == KeyEventKind::Release {
            return Step::Draw;
        }
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Step::End;
        }
        if self.typing {
            self.edit_filter(key.code);
            return Step::Draw;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Step::End,
            KeyCode::Char('a') => {
                self.options.all = !self.options.all;
                return Step::Select;
            }
            KeyCode::Char('i') => self.interrupts = !self.interrupts,
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Char('/') => self.typing = true,
            KeyCode::Char('>') | KeyCode::Right => self.sort_by(1),
            KeyCode::Char('<') | KeyCode::Left => self.sort_by(-1),
            KeyCode::Down => self.scroll += 1,
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll += 10,
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(10),
            KeyCode::Home => self.scroll = 0,
            _ => {}
        }
        Step::Draw
    }

    fn edit_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                self.typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
        self.scroll = 0;
    }

    /// The columns in a circle, with the order in which threads run between the last and the first.
    fn sort_by(&mut self, step: isize) {
        let choices = headings().len() + 1;
        let at = self.sorted.map_or(0, |column| column + 1);
        let next = (at + choices).wrapping_add_signed(step) % choices;
        self.sorted = next.checked_sub(1);
    }

    /// The threads as they are shown.
    fn rows<'a>(&self, report: &'a PsReport) -> Vec<(&'a ThreadRow, [String; 11])> {
        let rated = report.interval.is_some();
        let mut rows: Vec<_> = report.threads.iter().map(|row| (row, cells(row, rated))).collect();
        let wanted = self.filter.to_lowercase();
        rows.retain(|(_, cells)| cells.iter().any(|cell| cell.to_lowercase().contains(&wanted)));
        if let Some(column) = self.sorted {
            rows.sort_by(|(left, left_cells), (right, right_cells)| {
                match (number(left, column, rated), number(right, column, rated)) {
                    // A column of text. Else the largest comes first, and what is not known last.
                    (None, None) => left_cells[column].cmp(&right_cells[column]),
                    (left, right) => right.partial_cmp(&left).unwrap_or(Ordering::Equal),
                }
            });
        }
        if self.reversed {
            rows.reverse();
        }
        rows
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, report: &PsReport) {
        let lower = if self.interrupts { Constraint::Percentage(40) } else { Constraint::Length(0) };
        let [top, threads, irqs, bottom] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(3), lower, Constraint::Length(2)])
                .areas(frame.area());
        frame.render_widget(Paragraph::new(facts(report).join("  ")), top);
        self.draw_threads(frame, threads, report);
        if self.interrupts {
            draw_interrupts(frame, irqs, report);
        }
        let odd =
            report.threads.iter().find_map(|row| Some(format!("{}: {}", row.comm, row.odd.first()?.text)));
        let filter = match (self.typing, self.filter.is_empty()) {
            (true, _) => format!("filter: {}_", self.filter),
            (false, false) => format!("filter: {}  {KEYS}", self.filter),
            (false, true) => KEYS.to_owned(),
        };
        let odd = Line::from(Span::styled(odd.unwrap_or_default(), Style::new().fg(Color::Yellow)));
        frame.render_widget(Paragraph::new(vec![odd, Line::from(filter)]), bottom);
    }

    fn draw_threads(&mut self, frame: &mut Frame<'_>, area: Rect, report: &PsReport) {
        let rows = self.rows(report);
        let room = usize::from(area.height.saturating_sub(1));
        self.scroll = self.scroll.min(rows.len().saturating_sub(room.min(rows.len()).max(1)));
        let shown = rows.into_iter().skip(self.scroll).take(room).collect::<Vec<_>>();
        let widths = widths(&headings(), shown.iter().map(|(_, cells)| cells));
        let header = headings().into_iter().enumerate().map(|(column, heading)| {
            let style = match self.sorted == Some(column) {
                true => Style::new().add_modifier(Modifier::REVERSED),
                false => Style::new().add_modifier(Modifier::BOLD),
            };
            Cell::from(heading).style(style)
        });
        let rows = shown.into_iter().map(|(row, cells)| {
            let style = if row.odd.is_empty() { Style::new() } else { Style::new().fg(Color::Yellow) };
            Row::new(cells).style(style)
        });
        frame.render_widget(Table::new(rows, widths).header(Row::new(header)), area);
    }
}

fn draw_interrupts(frame: &mut Frame<'_>, area: Rect, report: &PsReport) {
    let mut busy: Vec<_> =
        report.irqs.iter().filter(|irq| irq.rate().is_some_and(|rate| rate > 0.0)).collect();
    busy.sort_by(|left, right| right.rate().unwrap_or_default().total_cmp(&left.rate().unwrap_or_default()));
    let cells: Vec<_> = busy.into_iter().map(interrupt_cells).collect();
    let widths = widths(&interrupt_headings(), cells.iter());
    let header = Row::new(interrupt_headings()).style(Style::new().add_modifier(Modifier::BOLD));
    frame.render_widget(Table::new(cells.into_iter().map(Row::new), widths).header(header), area);
}

/// Each column as wide as its widest cell; the last has the rest.
fn widths<'a, const N: usize>(
    headings: &[&'static str; N],
    rows: impl Iterator<Item = &'a [String; N]>,
) -> Vec<Constraint> {
    let mut widths = headings.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut constraints = widths.map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    if let Some(last) = constraints.last_mut() {
        *last = Constraint::Fill(1);
    }
    constraints.to_vec()
}

/// The number behind a cell of a column of [`headings`].
fn number(row: &ThreadRow, column: usize, rated: bool) -> Option<f64> {
    let sum = |sum: Option<u64>| sum.map(|sum| sum as f64);
    let time = |time: Option<whylate_base::Ns>| time.map(|time| time.0 as f64);
    let faults = row.usage.minor_faults.zip(row.usage.major_faults).map(|(minor, major)| minor + major);
    let (rate, total) = match column {
        1 => return Some(f64::from(row.priority)),
        3 => return row.last_cpu.map(|cpu| f64::from(cpu.0)),
        4 => (row.rates.and_then(|rates| rates.cpu_share), time(row.cpu_time)),
        5 => (row.rates.and_then(|rates| rates.waiting_share), time(row.run_delay)),
        6 => (row.rates.and_then(|rates| rates.voluntary), sum(row.usage.voluntary_switches)),
        7 => (row.rates.and_then(|rates| rates.involuntary), sum(row.usage.involuntary_switches)),
        8 => (row.rates.and_then(|rates| rates.faults), sum(faults)),
        9 => return sum(row.usage.locked_bytes),
        _ => return None,
    };
    if rated { rate } else { total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use whylate_host::FsRoot;
    use whylate_threads::ps::PsSample;

    fn report() -> PsReport {
        let stat = |tid: i32, name: &str, priority: i32, policy: i32| {
            format!(
                "{tid} ({name}) S 1 9 9 0 -1 64 7 0 2 0 0 0 0 0 -51 0 1 0 37 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 1 {priority} \
                 {policy} 0 0\n"
            )
        };
        let (control, logger) = (stat(412, "control", 80, 1), stat(77, "logger", 0, 0));
        let status = |switches: u32| {
            format!(
                "Cpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t1\n"
            )
        };
        let tree = FsRoot::memory(&[
            ("/proc/412/task/412/stat", &control),
            ("/proc/412/task/412/status", &status(10)),
            ("/proc/77/task/77/stat", &logger),
            ("/proc/77/task/77/status", &status(5000)),
            ("/proc/interrupts", "     CPU0\nLOC: 5 Local timer interrupts\n"),
        ]);
        let options = PsOptions { tasks: Vec::new(), all: true };
        PsReport::of(&tree, &options, None, &PsSample::read(&tree))
    }

    fn screen(view: &mut View, columns: u16, rows: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
        terminal.draw(|frame| view.draw(frame, &report())).expect("drawn");
        terminal.backend().to_string()
    }

    fn press(view: &mut View, keys: &str) -> Vec<Step> {
        keys.chars().map(|key| view.press(KeyEvent::from(KeyCode::Char(key)))).collect()
    }

    #[test]
    fn threads_come_in_the_order_in_which_they_run() {
        for (columns, rows) in [(80, 24), (200, 60)] {
            let screen = screen(&mut View::new(PsOptions::default(), false), columns, rows);
            let place = |name: &str| screen.find(name).unwrap_or_else(|| panic!("{name} in {screen}"));
            assert!(place("control:412") < place("logger:77"), "{screen}");
            assert!(screen.contains("fifo 80") && screen.contains("q quit"), "{screen}");
        }
    }

    #[test]
    fn keys_sort_filter_and_leave() {
        let mut view = View::new(PsOptions::default(), true);
        // The column of voluntary switches is the seventh.
        press(&mut view, ">>>>>>>");
        let sorted = screen(&mut view, 120, 24);
        assert!(sorted.find("logger:77") < sorted.find("control:412"), "{sorted}");
        assert_eq!(press(&mut view, "r/contro"), [Step::Draw; 8]);
        let filtered = screen(&mut view, 120, 24);
        assert!(filtered.contains("control:412") && !filtered.contains("logger:77"), "{filtered}");
        assert_eq!(press(&mut view, "q"), [Step::Draw], "it is a letter of the filter");
        view.press(KeyEvent::from(KeyCode::Esc));
        assert_eq!(press(&mut view, "aq"), [Step::Select, Step::End]);
    }

    #[test]
    fn a_screen_without_room_is_survived() {
        let mut view = View::new(PsOptions::default(), true);
        view.press(KeyEvent::from(KeyCode::PageDown));
        for size in [(1, 1), (5, 3), (80, 4)] {
            screen(&mut view, size.0, size.1);
        }
    }
}
