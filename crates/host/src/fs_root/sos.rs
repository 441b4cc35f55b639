//! A sosreport keeps some files only as the output of a command, below `sos_commands/`, and of some directories
//! it takes single files.

use std::collections::HashMap;

/// A machine of 512 CPUs has some 20,000 sysctls, most of them of its network interfaces.
const MOST_SETTINGS: usize = 1 << 18;

/// Files of the machine from command outputs.
#[derive(Default)]
pub(super) struct Overlay {
    /// Files by path.
    pub(super) files: HashMap<String, String>,
    /// Directories that a report contains only in part, with all their names if a listing has them; without a
    /// listing, the files in the report prove nothing about other files.
    pub(super) directories: HashMap<String, Option<Vec<String>>>,
}

/// The overlay of a sosreport; `text` reads one of its files.
pub(super) fn overlay(text: impl Fn(&str) -> Option<String>) -> Overlay {
    let mut files = HashMap::new();
    if let Some(uname) = text("/sos_commands/kernel/uname_-a").or_else(|| text("/sos_commands/host/uname_-a"))
    {
        files.extend(from_uname(&uname));
    }
    if let Some(settings) = text("/sos_commands/kernel/sysctl_-a") {
        files.extend(settings.lines().filter_map(from_sysctl).take(MOST_SETTINGS));
    }
    if let Some(messages) =
        text("/sos_commands/kernel/dmesg").or_else(|| text("/sos_commands/kernel/dmesg_-T"))
    {
        files.insert("/var/log/dmesg".to_owned(), messages);
    }
    let boot = text("/sos_commands/boot/ls_-lanR_.boot").and_then(|listing| from_listing(&listing, "/boot"));
    Overlay { files, directories: HashMap::from([("/boot".to_owned(), boot)]) }
}

/// The names that `ls -lanR` lists in one directory: its part begins with the directory's name and a colon, and
/// ends with an empty line. A link's target is left out.
fn from_listing(listing: &str, directory: &str) -> Option<Vec<String>> {
    let heading = format!("{directory}:");
    let mut lines = listing.lines().skip_while(|line| line.trim_end() != heading);
    lines.next()?;
    let name = |line: &str| {
        // Mode, links, owner, group, size, month, day, time or year: the rest is the name.
        let mut rest = line;
        for _ in 0..8 {
            rest = rest.trim_start().split_once(' ')?.1;
        }
        let name = rest.split(" -> ").next().unwrap_or(rest);
        (!matches!(name, "" | "." | "..")).then(|| name.to_owned())
    };
    Some(lines.take_while(|line| !line.trim().is_empty()).filter_map(name).collect())
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
    fn a_listing_has_the_names_of_its_directory_alone() {
        let listing = "/boot:\ntotal 8\ndrwxr-xr-x. 5 0 0 4096 Nov  1 10:00 .\n-rw-------  1 0 0  7 Nov  1  2024 a b\n\
                       lrwxrwxrwx 1 0 0 9 Nov 1 10:00 vmlinuz -> vmlinuz-6.1\n\n/boot/efi:\n-rw- 1 0 0 1 Nov 1 10:00 c\n";
        assert_eq!(from_listing(listing, "/boot"), Some(vec!["a b".to_owned(), "vmlinuz".to_owned()]));
        assert_eq!(from_listing(listing, "/boot/efi"), Some(vec!["c".to_owned()]));
        assert_eq!(from_listing(listing, "/none"), None);
        assert_eq!(from_listing("/boot:\n\u{e9} x\n", "/boot"), Some(vec![]));
    }

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
