//! The systemd unit that starts a program as a request does (systemd.exec(5), systemd.service(5)).

use super::error::RunError;
use super::program::Program;
use super::request::RunRequest;
use std::ffi::OsString;
use std::fmt::Write;
use whylate_base::systemd_word as quoted;
use whylate_base::{Ns, Policy};
use whylate_sys::SchedParams;

/// The unit's text. What systemd has no setting for stays with whylate, which ExecStart= then starts.
///
/// # Errors
/// If the program does not exist.
pub fn unit(request: &RunRequest, command: &[OsString], own: &str) -> Result<String, RunError> {
    let program = Program::find(command)?;
    let rest = rest(request);
    let mut text = format!(
        "[Unit]\nDescription={}, started as whylate run does\n\n[Service]\nType=exec\n",
        program.name()
    );
    let mut set = |name: &str, value: String| {
        let _ = writeln!(text, "{name}={value}");
    };
    for limit in &request.limits {
        let value = limit.value().map_or("infinity".to_owned(), |value| value.to_string());
        set(&format!("Limit{}", limit.name().to_ascii_uppercase()), value);
    }
    match request.scheduling {
        Some(params) if params.policy != Policy::Deadline => scheduling(&params, &mut set),
        _ => {}
    }
    if let Some(cpus) = &request.cpus {
        // systemd separates by blanks or commas.
        set("CPUAffinity", cpus.to_string());
    }
    match request.timer_slack {
        // The kernel's default, which systemd leaves as it is.
        Some(Ns::ZERO) | None => {}
        Some(slack) => set("TimerSlackNSec", format!("{}ns", slack.0)),
    }
    if !request.memory_nodes.is_empty() {
        let nodes: Vec<String> = request.memory_nodes.iter().map(ToString::to_string).collect();
        set("NUMAPolicy", "bind".to_owned());
        set("NUMAMask", nodes.join(","));
    }
    let mut words: Vec<String> = Vec::new();
    if !rest.is_empty() {
        words.extend([own.to_owned(), "run".to_owned()]);
        words.extend(rest);
        // whylate itself needs root.
        words.extend(request.user.iter().flat_map(|user| ["--user".to_owned(), user.clone()]));
        words.push("--".to_owned());
    } else if let Some(user) = &request.user {
        set("User", user.clone());
    }
    words.push(program.path());
    words.extend(command.iter().skip(1).map(|word| word.to_string_lossy().into_owned()));
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    set("ExecStart", words.join(" "));
    text.push_str("\n[Install]\nWantedBy=multi-user.target\n");
    Ok(text)
}

fn scheduling(params: &SchedParams, set: &mut impl FnMut(&str, String)) {
    set("CPUSchedulingPolicy", params.policy.name().to_owned());
    match params.policy {
        Policy::Fifo | Policy::Rr => set("CPUSchedulingPriority", params.priority.to_string()),
        Policy::Other | Policy::Batch => set("Nice", params.nice.to_string()),
        _ => {}
    }
}

/// The options that systemd has no setting for.
fn rest(request: &RunRequest) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if let Some(params) = request.scheduling.and_then(|params| params.deadline) {
        let value = format!("{}ns:{}ns:{}ns", params.runtime.0, params.deadline.0, params.period.0);
        option("--deadline", value);
    }
    if let Some(us) = request.dma_latency_us {
        option("--dma-latency", us.to_string());
    }
    request.irqs.iter().for_each(|rule| option("--irq", rule.to_string()));
    request.new_threads.iter().for_each(|rule| option("--new-threads", rule.to_string()));
    if let Some(name) = &request.cgroup {
        option("--cgroup", name.clone());
    }
    if let Some(cpus) = &request.isolated {
        option("--isolated", cpus.to_string());
    }
    if request.force && !words.is_empty() {
        words.push("--force".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_of(request: &RunRequest, command: &[&str]) -> String {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        unit(request, &command, "/usr/bin/whylate").expect("a unit")
    }

    #[test]
    fn what_systemd_can_set_it_sets() {
        let request = RunRequest {
            limits: vec![
                "rtprio=80".parse().expect("a limit"),
                "memlock=unlimited".parse().expect("a limit"),
            ],
            scheduling: Some(SchedParams::fifo(80)),
            cpus: "2-3".parse().ok(),
            timer_slack: Some(Ns(1000)),
            memory_nodes: vec![0],
            user: Some("daemon".to_owned()),
            ..RunRequest::default()
        };
        let text = unit_of(&request, &["/bin/sh", "-c", "echo \"$HOME\" 100%"]);
        for line in [
            "LimitRTPRIO=80",
            "LimitMEMLOCK=infinity",
            "CPUSchedulingPolicy=fifo",
            "CPUSchedulingPriority=80",
            "CPUAffinity=2-3",
            "TimerSlackNSec=1000ns",
            "NUMAPolicy=bind",
            "NUMAMask=0",
            "User=daemon",
            "ExecStart=/bin/sh -c \"echo \\\"$$HOME\\\" 100%%\"",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
    }

    #[test]
    fn what_it_cannot_set_stays_with_whylate() {
        let request = RunRequest {
            dma_latency_us: Some(0),
            new_threads: vec!["ctl*=fifo:80@3".parse().expect("a rule")],
            user: Some("daemon".to_owned()),
            ..RunRequest::default()
        };
        let text = unit_of(&request, &["/bin/sh"]);
        let start = "ExecStart=/usr/bin/whylate run --dma-latency 0 --new-threads ctl*=fifo:80@3 --user daemon -- /bin/sh";
        assert!(text.contains(start) && !text.contains("User="), "{text}");
    }
}
