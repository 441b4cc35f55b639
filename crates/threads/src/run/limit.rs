//! Resource limits: `rtprio=50`, `memlock=64M`, `rttime=200ms`.

use rustix::process::{Pid, Resource, Rlimit};
use std::fmt;
use std::io;
use std::str::FromStr;
use whylate_base::{Tid, parse_duration};
use whylate_sys::SysError;

/// The limits that real-time programs meet (getrlimit(2)).
const KNOWN: [(&str, Resource, &str); 5] = [
    ("rtprio", Resource::Rtprio, "Max realtime priority"),
    ("memlock", Resource::Memlock, "Max locked memory"),
    ("rttime", Resource::Rttime, "Max realtime timeout"),
    ("nice", Resource::Nice, "Max nice priority"),
    ("stack", Resource::Stack, "Max stack size"),
];

/// A soft limit; the hard one is raised with it where it is lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitChange {
    name: &'static str,
    resource: Resource,
    title: &'static str,
    value: Option<u64>,
}

impl LimitChange {
    /// Its name, as limits.conf(5) has it.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Its value in the units of setrlimit(2); `None`: unlimited.
    pub(super) fn value(self) -> Option<u64> {
        self.value
    }

    /// How its line in /proc/PID/limits begins.
    pub(super) fn title(self) -> &'static str {
        self.title
    }

    /// Sets the limit of a process, 0 for this one, and gives back what it then is.
    pub(super) fn set(self, process: Tid) -> Result<String, SysError> {
        let pid = Pid::from_raw(process.0);
        let failed =
            |error: rustix::io::Errno| SysError::of_io("prlimit", self.to_string(), &io::Error::from(error));
        let now = match pid {
            // The hard limit of another process cannot be read without a change: it keeps the higher of both.
            Some(pid) => rustix::process::prlimit(
                Some(pid),
                self.resource,
                Rlimit { current: self.value, maximum: self.value },
            ),
            None => {
                let now = rustix::process::getrlimit(self.resource);
                let is_lower = now.maximum.is_some_and(|hard| self.value.is_none_or(|value| hard < value));
                let maximum = if is_lower { self.value } else { now.maximum };
                rustix::process::setrlimit(self.resource, Rlimit { current: self.value, maximum })
                    .map(|()| now)
            }
        };
        now.map_err(failed)?;
        Ok(self.to_string())
    }
}

impl FromStr for LimitChange {
    type Err = String;

    fn from_str(text: &str) -> Result<LimitChange, String> {
        let (name, value) = text.split_once('=').ok_or("write it like rtprio=50")?;
        let &(name, resource, title) = KNOWN.iter().find(|(known, _, _)| *known == name).ok_or_else(|| {
            format!("`{name}` is not a limit of real-time programs: use rtprio, memlock, rttime, nice or stack")
        })?;
        let number = match (value, name) {
            ("unlimited" | "infinity", _) => None,
            (_, "rttime") => Some(microseconds(value)?),
            (_, "memlock" | "stack") => Some(bytes(value)?),
            _ => Some(value.parse().map_err(|_| format!("`{value}` is not a number"))?),
        };
        match (name, number) {
            ("rtprio", None | Some(100..)) => Err("rtprio takes 0 to 99".to_owned()),
            ("nice", None | Some(41..)) => {
                Err("nice takes 0 to 40: 20 less the lowest nice value".to_owned())
            }
            _ => Ok(LimitChange { name, resource, title, value: number }),
        }
    }
}

/// RLIMIT_RTTIME counts microseconds; a number without a unit is one.
fn microseconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(us) => Ok(us),
        Err(_) => {
            let ns = parse_duration(text).map_err(|error| error.to_string())?;
            Ok(ns.0.unsigned_abs() / 1000)
        }
    }
}

/// A size, such as 65536, 64K, 8M or 1G.
pub fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "" => Some(0),
        "K" | "k" | "KiB" => Some(10),
        "M" | "MiB" => Some(20),
        "G" | "GiB" => Some(30),
        _ => None,
    };
    let number =
        digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(1 << unit));
    number.ok_or_else(|| format!("`{text}` is not a size such as 65536, 64K, 8M or 1G"))
}

impl fmt::Display for LimitChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "limit {} {value}", self.name),
            None => write!(f, "limit {} unlimited", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        for (text, shown) in [
            ("rtprio=50", "limit rtprio 50"),
            ("memlock=64M", "limit memlock 67108864"),
            ("memlock=unlimited", "limit memlock unlimited"),
            ("rttime=200ms", "limit rttime 200000"),
            ("rttime=950000", "limit rttime 950000"),
            ("stack=16K", "limit stack 16384"),
        ] {
            assert_eq!(text.parse::<LimitChange>().expect(text).to_string(), shown);
        }
        for wrong in [
            "rtprio",
            "rtprio=100",
            "rtprio=unlimited",
            "nice=41",
            "files=1",
            "memlock=1T",
            "memlock=x",
            "rttime=x",
        ] {
            assert!(wrong.parse::<LimitChange>().is_err(), "{wrong}");
        }
        assert!(bytes("99999999999999999999").is_err() && bytes("18446744073709551615G").is_err());
    }
}
