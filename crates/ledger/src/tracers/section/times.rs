//! Which function took how much of a critical section.

use crate::model::section::{CpuContext, FunctionTime, FunctionTimes};
use crate::tracers::lines::{Line, Lines, What};
use std::collections::HashMap;
use whylate_base::Ns;

/// What each function took, most first, adding up to `end - start` at most; and what these times are. `ends` are the
/// functions in which the section begins and ends, by the header.
pub(super) fn parts(
    lines: &Lines,
    within: &[Line],
    (start, end): (Ns, Ns),
    ends: [Option<&str>; 2],
) -> (Vec<FunctionTime>, FunctionTimes) {
    let graph = within.iter().any(|line| matches!(line.what, What::Entry { .. } | What::Exit { .. }));
    if !graph && !lines.shows_functions(within, (start, end), ends) {
        return (Vec::new(), FunctionTimes::None);
    }
    let (sums, times) = match graph {
        true => (own_times(within, end), FunctionTimes::Own),
        false => (times_until_next(lines, within, end), FunctionTimes::UntilNext),
    };
    let mut parts: Vec<FunctionTime> = sums
        .into_iter()
        .filter(|(_, (time, _))| *time > Ns::ZERO)
        .map(|((function, within), (time, calls))| FunctionTime {
            function: lines.name(function).to_owned(),
            within,
            time,
            calls,
        })
        .collect();
    parts.sort_by(|a, b| (b.time, &a.function, a.within).cmp(&(a.time, &b.function, b.within)));
    (parts, times)
}

/// Time and calls, by function and context.
type Sums = HashMap<(u32, CpuContext), (Ns, u64)>;

fn times_until_next(lines: &Lines, within: &[Line], end: Ns) -> Sums {
    let mut sums = Sums::new();
    let mut current: Option<(u32, CpuContext)> = None;
    for (i, line) in within.iter().enumerate() {
        if let Some(function) = lines.shown(line) {
            let key = (function, line.within());
            sums.entry(key).or_default().1 += 1;
            current = Some(key);
        }
        let next = within.get(i + 1).map_or(end, |next| next.at);
        if let Some(current) = current {
            sums.entry(current).or_default().0 += next.since(line.at);
        }
    }
    sums
}

/// Each function's own time, by a stack of entries. A leaf whose return is printed with its entry is paid by its
/// duration: the lines' instants may be rounded to microseconds.
fn own_times(within: &[Line], end: Ns) -> Sums {
    struct Frame {
        key: (u32, CpuContext),
        entered: Ns,
        depth: u32,
    }
    let mut sums = Sums::new();
    let mut stack: Vec<Frame> = Vec::new();
    let Some(mut at) = within.first().map(|line| line.at) else { return sums };
    // Time of a function that was entered before the section, until its return shows its name.
    let mut nameless = Ns::ZERO;
    let pay = |sums: &mut Sums, stack: &[Frame], nameless: &mut Ns, at: &mut Ns, to: Ns| {
        let time = to.min(end).since(*at);
        match stack.last() {
            Some(frame) => sums.entry(frame.key).or_default().0 += time,
            None => *nameless += time,
        }
        *at = (*at).max(to.min(end));
    };
    for line in within {
        match line.what {
            What::Entry { function, depth } => {
                // Calls that never returned, or were never entered: lines are missing, and with them who ran.
                if stack.last().is_some_and(|frame| frame.depth.checked_add(1) != Some(depth)) {
                    stack.retain(|frame| frame.depth < depth);
                    at = at.max(line.at.min(end));
                }
                pay(&mut sums, &stack, &mut nameless, &mut at, line.at);
                stack.retain(|frame| frame.depth < depth);
                let key = (function, line.within());
                sums.entry(key).or_default().1 += 1;
                stack.push(Frame { key, entered: line.at, depth });
            }
            What::Exit { function, depth, duration } => {
                if stack.last().is_some_and(|frame| frame.depth > depth) {
                    stack.retain(|frame| frame.depth <= depth);
                    at = at.max(line.at.min(end));
                }
                let entered = stack.last().filter(|frame| frame.depth == depth).map(|frame| frame.entered);
                let returned =
                    entered.map_or(line.at, |entered| line.at.max(entered + duration.max(Ns::ZERO)));
                pay(&mut sums, &stack, &mut nameless, &mut at, returned);
                if entered.is_none() && stack.is_empty() {
                    // Of a bare brace the name is not known.
                    sums.entry((function, line.within())).or_default().0 += std::mem::take(&mut nameless);
                }
                stack.retain(|frame| frame.depth < depth);
            }
            What::Function(_) | What::Stack | What::Other => {
                pay(&mut sums, &stack, &mut nameless, &mut at, line.at)
            }
        }
    }
    if !stack.is_empty() {
        pay(&mut sums, &stack, &mut nameless, &mut at, end);
    }
    sums
}
