//! Resource limits of this process, or of a user by the files of PAM.

use crate::{CannotTell, CheckOptions};
use whylate_host::{LimitLine, OwnLimits, ProcessLimit, Snapshot, User};

/// A limit that affects real-time programs.
pub(in crate::rules) struct Item {
    /// As limits.conf(5) calls it.
    pub(in crate::rules) name: &'static str,
    /// As setrlimit(2) calls it.
    pub(in crate::rules) rlimit: &'static str,
    /// The capability that replaces it, by its bit (capabilities(7)).
    pub(in crate::rules) capability: (u32, &'static str),
    /// Where proc_pid_limits(5) has it.
    pub(in crate::rules) own: fn(&OwnLimits) -> ProcessLimit,
    /// From the unit of limits.conf to that of setrlimit.
    pub(in crate::rules) scale: fn(i64) -> u64,
}

/// The permitted values.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::rules) enum Granted {
    /// Any value, because of a capability.
    Anything {
        /// The user or process, and its capability.
        by: String,
    },
    /// Up to a limit, in the units of setrlimit(2).
    UpTo {
        /// The limit; `None`: unlimited.
        most: Option<u64>,
        /// The owner: `user ann`, `this process`.
        whose: String,
        /// The file with the limit.
        path: String,
        /// The line with the limit.
        line: String,
    },
    /// The kernel's default: no file sets a limit.
    Default {
        /// The owner.
        whose: String,
        /// Why the files do not apply.
        because: String,
    },
}

/// The permitted values of the user of `--user`; by default of this process.
pub(in crate::rules) fn granted(
    host: &Snapshot,
    options: &CheckOptions,
    item: &Item,
) -> Result<Granted, CannotTell> {
    match &options.user {
        None => own(host, item),
        Some(name) => of_user(host, name, item),
    }
}

fn own(host: &Snapshot, item: &Item) -> Result<Granted, CannotTell> {
    let limits = &host.limits.own;
    let limit = (item.own)(limits.need()?);
    let (bit, capability) = item.capability;
    if *host.limits.own_capabilities.need()? >> bit & 1 == 1 {
        return Ok(Granted::Anything { by: format!("This process has {capability}") });
    }
    let word = |most: Option<u64>| most.map_or("unlimited".to_owned(), |most| most.to_string());
    let line = match limit.soft == limit.hard {
        true => format!("{} {}", item.rlimit, word(limit.soft)),
        false => format!("{} {}, may be raised to {}", item.rlimit, word(limit.soft), word(limit.hard)),
    };
    // The kernel checks the soft limit.
    Ok(Granted::UpTo { most: limit.soft, whose: "this process".to_owned(), path: limits.path.clone(), line })
}

/// By pam_limits(8): a line for the user comes before one for a group, that before `*`; of the same sort the
/// last one counts.
fn of_user(host: &Snapshot, name: &str, item: &Item) -> Result<Granted, CannotTell> {
    let limits = &host.limits;
    let user = limits.users.need()?.iter().find(|user| user.name == name).ok_or_else(|| {
        CannotTell::because(
            &limits.users.path,
            format!("user {name} is not in it, but may be in a directory service"),
        )
    })?;
    if user.uid == 0 {
        return Ok(Granted::Anything { by: format!("{name} has every capability") });
    }
    let whose = format!("user {name}");
    if limits.pam.if_present()?.is_none_or(Vec::is_empty) {
        let because = "no service in /etc/pam.d uses pam_limits".to_owned();
        return Ok(Granted::Default { whose, because });
    }
    limits.drop_ins.if_present()?;
    let groups: Vec<&str> = limits
        .groups
        .need()?
        .iter()
        .filter(|(_, members)| members.iter().any(|member| member == name))
        .map(|(group, _)| group.as_str())
        .chain(user.group.as_deref())
        .collect();
    let best = |kind: &str| -> Result<Option<(&str, &LimitLine)>, CannotTell> {
        let mut best: Option<(u8, &str, &LimitLine)> = None;
        for file in &limits.files {
            for line in file.lines.if_present()?.into_iter().flatten() {
                let counts = line.item == item.name && (line.kind == kind || line.kind == "-");
                let Some(rank) = rank(&line.domain, user, &groups).filter(|_| counts) else { continue };
                if best.is_none_or(|(other, ..)| rank >= other) {
                    best = Some((rank, &file.lines.path, line));
                }
            }
        }
        Ok(best.map(|(_, path, line)| (path, line)))
    };
    let (soft, hard) = match (best("soft")?, best("hard")?) {
        (None, None) => {
            let because = format!("no line for {} in /etc/security", item.name);
            return Ok(Granted::Default { whose, because });
        }
        // One without the other keeps the kernel's default.
        (Some((path, line)), None) | (None, Some((path, line))) => {
            value(item, path, line)?;
            let because =
                format!("`{}` in {path} sets only one of the soft and the hard limit", as_written(line));
            return Ok(Granted::Default { whose, because });
        }
        (Some(soft), Some(hard)) => (soft, hard),
    };
    // The kernel checks the soft limit, which is never above the hard one.
    let (most, most_hard) = (value(item, soft.0, soft.1)?, value(item, hard.0, hard.1)?);
    let by_soft = most.is_some_and(|most| most_hard.is_none_or(|hard| most <= hard));
    let (most, (path, line)) = if by_soft { (most, soft) } else { (most_hard, hard) };
    Ok(Granted::UpTo { most, whose, path: path.to_owned(), line: as_written(line) })
}

/// A line as it is written.
fn as_written(line: &LimitLine) -> String {
    format!("{} {} {} {}", line.domain, line.kind, line.item, line.value)
}

/// What a line allows, in the units of setrlimit(2); `None`: anything.
fn value(item: &Item, path: &str, line: &LimitLine) -> Result<Option<u64>, CannotTell> {
    match line.value.as_str() {
        "unlimited" | "infinity" => Ok(None),
        "-1" if item.name != "nice" => Ok(None),
        number => {
            let number: i64 = number.parse().map_err(|_| {
                CannotTell::because(path, format!("`{}`: expected a number", as_written(line)))
            })?;
            Ok(Some((item.scale)(number)))
        }
    }
}

/// How closely a domain of limits.conf(5) names the user; `None`: not at all.
fn rank(domain: &str, user: &User, groups: &[&str]) -> Option<u8> {
    let within = |range: &str, id: u32| {
        let (low, high) = range.split_once(':')?;
        let bound = |text: &str| text.parse::<u32>().ok();
        match (low, high) {
            ("", high) => Some(bound(high)? == id),
            (low, "") => Some(id >= bound(low)?),
            (low, high) => Some((bound(low)?..=bound(high)?).contains(&id)),
        }
    };
    match domain.strip_prefix('@') {
        Some(group) if groups.contains(&group) => Some(1),
        Some(range) => within(range, user.gid)?.then_some(1),
        None if domain == "*" => Some(0),
        None if domain == user.name => Some(2),
        None => within(domain, user.uid)?.then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use whylate_host::FsRoot;

    const RTPRIO: Item = Item {
        name: "rtprio",
        rlimit: "RLIMIT_RTPRIO",
        capability: (23, "CAP_SYS_NICE"),
        own: |own| own.rtprio,
        scale: |value| value.max(0) as u64,
    };

    fn most(conf: &str) -> Option<u64> {
        let host = Snapshot::read(&FsRoot::memory(&[
            ("/etc/passwd", "ann:x:1000:1000:::\n"),
            ("/etc/group", "ann:x:1000:\naudio:x:29:ann\n"),
            ("/etc/pam.d/login", "session required pam_limits.so\n"),
            ("/etc/security/limits.conf", conf),
        ]));
        let options = CheckOptions { user: Some("ann".to_owned()), ..CheckOptions::of(Profile::Audio) };
        match granted(&host, &options, &RTPRIO).expect("an answer") {
            Granted::UpTo { most, .. } => most,
            other => panic!("{conf}: {other:?}"),
        }
    }

    #[test]
    fn the_closest_line_counts_and_of_those_the_last() {
        for (conf, expected) in [
            ("* - rtprio 1\n", 1),
            ("ann hard rtprio 5\n@audio - rtprio 95\n* - rtprio 1\n", 5),
            ("@audio - rtprio 95\n* - rtprio 1\n", 95),
            ("@audio - rtprio 95\n@ann - rtprio 20\n", 20),
            ("1000:1999 - rtprio 7\n@audio - rtprio 95\n", 7),
            (":1000 - rtprio 8\n1001: - rtprio 9\n", 8),
            ("@999:1000 - rtprio 6\nbob - rtprio 9\n", 6),
            ("* - rtprio 3\n* soft rtprio 9\n* - memlock 4\n", 3),
            ("ann soft rtprio 2\n@audio - rtprio 95\n", 2),
        ] {
            assert_eq!(most(conf), Some(expected), "{conf}");
        }
        assert_eq!(most("ann - rtprio unlimited\n"), None);
    }
}
