//! Does the server of sched_ext run its threads in front of real-time ones?

use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{Server, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "ext-server",
    title: "No deadline server runs sched_ext threads before real-time threads",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/scheduler/sched-ext.rst", "kernel/sched/ext.c", "kernel/sched/debug.c"],
    page: page!("ext-server"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let state = &host.sched.ext_state;
    match state.if_present()?.map(String::as_str) {
        None => return Ok(RuleOutcome::not_applicable("This kernel has no sched_ext").shows(state)),
        Some("disabled") => return Ok(RuleOutcome::pass("No BPF scheduler is loaded").shows(state)),
        Some(_) => {}
    }
    let cpus = options.cpus(host)?;
    let Some(servers) = host.sched.ext_servers.if_present()? else {
        return Ok(RuleOutcome::not_applicable("This kernel has no deadline server for sched_ext threads")
            .shows(state));
    };
    let servers: Vec<&Server> = servers.iter().filter(|server| cpus.contains(server.cpu)).collect();
    if servers.len() < cpus.len() {
        return Err(CannotTell::because(&host.sched.ext_servers.path, "a chosen CPU is missing there"));
    }
    let survey = survey("the ext servers", servers.iter().map(|server| &server.runtime_ns), |&ns| ns == 0)?;
    let Some(first) = survey.wrong.first() else {
        return Ok(survey
            .fine
            .iter()
            .take(8)
            .fold(RuleOutcome::pass("The ext server is off"), |answer, off| answer.shows(off)));
    };
    let run = first.need()? / 1_000_000;
    let answer = RuleOutcome::fail(
        format!(
            "The ext server may take {run} ms of each period on {} of {} CPUs",
            survey.wrong.len(),
            cpus.len()
        ),
        format!(
            "When real-time threads leave sched_ext threads no time on their CPU, a deadline server runs them for \
             {run} ms, with precedence over FIFO 99."
        ),
    );
    let answer = survey.wrong.iter().take(8).fold(answer.shows(state), |answer, on| answer.shows(on));
    Ok(answer
        .fix(
            Fix::runtime(format!("echo 0 > {}, for each of these CPUs", first.path))
                .action(Action::tunables(survey.wrong.iter().map(|on| (&on.path, "0"))))
                .boot("the same command from a systemd unit at boot: the setting is not persistent")
                .risk("sched_ext threads starve if a real-time thread uses all of a CPU"),
        )
        .fix(
            Fix::runtime("stop the BPF scheduler (its service, or SysRq-S)")
                .by_hand("the program that loaded the BPF scheduler is to be ended")
                .risk("its threads become SCHED_OTHER"),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const LOADED: &Files = &[("/sys/kernel/sched_ext/state", "enabled\n")];
    const SERVERS: &Files = &[
        ("/sys/kernel/debug/sched/ext_server/cpu0/runtime", "50000000\n"),
        ("/sys/kernel/debug/sched/ext_server/cpu1/runtime", "0\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("before 6.12", &[KERNEL_6_1, TWO_CPUS]).does_not_apply("no sched_ext"),
                case(
                    "nothing loaded",
                    &[KERNEL_7_2_RT, TWO_CPUS, SERVERS, &[("/sys/kernel/sched_ext/state", "disabled\n")]],
                )
                .passes("No BPF"),
                case("loaded", &[KERNEL_7_2_RT, TWO_CPUS, SERVERS, LOADED]).fails("50 ms"),
                case("off where it matters", &[KERNEL_7_2_RT, TWO_CPUS, SERVERS, LOADED])
                    .cpus("1")
                    .passes("off"),
                case("6.12", &[KERNEL_6_12, TWO_CPUS, DEBUGFS, LOADED]).does_not_apply("no deadline server"),
                case("debugfs is not mounted", &[KERNEL_7_2_RT, TWO_CPUS, LOADED]).cannot_tell("debugfs"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
