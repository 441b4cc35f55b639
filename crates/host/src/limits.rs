//! Resource limits of users and groups, and of this process.

use crate::{FromText, FsRoot, Reading, Why};

/// Limits and the users they apply to.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// /etc/security/limits.conf, then those of limits.d in the order they are applied.
    pub files: Vec<LimitsFile>,
    /// What limits.d holds; that it cannot be listed means that limits may be missing above.
    pub drop_ins: Reading<Vec<String>>,
    /// /proc/self/limits: the limits of this process.
    pub own: Reading<OwnLimits>,
    /// The effective capabilities of this process, a mask (capabilities(7)).
    pub own_capabilities: Reading<u64>,
    /// Users with their first group. Nothing else of /etc/passwd is kept.
    pub users: Reading<Vec<User>>,
    /// Groups with their members.
    pub groups: Reading<Vec<(String, Vec<String>)>>,
    /// The login services of PAM that set limits: files of /etc/pam.d that name `pam_limits`.
    pub pam: Reading<Vec<String>>,
}

/// A file of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitsFile {
    /// Its lines.
    pub lines: Reading<Vec<LimitLine>>,
}

/// A line of limits.conf(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitLine {
    /// A user, `@group`, `*`.
    pub domain: String,
    /// `soft`, `hard`, `-` for both.
    pub kind: String,
    /// `rtprio`, `memlock`, `nice`.
    pub item: String,
    /// A number, `unlimited`, `-1`.
    pub value: String,
}

/// A limit of a process; `None`: unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimit {
    /// What counts now.
    pub soft: Option<u64>,
    /// The highest value the process may set.
    pub hard: Option<u64>,
}

/// Limits of a process (proc_pid_limits(5)) that real-time threads meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLimits {
    /// RLIMIT_RTPRIO.
    pub rtprio: ProcessLimit,
    /// RLIMIT_MEMLOCK, bytes.
    pub memlock: ProcessLimit,
    /// RLIMIT_NICE, as 20 less the lowest nice value.
    pub nice: ProcessLimit,
    /// RLIMIT_RTTIME, microseconds.
    pub rttime: ProcessLimit,
}

impl FromText for OwnLimits {
    const EXPECTED: &'static str = "the lines of proc_pid_limits(5)";

    fn from_text(text: &str) -> Option<Self> {
        let amount = |word: &str| match word {
            "unlimited" => Some(None),
            number => number.parse().ok().map(Some),
        };
        let limit = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            let mut words = rest.split_ascii_whitespace();
            Some(ProcessLimit { soft: amount(words.next()?)?, hard: amount(words.next()?)? })
        };
        Some(OwnLimits {
            rtprio: limit("Max realtime priority")?,
            memlock: limit("Max locked memory")?,
            nice: limit("Max nice priority")?,
            rttime: limit("Max realtime timeout")?,
        })
    }
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The id.
    pub uid: u32,
    /// The first group's id.
    pub gid: u32,
    /// The first group's name, if there is one.
    pub group: Option<String>,
}

impl Limits {
    pub(crate) fn read(tree: &FsRoot) -> Limits {
        let drop_ins = tree.list("/etc/security/limits.d");
        let names = drop_ins.known().into_iter().flatten().filter(|name| name.ends_with(".conf"));
        let paths = names.map(|name| format!("/etc/security/limits.d/{name}"));
        let files = std::iter::once("/etc/security/limits.conf".to_owned())
            .chain(paths)
            .map(|path| LimitsFile { lines: tree.text(&path).and_then(|text| Ok(lines(text))) })
            .collect();
        let group = tree.text("/etc/group");
        Limits {
            files,
            drop_ins,
            own: tree.value("/proc/self/limits"),
            own_capabilities: capabilities(tree),
            users: users(tree, &group),
            groups: group.and_then(|text| {
                Ok(text.lines().filter_map(group_line).map(|(name, _, members)| (name, members)).collect())
            }),
            pam: pam(tree),
        }
    }
}

/// Of the whole status nothing else is kept.
fn capabilities(tree: &FsRoot) -> Reading<u64> {
    let only = |text: &str| -> String {
        text.lines().filter(|line| line.starts_with("CapEff:")).map(|line| format!("{line}\n")).collect()
    };
    tree.filtered("/proc/self/status", only).and_then(|text| {
        let mask = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .ok_or_else(|| Why::Malformed { expected: "CapEff".to_owned() })
    })
}

fn lines(text: &str) -> Vec<LimitLine> {
    let lines = text.lines().filter_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [domain, kind, item, value] = words[..] else { return None };
        let owned = str::to_owned;
        Some(LimitLine { domain: owned(domain), kind: owned(kind), item: owned(item), value: owned(value) })
    });
    lines.collect()
}

/// `name:x:uid:gid:...`; the real name, the home and the shell are left out.
fn users(tree: &FsRoot, group: &Reading<String>) -> Reading<Vec<User>> {
    let ids = |text: &str| -> String {
        let line = |line: &str| {
            let mut fields = line.split(':');
            let (name, _, uid, gid) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            Some(format!("{name}:x:{uid}:{gid}:::\n"))
        };
        text.lines().filter_map(line).collect()
    };
    tree.filtered("/etc/passwd", ids).and_then(|text| {
        let user = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, uid, gid, ..] = fields[..] else { return None };
            let gid: u32 = gid.parse().ok()?;
            let names = group.known().into_iter().flat_map(|text| text.lines()).filter_map(group_line);
            let group = names.into_iter().find(|(_, id, _)| *id == gid).map(|(name, _, _)| name);
            Some(User { name: name.to_owned(), uid: uid.parse().ok()?, gid, group })
        };
        Ok(text.lines().filter_map(user).collect())
    })
}

fn group_line(line: &str) -> Option<(String, u32, Vec<String>)> {
    let mut fields = line.split(':');
    let (name, _, gid, members) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let members = members.split(',').filter(|member| !member.is_empty()).map(str::to_owned).collect();
    Some((name.to_owned(), gid.parse().ok()?, members))
}

fn pam(tree: &FsRoot) -> Reading<Vec<String>> {
    tree.list("/etc/pam.d").and_then(|names| {
        let sets_limits = |text: &str| -> String {
            text.lines().filter(|line| line.contains("pam_limits")).map(|line| format!("{line}\n")).collect()
        };
        let mut services = Vec::new();
        for name in names {
            let lines = tree.filtered(&format!("/etc/pam.d/{name}"), sets_limits).value?;
            if lines.lines().any(|line| !line.trim_start().starts_with('#')) {
                services.push(name.clone());
            }
        }
        Ok(services)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_process() {
        const TEXT: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max locked memory         8388608              unlimited            bytes     \n\
            Max nice priority         0                    30                   \n\
            Max realtime priority     0                    95                   \n\
            Max realtime timeout      200000               unlimited            us        \n";
        let own = OwnLimits::from_text(TEXT).expect("limits");
        assert_eq!(own.memlock, ProcessLimit { soft: Some(8_388_608), hard: None });
        assert_eq!((own.rtprio.hard, own.nice.hard, own.rttime.soft), (Some(95), Some(30), Some(200_000)));
        assert_eq!(OwnLimits::from_text(&TEXT.replace("95", "x")), None);
        assert_eq!(OwnLimits::from_text(""), None);
        let status = "Name:\tsecret\nCapEff:\t000001ffffffffff\n";
        let tree = FsRoot::memory(&[("/proc/self/status", status)]).noting();
        assert_eq!(capabilities(&tree).known(), Some(&0x1ff_ffff_ffff));
        let notes = format!("{:?}", FsRoot::captured(tree.into_notes()).text("/proc/self/status"));
        assert!(notes.contains("CapEff") && !notes.contains("secret"), "{notes}");
    }

    #[test]
    fn limits_and_who_they_are_for() {
        let tree = FsRoot::memory(&[
            ("/etc/security/limits.conf", "# x\n@audio - rtprio 95 # note\nbad line\n"),
            ("/etc/security/limits.d/99-rt.conf", "* hard memlock unlimited\n"),
            ("/etc/security/limits.d/README", "* hard rtprio 1\n"),
            ("/etc/passwd", "ann:x:1000:29:Ann Secret:/h:/bin/sh\n"),
            ("/etc/group", "audio:x:29:bob,cid\n"),
            ("/etc/pam.d/login", "session required pam_limits.so\n"),
            ("/etc/pam.d/su", "# session required pam_limits.so\n"),
        ])
        .noting();
        let limits = Limits::read(&tree);
        let lines: Vec<usize> =
            limits.files.iter().map(|file| file.lines.need().expect("read").len()).collect();
        assert_eq!(lines, [1, 1]);
        let user = &limits.users.need().expect("users")[0];
        assert_eq!((user.name.as_str(), user.group.as_deref()), ("ann", Some("audio")));
        assert_eq!(limits.groups.need().expect("groups")[0].1, ["bob", "cid"]);
        assert_eq!(limits.pam.need().expect("pam"), &["login"]);
        let notes = format!("{:?}", FsRoot::captured(tree.into_notes()).text("/etc/passwd"));
        assert!(notes.contains("ann") && !notes.contains("Secret"), "{notes}");
    }
}
