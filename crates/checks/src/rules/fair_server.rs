//! Does the fair server run SCHED_OTHER threads in front of real-time ones?

use super::shared::has_servers;
use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{Server, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "fair-server",
    title: "No deadline server runs SCHED_OTHER threads before real-time threads",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["kernel/sched/deadline.c", "kernel/sched/debug.c"],
    page: page!("fair-server"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    if !has_servers(host)? {
        return Ok(RuleOutcome::not_applicable("Kernels before 6.12 have no fair server")
            .shows(&host.kernel.release));
    }
    let cpus = options.cpus(host)?;
    let servers: Vec<&Server> =
        host.sched.fair_servers.need()?.iter().filter(|s| cpus.contains(s.cpu)).collect();
    // A CPU without an entry may be offline; a chosen CPU without an entry cannot be judged.
    if servers.len() < cpus.len() {
        return Err(CannotTell::because(&host.sched.fair_servers.path, "a chosen CPU is missing there"));
    }
    let survey = survey("the fair servers", servers.iter().map(|server| &server.runtime_ns), |&ns| ns == 0)?;
    let Some(first) = survey.wrong.first() else {
        return Ok(survey
            .fine
            .iter()
            .take(8)
            .fold(RuleOutcome::pass("The fair server is off"), |a, off| a.shows(off)));
    };
    let runtime = first.need()?;
    let of = servers.iter().find(|server| server.runtime_ns.path == first.path);
    let period = of.and_then(|server| server.period_ns.known()).copied().unwrap_or(1_000_000_000);
    let (run, each) = (runtime / 1_000_000, period / 1_000_000);
    let answer = RuleOutcome::fail(
        format!(
            "The fair server may take {run} ms of each {each} ms on {} of {} CPUs",
            survey.wrong.len(),
            cpus.len()
        ),
        format!(
            "When real-time threads leave SCHED_OTHER threads no time on their CPU, a deadline server runs them for \
             {run} ms, with precedence over FIFO 99. sched_rt_runtime_us=-1 does not stop it. It never acts if \
             real-time threads leave the CPU some time."
        ),
    );
    let answer = survey.wrong.iter().take(8).fold(answer, |answer, on| answer.shows(on));
    Ok(answer.fix(
        Fix::runtime(format!("echo 0 > {}, for each of these CPUs", first.path))
            .action(Action::tunables(survey.wrong.iter().map(|on| (&on.path, "0"))))
            .boot("the same command from a systemd unit at boot: the setting is not persistent")
            .risk("kernel threads bound to the CPU starve if a real-time thread uses all of it"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files = &[
        ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"),
        ("/sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n"),
        ("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n"),
        ("/sys/kernel/debug/sched/fair_server/cpu1/period", "1000000000\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("6.12", &[KERNEL_6_12, TWO_CPUS, ON])
                    .fails_as(Severity::Info, "50 ms of each 1000 ms on 1 of 2 CPUs"),
                case("6.12, threads that poll", &[KERNEL_6_12, TWO_CPUS, ON])
                    .profile(Profile::CpuPartitioning)
                    .fails("50 ms"),
                case("off where it matters", &[KERNEL_6_12, TWO_CPUS, ON]).cpus("1").passes("off"),
                case("no such CPU", &[KERNEL_6_12, TWO_CPUS, ON]).cpus("1,7").cannot_tell("a chosen CPU"),
                case("6.1", &[KERNEL_6_1, TWO_CPUS, DEBUGFS]).does_not_apply("before 6.12"),
                case("debugfs is not mounted", &[KERNEL_6_12, TWO_CPUS]).cannot_tell("mount -t debugfs"),
                case("taken into an older kernel", &[KERNEL_6_1, TWO_CPUS, ON])
                    .fails_as(Severity::Info, "50 ms"),
            ],
        );
    }
}
