//! ftrace text: the tracefs `trace` file, `trace-cmd report`, and the latency tracers' form.
//!
//! Every one of them is lines of who, where, when and what:
//!
//! ```text
//!           <idle>-0     [000] d..2.  1310.796265: sched_switch: prev_comm=swapper/0 ...
//! infinite_loop_f-2053 [004] 44501.327176: irq_handler_exit: irq=10 ret=handled
//! multipat-1456      1d...3..  389us :     1456:  0:S ==> [001]   12905: 19:R cyclictest
//! ```
//!
//! Lines are read by what they hold and not by the column titles above them, which some
//! kernels print shifted, and which a pasted trace lacks. Between the lines there may be
//! prose: it is counted, so that a reader knows how much of the file was not a trace.

mod body;
mod fields;
mod header;
mod line;
mod sched;

use body::Body;
use header::Header;
use std::collections::HashMap;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{
    Context, Damage, Event, EventKind, EventSource, Kind, KindSet, Marker, TraceInfo, VecSource,
};

/// Text in which no line is an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoEvents {
    /// How many lines were looked at.
    pub(crate) lines: u64,
}

/// The events of a text trace.
pub(crate) struct TextSource {
    events: VecSource,
    info: TraceInfo,
    comms: HashMap<Tid, Comm>,
}

impl EventSource for TextSource {
    fn next_event(&mut self) -> Option<&Event> {
        self.events.next_event()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.comms.iter().map(|(&tid, &comm)| (tid, comm)).collect()
    }
}

/// Reads a whole text trace and keeps the events of the `wanted` kinds.
pub(crate) fn read(text: &[u8], wanted: KindSet) -> Result<TextSource, NoEvents> {
    let mut reader = Reader::new(wanted);
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for line in text.split(|&byte| byte == b'\n') {
        reader.line(&String::from_utf8_lossy(line));
    }
    reader.finish()
}

struct Reader {
    wanted: KindSet,
    header: Header,
    events: Vec<Event>,
    /// Lines read so far.
    lines: u64,
    /// Event lines read so far, of every kind.
    read: u64,
    lost: u64,
    /// Loss notes that wait for the next event of their CPU, which gives them an instant.
    losses: Vec<(Cpu, Option<u64>)>,
    last: Option<Event>,
    /// The name each line gives its thread.
    comms: HashMap<Tid, Comm>,
    highest_cpu: u32,
    /// The last event's text may go on in the next line.
    free_text: bool,
    strange_lines: Tally,
    strange_fields: Tally,
}

/// How often something was met, and the first one.
#[derive(Default)]
struct Tally {
    count: u64,
    first: Option<(u64, String)>,
}

impl Tally {
    /// The start of a line is enough to find it again.
    const SHOWN: usize = 60;

    fn add(&mut self, line: u64, text: &str) {
        self.count += 1;
        // What it shows goes to terminals, which obey control characters.
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        self.first.get_or_insert_with(|| (line, text.chars().take(Self::SHOWN).map(shown).collect()));
    }

    fn damage(self, what: &str) -> Option<Damage> {
        let (line, text) = self.first?;
        Some(Damage::at(line, format!("{what}: {}, the first is line {line}: `{text}`", self.count)))
    }
}

impl Reader {
    fn new(wanted: KindSet) -> Self {
        Reader {
            wanted,
            header: Header::default(),
            events: Vec::new(),
            lines: 0,
            read: 0,
            lost: 0,
            losses: Vec::new(),
            last: None,
            comms: HashMap::new(),
            highest_cpu: 0,
            free_text: false,
            strange_lines: Tally::default(),
            strange_fields: Tally::default(),
        }
    }

    fn line(&mut self, raw: &str) {
        self.lines += 1;
        let text = unquoted(raw);
        // `=>` begins a frame of a stack trace, which belongs to the event above it.
        if text.is_empty() || text.starts_with("=>") {
            return;
        }
        if let Some(comment) = text.strip_prefix('#') {
            self.header.comment(comment);
        } else if let Some(loss) = header::loss(text) {
            self.losses.push(loss);
        } else if let Some((head, body)) = line::split(text) {
            let parsed = body::parse(&head, body);
            self.free_text = matches!(parsed, Body::Event(EventKind::Marker(_)))
                || ["bprint:", "bputs:"].iter().any(|name| body.starts_with(name));
            let kind = match parsed {
                Body::Event(kind) => kind,
                Body::Unknown => EventKind::Other,
                Body::Damaged => {
                    self.strange_fields.add(self.lines, body);
                    EventKind::Other
                }
            };
            if !head.comm.starts_with('<') {
                self.comms.insert(head.context.tid, Comm::from(head.comm));
            }
            self.event(Event { ts: head.ts, cpu: head.cpu, context: head.context, kind });
        } else if !self.header.report_line(text) && !self.free_text {
            self.strange_lines.add(self.lines, text);
        }
    }

    fn event(&mut self, event: Event) {
        self.read += 1;
        self.highest_cpu = self.highest_cpu.max(event.cpu.0);
        if !self.losses.is_empty() {
            for (_, count) in self.losses.extract_if(.., |(cpu, _)| *cpu == event.cpu).collect::<Vec<_>>() {
                self.loss(Event {
                    kind: EventKind::Lost { count, since: None, kinds: KindSet::NONE },
                    ..event
                });
            }
        }
        self.keep(event);
        self.last = Some(event);
    }

    fn loss(&mut self, event: Event) {
        if let EventKind::Lost { count: Some(count), .. } = event.kind {
            self.lost = self.lost.saturating_add(count);
        }
        self.keep(event);
    }

    fn keep(&mut self, event: Event) {
        if self.wanted.contains(event.kind.kind()) {
            self.events.push(event);
        }
    }

    fn finish(mut self) -> Result<TextSource, NoEvents> {
        let Some(last) = self.last else {
            return Err(NoEvents { lines: self.lines });
        };
        for (cpu, count) in std::mem::take(&mut self.losses) {
            let context = Context::default();
            self.loss(Event {
                ts: last.ts,
                cpu,
                context,
                kind: EventKind::Lost { count, since: None, kinds: KindSet::NONE },
            });
        }
        let damage = [
            self.strange_lines.damage("skipped lines that are no trace lines"),
            self.strange_fields
                .damage("events with fields in no known form, of which only time and thread are used"),
        ];
        let info = TraceInfo {
            format: self.header.format(),
            lost_events: self.lost,
            cpus: self.header.cpus.unwrap_or(0).max(self.highest_cpu.saturating_add(1)),
            kernel_release: self.header.kernel_release.take(),
            damage: damage.into_iter().flatten().collect(),
            ..TraceInfo::default()
        };
        let events = VecSource::new(with_facts(self.events, &self.header, self.wanted, last), info, true);
        let info = TraceInfo { events: self.read, ..events.info().clone() };
        Ok(TextSource { events, info, comms: self.comms })
    }
}

/// The header's facts as markers before the first event, in its thread's context so that
/// nobody else seems to have run then.
fn with_facts(events: Vec<Event>, header: &Header, wanted: KindSet, last: Event) -> Vec<Event> {
    if header.facts.is_empty() || !wanted.contains(Kind::Marker) {
        return events;
    }
    let first = events.iter().min_by_key(|event| event.ts).copied().unwrap_or(last);
    let marker = |fact: &whylate_events::Fact| EventKind::Marker(Marker::from(fact.to_string().as_str()));
    let facts = header.facts.iter().map(|fact| Event { kind: marker(fact), ..first });
    facts.chain(events).collect()
}

/// The line without blanks around it, without the `>` that mail and annotated listings put
/// in front, and without the zeros that a crash leaves behind.
fn unquoted(line: &str) -> &str {
    let mut text = line.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    while let Some(rest) = text.strip_prefix('>') {
        text = rest.trim_start();
    }
    text
}

/// No machine the kernel supports has a higher CPU number (`CONFIG_NR_CPUS` ends at 8192);
/// tables by CPU must not grow with a number out of a damaged line.
fn cpu_from(text: &str) -> Option<Cpu> {
    text.parse().ok().filter(|&cpu| cpu < 8192).map(Cpu)
}

/// Seconds with up to nine decimals (`44501.327174`), or a bare count of the clock.
fn clock_time(text: &str) -> Option<Ns> {
    let Some((seconds, fraction)) = text.split_once('.') else {
        return fields::digits(text)?.parse().ok().map(Ns);
    };
    let fraction = fields::digits(fraction).filter(|digits| digits.len() <= 9)?;
    let scale = 10i64.checked_pow(9 - u32::try_from(fraction.len()).ok()?)?;
    let seconds: i64 = fields::digits(seconds)?.parse().ok()?;
    let fraction: i64 = fraction.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction.checked_mul(scale)?).map(Ns)
}

#[cfg(test)]
mod tests;
