//! Another program stopped it: by a signal, or as the one that traces it.

use super::advised::{Advised, ITS_PROGRAM, THEIR_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, Usual, page};
use crate::model::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "stopped",
    page: page!("stopped"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("the time that it was stopped"),
        culprit_finding: Some("it stopped that thread (a signal such as SIGSTOP)"),
        // A program that is traced stops at each call. Where that is most of the response each time, it is late each time.
        usual: Usual::MeanOfLess,
        starves: None,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, is_traced, stopped_by, .. } = late;
    let by_signal =
        |examples: &str| stopped_by.map_or_else(|| format!("a signal, such as {examples}"), str::to_owned);
    match (late.culprit, is_traced) {
        (Some(by), true) => format!("{by}, which traces {thread}, stopped it for {charged} (ptrace)"),
        (Some(by), false) => format!("{by} stopped {thread} for {charged} by {}", by_signal("SIGSTOP")),
        (None, true) => format!("{thread} was stopped for {charged} for the program that traces it (ptrace)"),
        (None, false) => {
            format!("{thread} was stopped for {charged} by {}", by_signal("SIGSTOP or SIGTSTP"))
        }
    }
}

fn evidence(time: &ChargedTime) -> String {
    match &time.culprit {
        Some(by) => format!("stopped by {by}, {}", time.length),
        None => format!("stopped, {}", time.length),
    }
}

/// Where no thread sent the signal, and it is one by which a terminal stops programs in the background (`__tty_check_change()`,
/// `drivers/tty/tty_jobctrl.c`).
fn by_terminal(signal: &str) -> Option<[&'static str; 2]> {
    match signal {
        "SIGTTOU" => Some([
            "the kernel stops a program that writes to its terminal from the background (stty tostop), or sets it (tcsetattr): write to a file \
             or a pipe there, or in the foreground",
            "let it write all the same: stty -tostop on that terminal, or ignore SIGTTOU, signal(SIGTTOU, SIG_IGN)",
        ]),
        "SIGTTIN" => Some([
            "the kernel stops a program that reads from its terminal in the background: redirect its input (< /dev/null, or a file), or read in \
             the foreground",
            "ignore SIGTTIN, signal(SIGTTIN, SIG_IGN): the read then fails with EIO",
        ]),
        _ => None,
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.is_traced {
        let by = of.by.map_or_else(|| "a program".to_owned(), Culprit::to_string);
        let find = format!(
            "find why {by} traces the program: a debugger (gdb) stops it as it attaches and at each breakpoint, strace at each \
             system call; leave programs with deadlines out of that"
        );
        let other =
            "look into the program without stopping it: ftrace, perf, or probes of its functions (uprobes)";
        let mut fixes = all_by_hand(THEIR_PROGRAM, &[&find, other]);
        if let Some((tracer, Some(behind))) = of.answerer {
            let of = Advised { by: Some(behind), by_own: None, carrier: Some(tracer), ..*of };
            fixes.splice(1..1, [of.carrier_raised("the program that traces", ""), of.culprit_moved()]);
        }
        return fixes;
    }
    if let Some(advice) = of.stopped_by.filter(|_| of.by.is_none()).and_then(by_terminal) {
        return all_by_hand(ITS_PROGRAM, &advice);
    }
    let find = match of.by {
        Some(by) => format!(
            "find why {by} stops the program: cpulimit does so to limit its CPU time, a shell at Ctrl-Z, a script by kill -STOP; leave \
             programs with deadlines out of that"
        ),
        None => "find the program that stops it: record signals, whylate record -e signal; cpulimit, a shell at Ctrl-Z, a \
                 script by kill -STOP and a debugger do so"
            .to_owned(),
    };
    vec![
        AdvisedFix::by_hand(find, THEIR_PROGRAM),
        AdvisedFix::by_hand(
            "limit the CPU time of a program otherwise than by stopping it: a cgroup's cpu.max for its threads without deadlines, \
             or less work in each period",
            THEIR_PROGRAM,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Priority, Tid};

    #[test]
    fn a_terminal_stops_programs_in_the_background_and_no_limit_of_cpu_time_is_meant() {
        let by = Culprit::Task { tid: Tid(7), comm: Comm::from("jobs"), priority: Priority::DEFAULT };
        let texts = |signal, by| {
            let of = Advised { stopped_by: Some(signal), by, ..Advised::general() };
            advice(&of).iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("\n")
        };
        let (writes, reads) = (texts("SIGTTOU", None), texts("SIGTTIN", None));
        assert!(writes.contains("stty -tostop") && !writes.contains("cpulimit"), "{writes}");
        assert!(reads.contains("redirect its input") && !reads.contains("cpulimit"), "{reads}");
        assert!(texts("SIGSTOP", None).contains("cpulimit"));
        assert!(texts("SIGTTOU", Some(&by)).contains("find why jobs:7"), "a thread sent it");
    }
}
