//! A sosreport keeps some files only as the output of a command, below `sos_commands/`.

use super::directory::Directory;
use std::collections::HashMap;

const MOST_BYTES: usize = 16 << 20;

/// The files that the outputs stand for; none where it is no sosreport.
pub(super) fn overlay(directory: &Directory) -> HashMap<String, String> {
    let text = |path: &str| {
        let bytes = directory.file(path, MOST_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut files = HashMap::new();
    if let Some(uname) = text("/sos_commands/kernel/uname_-a").or_else(|| text("/sos_commands/host/uname_-a"))
    {
        files.extend(from_uname(&uname));
    }
    if let Some(settings) = text("/sos_commands/kernel/sysctl_-a") {
        files.extend(settings.lines().filter_map(from_sysctl));
    }
    if let Some(messages) =
        text("/sos_commands/kernel/dmesg").or_else(|| text("/sos_commands/kernel/dmesg_-T"))
    {
        files.insert("/var/log/dmesg".to_owned(), messages);
    }
    files
}

/// `Linux HOST RELEASE VERSION... MACHINE...`: the version begins with `#` and ends with a year.
fn from_uname(uname: &str) -> Vec<(String, String)> {
    let Some((before, version)) = uname.trim().split_once(" #") else { return Vec::new() };
    let Some(release) = before.split_ascii_whitespace().nth(2) else { return Vec::new() };
    vec![
        ("/proc/sys/kernel/osrelease".to_owned(), format!("{release}\n")),
        ("/proc/sys/kernel/version".to_owned(), format!("#{version}\n")),
    ]
}

/// `kernel.sched_rt_runtime_us = 950000`; a dot in a name is written as a slash (sysctl(8)).
fn from_sysctl(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(" =")?;
    let path: String = key
        .trim()
        .chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            c => c,
        })
        .collect();
    (!path.contains("..") && !path.contains(' '))
        .then(|| (format!("/proc/sys/{path}"), format!("{}\n", value.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_become_files() {
        assert_eq!(
            from_sysctl("kernel.sched_rt_runtime_us = 950000"),
            Some(("/proc/sys/kernel/sched_rt_runtime_us".into(), "950000\n".into()))
        );
        assert_eq!(
            from_sysctl("net.ipv4.conf.eth0/1.forwarding = 0").map(|(path, _)| path).as_deref(),
            Some("/proc/sys/net/ipv4/conf/eth0.1/forwarding")
        );
        assert_eq!(from_sysctl("sysctl: permission denied on key 'x'"), None);
        let uname =
            "Linux h 5.14.0-427.el9.x86_64+rt #1 SMP PREEMPT_RT Fri Jan 5 2024 x86_64 x86_64 GNU/Linux";
        let files = from_uname(uname);
        assert_eq!(files[0].1, "5.14.0-427.el9.x86_64+rt\n");
        assert!(files[1].1.starts_with("#1 SMP PREEMPT_RT "));
        assert_eq!(from_uname("nonsense #"), []);
    }
}
