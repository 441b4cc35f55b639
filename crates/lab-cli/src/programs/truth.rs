//! Whether a fault took place, by sources other than the analysis.

use super::delays::{self, Delay};
use super::{Case, Fault};
use std::path::Path;

/// What the guest reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// The exit code of the case's `truth`; none where it has none, or it did not run.
    pub(super) code: Option<i32>,
    /// What it printed.
    pub(super) text: String,
}

/// Whether it is true, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) holds: bool,
    pub(super) words: Vec<String>,
}

/// Of a recorded case.
pub(super) fn of(case: &Case, kernel: &str, figures: &Figures, recording: &Path) -> Truth {
    let needs_delays = case.faults_on(kernel).any(|fault| !fault.had_cpu.is_empty());
    let delays = match needs_delays {
        true => delays::of_recording(recording, &case.victims),
        false => Ok(Vec::new()),
    };
    by(case, kernel, figures, delays.as_deref().map_err(String::as_str))
}

fn by(case: &Case, kernel: &str, figures: &Figures, delays: Result<&[Delay], &str>) -> Truth {
    let mut truth = Truth { holds: true, words: Vec::new() };
    if case.truth.is_some() {
        truth.holds = figures.code == Some(0);
        truth
            .words
            .extend(figures.text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    for fault in case.faults_on(kernel).filter(|fault| !fault.had_cpu.is_empty()) {
        match delays.map(|delays| longest_by(case, fault, delays)) {
            Ok(Ok(delay)) => truth.words.push(format!("trace-cmd: waited {}", delay.words())),
            Ok(Err(longest)) => {
                let longest = longest.map_or("no wait at all".to_owned(), Delay::words);
                truth
                    .words
                    .push(format!("trace-cmd: no late wait by {}: {longest}", fault.had_cpu.join(", ")));
                truth.holds = false;
            }
            Err(why) => {
                truth.words.push(why.to_owned());
                truth.holds = false;
            }
        }
    }
    truth
}

/// The longest late delay by the threads of the fault; otherwise the longest of all.
fn longest_by<'a>(case: &Case, fault: &Fault, delays: &'a [Delay]) -> Result<&'a Delay, Option<&'a Delay>> {
    let late = delays.iter().filter(|delay| delay.length >= case.late() && delay.is_by(&fault.had_cpu));
    late.max_by_key(|delay| delay.length).ok_or_else(|| delays.iter().max_by_key(|delay| delay.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::judge::tests::case;
    use whylate_base::Ns;

    #[test]
    fn a_fault_needs_its_figures_and_its_delays() {
        let mut case = case();
        case.truth = Some("true".to_owned());
        case.faults[0].had_cpu = vec!["stress*".to_owned()];
        let figures = |code| Figures { code: Some(code), text: "max 5200 us\n".to_owned() };
        let delay = |name: &str, us| Delay {
            length: Ns::from_us(us),
            holders: vec![(name.to_owned(), Ns::from_us(us))],
        };
        for (code, delays, holds) in [
            (0, Ok(vec![delay("stress-ng", 5_000)]), true),
            (1, Ok(vec![delay("stress-ng", 5_000)]), false),
            (0, Ok(vec![delay("stress-ng", 500)]), false),
            (0, Ok(vec![delay("other", 5_000)]), false),
            (0, Ok(vec![]), false),
            (0, Err("no trace-cmd"), false),
        ] {
            let truth = by(&case, "6.1", &figures(code), delays.as_deref().map_err(|error| *error));
            assert_eq!(truth.holds, holds, "{truth:?}");
            assert_eq!(truth.words.len(), 2, "{truth:?}");
        }
        assert!(by(&case, "6.1", &Figures::default(), Ok(&[])).words.len() == 1, "its truth did not run");
    }
}
