//! Outputs that list single delays, without what ran meanwhile: the largest of them is known.
//!
//! ```text
//! TIME     COMM             TID           LAT(us)                                    bcc's runqslower
//! 10:00:07 app              812              7500
//! 10:00:09 softirq runtime: sched took 294 us (0 ms), on CPU:1, comm:swapper/1       bcc's softirqslower
//! TASK: app   (pid  812 ) Total Time: 150.250us                                      bcc's criticalstat
//! Section start: lock_it -> caller
//! cpu: 3                                                                             trace-irqoff
//!     COMMAND: swapper/3 PID: 0 LATENCY: 9ms
//!  0.621 sched:sched_switch(prev_comm: "app", ... next_pid: 0, next_prio: 120)       perf trace
//! ```

mod perf_trace;
mod section_ends;

use super::fields;
use super::known::{INTERRUPT_EVENTS, RECORD, has_all};
use perf_trace::PerfTrace;
use section_ends::SectionEnds;
use whylate_base::Ns;

/// Longer lines are quoted in part.
const LONGEST_QUOTE: usize = 100;

/// Which program printed the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseList {
    Runqslower,
    Softirqslower,
    Criticalstat,
    TraceIrqoff,
    PerfTrace,
}

/// One delay of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    delay: Ns,
    line: u64,
    words: String,
    /// What the lines above it are about.
    section: Option<&'static str>,
    cpu: Option<String>,
    /// What the lines below it show.
    ends: SectionEnds,
}

/// The delays of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cases {
    list: CaseList,
    count: u64,
    largest: Option<Case>,
    section: Option<&'static str>,
    cpu: Option<String>,
    perf_trace: PerfTrace,
    /// The lines that follow are of the largest delay.
    is_below_largest: bool,
}

impl Cases {
    /// A list that begins with this line, if that shows which one it is.
    pub(super) fn beginning(number: u64, line: &str) -> Option<Cases> {
        const HEADS: [(&[&str], CaseList); 5] = [
            (&["TIME", "SOFTIRQ", "LAT(us)"], CaseList::Softirqslower),
            (&["irq(", ") to softirq: ", " took "], CaseList::Softirqslower),
            (&["Finding critical section with "], CaseList::Criticalstat),
            (&["TASK: ", "(pid ", "Total Time: "], CaseList::Criticalstat),
            (&["COMMAND: ", "PID: ", "LATENCY: "], CaseList::TraceIrqoff),
        ];
        let head = HEADS.iter().find(|(words, _)| has_all(line, words)).map(|&(_, list)| list);
        let head = head.or_else(|| is_head_of_runqslower(line).then_some(CaseList::Runqslower));
        let title = line.trim().starts_with("trace_irqoff_latency:").then_some(CaseList::TraceIrqoff);
        let list = head.or(title).or_else(|| perf_trace::is_row(line).then_some(CaseList::PerfTrace))?;
        let mut cases = Cases {
            list,
            count: 0,
            largest: None,
            section: None,
            cpu: None,
            perf_trace: PerfTrace::default(),
            is_below_largest: false,
        };
        cases.line(number, line);
        Some(cases)
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        let delay = match self.list {
            CaseList::Runqslower => two_numbers(line, 2).and_then(|(_, delay)| us(delay)),
            CaseList::Softirqslower => {
                took(line).or_else(|| two_numbers(line, 3).and_then(|(delay, _)| us(delay)))
            }
            CaseList::Criticalstat => {
                self.section = section_ends::section(line).or(self.section);
                section_ends::total(line).and_then(us)
            }
            CaseList::TraceIrqoff => {
                self.place(line);
                line.split_once("LATENCY: ")
                    .and_then(|(_, rest)| ms(fields::first_word(rest).strip_suffix("ms")?))
            }
            CaseList::PerfTrace => return self.perf_trace.line(line),
        };
        let Some(delay) = delay else {
            let largest = self.largest.as_mut().filter(|_| self.is_below_largest);
            return largest.into_iter().for_each(|largest| largest.ends.line(line));
        };
        self.count += 1;
        self.is_below_largest = false;
        if self.largest.as_ref().is_none_or(|largest| largest.delay < delay) {
            let words = line.split_whitespace().collect::<Vec<&str>>().join(" ");
            let words = match words.char_indices().nth(LONGEST_QUOTE) {
                Some((end, _)) => format!("{}...", words.get(..end).unwrap_or_default()),
                None => words,
            };
            let (section, cpu) = (self.section, self.cpu.clone());
            let ends = SectionEnds::default();
            self.largest = Some(Case { delay, line: number, words, section, cpu, ends });
            self.is_below_largest = self.list == CaseList::Criticalstat;
        }
    }

    /// The lines of trace-irqoff above its delays.
    fn place(&mut self, line: &str) {
        match line.trim() {
            "hardirq:" => self.section = Some("its list `hardirq`, so interrupts were disabled"),
            "softirq:" => self.section = Some("its list `softirq`, so softirqs did not run"),
            line => {
                let cpu = line.strip_prefix("cpu: ").filter(|cpu| fields::digits(cpu).is_some());
                self.cpu = cpu.map(str::to_owned).or(self.cpu.take());
            }
        }
    }

    /// What the text is.
    pub(crate) fn what(&self) -> &'static str {
        match self.list {
            CaseList::Runqslower => {
                "the output of bcc's runqslower, which has delays of threads on the runqueue, and not what ran meanwhile"
            }
            CaseList::Softirqslower => {
                "the output of bcc's softirqslower, which has delays and durations of softirqs, and not their cause"
            }
            CaseList::Criticalstat => {
                "the output of bcc's criticalstat, which has the ends of a critical section and not what ran in it"
            }
            CaseList::TraceIrqoff => {
                "the output of trace-irqoff, which has the stack at the end of a delay, and not what kept interrupts or softirqs off"
            }
            CaseList::PerfTrace => {
                "the output of perf trace with events of the scheduler, whose lines lack the CPU"
            }
        }
    }

    /// The largest delay, in a sentence; `None` where the list is empty.
    pub(crate) fn known(&self) -> Option<String> {
        if self.list == CaseList::PerfTrace {
            return Some(self.perf_trace.known());
        }
        let Case { delay, line, words, section, cpu, ends } = self.largest.as_ref()?;
        let of = match self.count {
            1 => "the only delay in it".to_owned(),
            count => format!("the largest of its {count} delays"),
        };
        let cpu = cpu.as_ref().map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
        let section = section.map(|section| format!(", in {section}")).unwrap_or_default();
        Some(format!("{of} is {delay}{cpu} (line {line}: \"{words}\"){section}{ends}"))
    }

    /// What to give instead.
    pub(crate) fn advice(&self) -> &'static str {
        match self.list {
            CaseList::Runqslower => RECORD,
            CaseList::Softirqslower => INTERRUPT_EVENTS,
            CaseList::Criticalstat => "record it by the tracers irqsoff or preemptoff, with its functions",
            CaseList::TraceIrqoff => "record it by the tracer irqsoff, with its functions",
            CaseList::PerfTrace => {
                "record with `perf sched record`, and give the recording (perf.data) or the output of `perf script`"
            }
        }
    }
}

/// Other tools of bcc have more columns before the delay.
fn is_head_of_runqslower(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is = |word: Option<&str>, names: &[&str]| word.is_some_and(|word| names.contains(&word));
    is(words.next(), &["TIME"])
        && is(words.next(), &["COMM"])
        && is(words.next(), &["PID", "TID"])
        && is(words.next(), &["LAT(us)"])
}

/// The first two numbers side by side, behind so many words. A thread's name may have blanks.
fn two_numbers(line: &str, behind: usize) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // The instant: `10:00:07`, `10:00:07.000123`.
    words.first().filter(|time| time.matches(':').count() == 2)?;
    let pairs = words.iter().zip(words.iter().skip(1)).skip(behind);
    pairs
        .map(|(one, other)| (*one, *other))
        .find(|(one, other)| fields::digits(one).is_some() && fields::digits(other).is_some())
}

/// `took 294 us`
fn took(line: &str) -> Option<Ns> {
    let (number, rest) = line.split_once(" took ")?.1.split_once(' ')?;
    us(number).filter(|_| rest.starts_with("us"))
}

fn us(number: &str) -> Option<Ns> {
    fields::thousandths(number, 1_000)
}

fn ms(number: &str) -> Option<Ns> {
    fields::thousandths(number, 1_000_000)
}

#[cfg(test)]
mod tests;
