//! How long do real-time CPUs take to wake from idle?

use super::shared::hardware::states;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Cpu, Severity};
use whylate_host::{CpuState, IdleState, NO_LATENCY_REQUEST, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "c-states",
    title: "Real-time CPUs leave idle states quickly enough",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/pm/cpuidle.rst",
        "Documentation/power/pm_qos_interface.rst",
        "Documentation/core-api/real-time/kernel-configuration.rst",
        "drivers/idle/intel_idle.c",
    ],
    page: page!("c-states"),
    check,
};

/// The longest acceptable exit latency, in microseconds. An audio buffer of 64 frames lasts 1333 us at 48 kHz; others have
/// cycles down to 100 us, of which C1E (10 us) takes a tenth.
fn acceptable(profile: Profile) -> u64 {
    match profile {
        Profile::Audio => 150,
        _ => 10,
    }
}

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let most = acceptable(options.profile);
    let states = states(host, &cpus)?;
    let mut deep = Vec::new();
    let mut known = 0;
    for own in &states {
        for idle in own.idle_states.if_present()?.into_iter().flatten() {
            known += 1;
            if *idle.exit_latency_us.need()? > most && !*idle.disabled.need()? && may_enter(own, idle)? {
                deep.push((own.cpu, idle));
            }
        }
    }
    if known == 0 {
        if host.kernel.cmdline.need()?.get("idle") == Some("poll") {
            return Ok(
                RuleOutcome::pass("CPUs poll when idle").shows_as(&host.kernel.cmdline.path, "idle=poll")
            );
        }
        return Ok(RuleOutcome::not_applicable("No driver manages idle states: an idle CPU only halts"));
    }
    let Some((_, deepest)) = deep.iter().max_by_key(|(_, idle)| idle.exit_latency_us.known()) else {
        return Ok(RuleOutcome::pass(format!(
            "No idle state of CPUs {cpus} takes more than {most} us to leave"
        ))
        .shows(&host.cpus.idle_driver));
    };
    let (latency, name) = (*deepest.exit_latency_us.need()?, deepest.name.need()?);
    let asked = &host.cpus.dma_latency_us;
    if let Some(&asked_us) = asked.if_present()?
        && deep.iter().all(|(_, idle)| idle.exit_latency_us.known().is_some_and(|&us| us > asked_us))
    {
        let requesters = requesters(host);
        let name = requesters
            .as_ref()
            .ok()
            .and_then(|names| names.first().cloned())
            .unwrap_or("A process or driver".to_owned());
        let others = match requesters.as_ref().map_or(0, Vec::len) {
            0 | 1 => String::new(),
            more => format!(", one of {more} processes,"),
        };
        let answer = RuleOutcome::pass(format!(
            "{name}{others} requests at most {asked_us} us, as long as the file is open"
        ));
        return Ok(shows_requesters(answer.shows(asked), &requesters).shows(&deepest.exit_latency_us));
    }
    let mut concerned: Vec<_> = deep.iter().map(|(cpu, _)| *cpu).collect();
    concerned.dedup();
    let answer = RuleOutcome::fail(
        format!("Leaving {name} takes {latency} us; {} of {} CPUs may enter it or a similar state", concerned.len(), cpus.len()),
        format!(
            "A task that wakes up first waits for its CPU to leave the idle state: up to {latency} us; the limit for \
             `{}` is {most} us. Caches and TLBs may also have to be refilled.",
            options.profile
        ),
    )
    .shows(&host.cpus.idle_driver)
    .shows(&deepest.name)
    .shows(&deepest.exit_latency_us)
    .shows(&deepest.disabled);
    let answer = match asked.known() {
        Some(&NO_LATENCY_REQUEST) | None => answer.shows_as(&asked.path, "no request for a lower latency"),
        Some(_) => shows_requesters(answer.shows(asked), &requesters(host)),
    };
    Ok(answer
        .fix(
            Fix::runtime(format!("echo {most} > /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us, for real-time CPUs"))
                .action(limits(&concerned, most))
                .boot("intel_idle.max_cstate=1 processor.max_cstate=1 on the kernel command line, or TuneD's force_latency")
                .risk("more power and heat, and less turbo for the other cores"),
        )
        .fix(
            Fix::runtime("hold /dev/cpu_dma_latency open in the application, with a small number written to it")
                .by_hand("the application holds the file open for as long as it needs it")
                .risk("it applies to every CPU, and only while the file is open"),
        ))
}

/// The limit of each CPU.
fn limits(cpus: &[Cpu], most: u64) -> Action {
    let path = |cpu: &Cpu| format!("/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us");
    Action::tunables(cpus.iter().map(|cpu| (path(cpu), most.to_string())))
}

/// The processes that have /dev/cpu_dma_latency open, by name and id; or why they are not known.
fn requesters(host: &Snapshot) -> Result<Vec<String>, CannotTell> {
    let Some(holders) = &host.cpus.dma_latency_holders else { return Ok(Vec::new()) };
    let threads = host.threads.each.known().map_or(&[][..], Vec::as_slice);
    let named = |&pid: &i32| match threads.iter().find(|thread| thread.pid == pid && thread.tid.0 == pid) {
        Some(thread) => format!("{} ({pid})", thread.comm),
        None => format!("process {pid}"),
    };
    Ok(holders.need()?.iter().map(named).collect())
}

/// Adds them as evidence.
fn shows_requesters(answer: RuleOutcome, requesters: &Result<Vec<String>, CannotTell>) -> RuleOutcome {
    const PATH: &str = "/proc/*/fd";
    match requesters {
        // A driver may make a request without an open file.
        Ok(names) if names.is_empty() => {
            answer.shows_as(PATH, "no process has it open: a driver made the request")
        }
        Ok(names) => answer.shows_as(PATH, format!("{} has it open", names.join(", "))),
        Err(unknown) => {
            answer.shows_as(PATH, format!("(the processes that have it open are not known: {})", unknown.why))
        }
    }
}

/// Whether the latency limit of this CPU allows the state: `n/a` allows only zero latency.
fn may_enter(own: &CpuState, idle: &IdleState) -> Result<bool, CannotTell> {
    let limit = &own.resume_latency_us;
    let latency = *idle.exit_latency_us.need()?;
    match limit.if_present()?.map(String::as_str) {
        None | Some("0") => Ok(true),
        Some("n/a") => Ok(latency == 0),
        Some(text) => match text.parse::<u64>() {
            Ok(most) => Ok(latency <= most),
            Err(_) => {
                Err(CannotTell::because(&limit.path, format!("`{text}` is not a number of microseconds")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const C6: &Files = &[
        ("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n"),
        ("/dev/cpu_dma_latency", "\0\u{14}\0\0"),
    ];
    const OFF: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n");
    const RESUME: &str = "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us";
    const TEN: (&str, &str) = ("/dev/cpu_dma_latency", "\u{a}\0\0\0");
    const HELD: (&str, &str) = ("/proc/71/fd/5", "/dev/cpu_dma_latency");
    const HELD_TOO: (&str, &str) = ("/proc/80/fd/3", "/dev/cpu_dma_latency");
    const CYCLICTEST: &Files = thread!(program 71 "cyclictest", other 0, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("deep", &[TWO_CPUS, C6]).cpus("0").fails("133 us"),
                case("deep, for audio", &[TWO_CPUS, C6]).cpus("0").profile(Profile::Audio).passes("150 us"),
                case("another CPU", &[TWO_CPUS, C6]).cpus("1").cannot_tell("/proc"),
                case("switched off", &[TWO_CPUS, C6, &[OFF]]).cpus("0").passes("10 us"),
                case("not for this CPU", &[TWO_CPUS, C6, &[(RESUME, "20\n")]]).cpus("0").passes("10 us"),
                case("no limit", &[TWO_CPUS, C6, &[(RESUME, "0\n")]]).cpus("0").fails("C6"),
                case("no latency at all", &[TWO_CPUS, C6, &[(RESUME, "n/a\n")]]).cpus("0").passes("10 us"),
                case("a limit that is none", &[TWO_CPUS, C6, &[(RESUME, "x\n")]])
                    .cpus("0")
                    .cannot_tell("`x`"),
                case("asked for", &[TWO_CPUS, C6, &[TEN]])
                    .cpus("0")
                    .passes("A process or driver requests at most 10 us"),
                case("asked for by one", &[TWO_CPUS, C6, CYCLICTEST, &[TEN, HELD]])
                    .cpus("0")
                    .passes("cyclictest (71) requests at most 10 us"),
                case("asked for by two", &[TWO_CPUS, C6, CYCLICTEST, &[TEN, HELD, HELD_TOO]])
                    .cpus("0")
                    .passes("cyclictest (71), one of 2 processes, requests"),
                case("idle=poll", &[TWO_CPUS, &[("/proc/cmdline", "idle=poll")]]).passes("poll"),
                case("no driver", &[TWO_CPUS, &[("/proc/cmdline", "quiet")]]).does_not_apply("halts"),
                case("no CPUs", &[C6]).cannot_tell("online"),
            ],
        );
    }

    #[test]
    fn an_unreadable_request_is_cannot_tell() {
        let files = [TWO_CPUS, C6].concat();
        let tree =
            whylate_host::FsRoot::memory(&files).refused("/dev/cpu_dma_latency", whylate_host::Why::Denied);
        let options =
            CheckOptions { cpus: Some("0".parse().expect("a list")), ..CheckOptions::of(Profile::Realtime) };
        assert!(check(&Snapshot::read(&tree), &options).is_err());
    }

    #[test]
    fn the_process_of_a_weak_request_is_shown() {
        // 256 us.
        const MUCH: (&str, &str) = ("/dev/cpu_dma_latency", "\0\u{1}\0\0");
        let shown = |tree: whylate_host::FsRoot| {
            let options = CheckOptions {
                cpus: Some("0".parse().expect("a list")),
                ..CheckOptions::of(Profile::Realtime)
            };
            let answer = check(&Snapshot::read(&tree), &options).expect("an answer");
            let proof = answer.evidence.iter().find(|proof| proof.path == "/proc/*/fd").expect("who").clone();
            proof.value
        };
        let files = [TWO_CPUS, C6, CYCLICTEST, &[MUCH, HELD]].concat();
        assert_eq!(shown(whylate_host::FsRoot::memory(&files)), "cyclictest (71) has it open");
        let files = [TWO_CPUS, C6, CYCLICTEST, &[MUCH]].concat();
        assert!(shown(whylate_host::FsRoot::memory(&files)).contains("not known"));
    }
}
