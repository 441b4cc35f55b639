//! Lines without their CPU: the option `funcgraph-cpu` is off, or an author cut the columns before the duration.
//!
//! ```text
//!               |  func() {
//!   0.253 us    |    leaf();
//! + 12.345 us   |  }
//! 57.602990: funcgraph_entry:        0.285 us   |    leaf();      without the thread as well, of trace-cmd
//! ```

use super::super::fields;
use super::{Call, CallPart, GraphLine, What, call, time_column};
use whylate_base::{Cpu, Ns};
use whylate_events::Damage;

/// The lines of one CPU that the text does not name.
const OF_ONE: Cpu = Cpu(0);

/// Opening lines that were met before any line with a duration: a drawing has such lines, too.
#[derive(Default)]
pub(crate) struct BareCalls {
    waiting: Vec<(u64, String)>,
    begun: bool,
}

/// What a line without a CPU is.
pub(crate) enum Taken {
    /// No such line: those before it are none either.
    Foreign(Vec<(u64, String)>),
    /// Whether it is one the next lines show.
    Waits,
    /// The next of them, behind those that waited.
    Calls(Vec<(u64, String)>),
}

impl BareCalls {
    /// True once a line of them was taken in.
    pub(crate) fn are_begun(&self) -> bool {
        self.begun
    }

    /// Takes in the line `number`.
    pub(crate) fn take(&mut self, number: u64, text: &str) -> Taken {
        let Some(line) = parse(text) else { return Taken::Foreign(self.end()) };
        if !self.begun && matches!(line.what, What::Call(Call { part: CallPart::Entry, .. })) {
            self.waiting.push((number, text.to_owned()));
            return Taken::Waits;
        }
        self.begun = true;
        let mut lines = self.end();
        lines.push((number, text.to_owned()));
        Taken::Calls(lines)
    }

    /// What is not known of them.
    pub(crate) fn damage(&self) -> Option<Damage> {
        self.begun.then(|| {
            Damage::whole("the rows do not show their CPU: all are shown as of CPU 0".to_owned()).detail()
        })
    }

    /// The lines that wait.
    pub(crate) fn end(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.waiting)
    }
}

/// Reads a line without blanks around it.
pub(crate) fn parse(text: &str) -> Option<GraphLine<'_>> {
    let (ts, call) = reported(text).or_else(|| drawn(text))?;
    Some(GraphLine { ts, cpu: OF_ONE, thread: None, state: None, what: What::Call(call) })
}

fn reported(text: &str) -> Option<(Option<Ns>, Call)> {
    let (time, rest) = text.split_once(": ")?;
    let ts = fields::billionths(time).filter(|_| time.contains('.'))?;
    let (name, rest) = fields::trim_start(rest).split_once(':')?;
    let call = matches!(name, "funcgraph_entry" | "funcgraph_exit").then(|| super::reported(rest))??;
    Some((Some(Ns(ts)), call))
}

fn drawn(text: &str) -> Option<(Option<Ns>, Call)> {
    let (first, rest) = text.split_once('|')?;
    let timed = || {
        let ts = time_column(first).filter(|_| !first.contains("us"))?;
        Some((ts, rest.split_once('|')?))
    };
    let (ts, (duration, function)) = match timed() {
        Some((ts, columns)) => (Some(ts), columns),
        None => (None, (first, rest)),
    };
    let call = call(duration, function)?;
    // A call that has neither a duration nor calls within is a drawing's.
    let is_open = || function.contains('{');
    (call.part != CallPart::Entry || is_open()).then_some((ts, call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_cpu() {
        for (text, ts, depth, part) in [
            ("|  acme_read() {", None, 0, CallPart::Entry),
            ("0.253 us    |    acme_leaf();", None, 1, CallPart::Leaf(Ns(253))),
            ("! 136.698 us |    acme_spin();", None, 1, CallPart::Leaf(Ns(136_698))),
            ("# 2136.698 us |  }", None, 0, CallPart::Exit(Ns(2_136_698))),
            ("2132852 us  |    } /* acme_sleep */", None, 1, CallPart::Exit(Ns(2_132_852_000))),
            ("7.000001 |   0.500 us  |  acme_leaf();", Some(7_000_001_000), 0, CallPart::Leaf(Ns(500))),
            ("7.000001: funcgraph_entry:        |  acme_read() {", Some(7_000_001_000), 0, CallPart::Entry),
            (
                "7.000002: funcgraph_exit:    + 10.073 us  |  }",
                Some(7_000_002_000),
                0,
                CallPart::Exit(Ns(10_073)),
            ),
        ] {
            let line = parse(text).unwrap_or_else(|| panic!("{text}"));
            let What::Call(call) = line.what else { panic!("{text}") };
            assert_eq!((line.ts.map(|ts| ts.0), call.depth, call.part), (ts, depth, part), "{text}");
        }
        for text in [
            "| acme_read();",
            "| name | value |",
            "0.5 us | seldom",
            "7.1: xprt_map: | f() {",
            "foo() | bar() {",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
