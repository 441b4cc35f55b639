//! When an entry counts: `isolated and not polling`, of variables and of what the machine is.
//!
//! What could not be read makes a condition neither true nor false, unless the rest of it settles the matter.

use super::error::{Mistake, there_are};
use super::expression::is_of_name;
use whylate_host::{KernelVersion, Snapshot};

/// What can be asked of a machine, and what it means.
pub(super) const FACTS: &[(&str, Ask)] = &[
    ("fair-server", fair_server),
    ("stalld", stalld),
    ("rt-throttling", rt_throttling),
    ("rt-groups", rt_groups),
    ("tsc", tsc),
    ("tsc-available", tsc_available),
];

/// A question to a machine.
type Ask = fn(&Snapshot) -> Truth;

/// True, false, or why nobody knows.
pub(super) type Truth = Result<bool, String>;

const DEEPEST: usize = 64;
const LONGEST: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Name(String),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    pub(super) fn parse(text: &str) -> Result<Condition, Mistake> {
        if text.len() > LONGEST {
            return Err(Mistake::new("this is too long for a condition", possible()));
        }
        let mut words = words(text)?;
        // Taken from the end.
        words.reverse();
        let mut depth = 0;
        let condition = any(&mut words, &mut depth)?;
        match words.pop() {
            None => Ok(condition),
            Some(more) => Err(Mistake::new(format!("`{more}` is one too many in `{text}`"), possible())),
        }
    }

    /// `name` says what a name stands for, be it a variable or a fact.
    pub(super) fn holds(
        &self,
        name: &mut dyn FnMut(&str) -> Result<Truth, Mistake>,
    ) -> Result<Truth, Mistake> {
        Ok(match self {
            Condition::Name(own) => name(own)?,
            Condition::Not(inner) => inner.holds(name)?.map(|truth| !truth),
            Condition::And(a, b) => match (a.holds(name)?, b.holds(name)?) {
                (Ok(false), _) | (_, Ok(false)) => Ok(false),
                (Ok(true), other) | (other, Ok(true)) => other,
                (unknown, _) => unknown,
            },
            Condition::Or(a, b) => match (a.holds(name)?, b.holds(name)?) {
                (Ok(true), _) | (_, Ok(true)) => Ok(true),
                (Ok(false), other) | (other, Ok(false)) => other,
                (unknown, _) => unknown,
            },
        })
    }

    /// True where it asks anything of the machine, and not only of variables.
    pub(super) fn asks_machine(&self) -> bool {
        match self {
            Condition::Name(name) => FACTS.iter().any(|(fact, _)| fact == name),
            Condition::Not(inner) => inner.asks_machine(),
            Condition::And(a, b) | Condition::Or(a, b) => a.asks_machine() || b.asks_machine(),
        }
    }
}

fn possible() -> String {
    let facts = there_are(FACTS.iter().map(|(name, _)| *name));
    format!(
        "a condition is written like `isolated and not polling`, of variables and facts; of facts {facts}"
    )
}

fn words(text: &str) -> Result<Vec<String>, Mistake> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' => 1,
            c if is_of_name(c) => rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()),
            other => return Err(Mistake::new(format!("`{other}` is no part of a condition"), possible())),
        };
        words.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

fn any(words: &mut Vec<String>, depth: &mut usize) -> Result<Condition, Mistake> {
    let mut left = every(words, depth)?;
    while words.pop_if(|word| word == "or").is_some() {
        left = Condition::Or(Box::new(left), Box::new(every(words, depth)?));
    }
    Ok(left)
}

fn every(words: &mut Vec<String>, depth: &mut usize) -> Result<Condition, Mistake> {
    let mut left = plain(words, depth)?;
    while words.pop_if(|word| word == "and").is_some() {
        left = Condition::And(Box::new(left), Box::new(plain(words, depth)?));
    }
    Ok(left)
}

fn plain(words: &mut Vec<String>, depth: &mut usize) -> Result<Condition, Mistake> {
    *depth += 1;
    if *depth > DEEPEST {
        return Err(Mistake::new("this condition has too many parts", possible()));
    }
    match words.pop().as_deref() {
        Some("not") => Ok(Condition::Not(Box::new(plain(words, depth)?))),
        Some("(") => {
            let inner = any(words, depth)?;
            match words.pop().as_deref() {
                Some(")") => Ok(inner),
                _ => Err(Mistake::new("a `)` is missing", possible())),
            }
        }
        Some(word @ (")" | "and" | "or")) => {
            Err(Mistake::new(format!("there is nothing before `{word}`"), possible()))
        }
        Some(name) => Ok(Condition::Name(name.to_owned())),
        None => Err(Mistake::new("a name is missing at the end", possible())),
    }
}

/// The deadline server for SCHED_OTHER threads is on for every CPU.
fn fair_server(host: &Snapshot) -> Truth {
    let servers = host.sched.fair_servers.known().filter(|servers| !servers.is_empty());
    if let Some(servers) = servers {
        for server in servers {
            if *server.runtime_ns.need().map_err(|unread| unread.to_string())? == 0 {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if version(host)? < KernelVersion::new(6, 12) {
        return Ok(false);
    }
    match host.sched.fair_servers.need() {
        Err(unread) => Err(unread.to_string()),
        Ok(_) => Ok(false),
    }
}

/// stalld is installed, or runs.
fn stalld(host: &Snapshot) -> Truth {
    let runs = host.threads.each.known().is_some_and(|all| all.iter().any(|thread| thread.comm == "stalld"));
    if runs {
        return Ok(true);
    }
    let shipped = host.systemd.shipped.if_present().map_err(|unread| unread.to_string())?;
    Ok(shipped.is_some_and(|units| units.iter().any(|unit| unit == "stalld.service")))
}

/// RT bandwidth control can stop real-time threads on this kernel: from 6.12 on only with RT_GROUP_SCHED built in.
fn rt_throttling(host: &Snapshot) -> Truth {
    if version(host)? < KernelVersion::new(6, 12) {
        return Ok(true);
    }
    let config = host.kernel.config.need().map_err(|unread| unread.to_string())?;
    Ok(config.has("RT_GROUP_SCHED"))
}

/// Real-time threads are scheduled by control groups, and that can be switched off at boot (6.16).
fn rt_groups(host: &Snapshot) -> Truth {
    let config = host.kernel.config.need().map_err(|unread| unread.to_string())?;
    Ok(config.has("RT_GROUP_SCHED") && version(host)? >= KernelVersion::new(6, 16))
}

/// Time is read from the TSC.
fn tsc(host: &Snapshot) -> Truth {
    let current = host.clocks.source.current.need().map_err(|unread| unread.to_string())?;
    Ok(current == "tsc")
}

/// The kernel trusts the TSC, whether it is in use or not.
fn tsc_available(host: &Snapshot) -> Truth {
    let available = host.clocks.source.available.need().map_err(|unread| unread.to_string())?;
    Ok(available.has("tsc"))
}

fn version(host: &Snapshot) -> Result<KernelVersion, String> {
    host.kernel.numbers().map_err(|unread| unread.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_host::Tree;

    fn holds(text: &str) -> Truth {
        let condition = Condition::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.what));
        let named = condition.holds(&mut |name| {
            Ok(match name {
                "yes" => Ok(true),
                "no" => Ok(false),
                _ => Err(name.to_owned()),
            })
        });
        named.expect("only names")
    }

    #[test]
    fn what_is_not_known_stays_so_unless_the_rest_settles_it() {
        for (text, truth) in [
            ("yes", Some(true)),
            ("not yes", Some(false)),
            ("yes and no or yes", Some(true)),
            ("no and (yes or yes)", Some(false)),
            ("unknown", None),
            ("not unknown", None),
            ("unknown or yes", Some(true)),
            ("yes or unknown", Some(true)),
            ("unknown and no", Some(false)),
            ("unknown and yes", None),
            ("no or unknown", None),
            ("not (unknown and no)", Some(true)),
        ] {
            assert_eq!(holds(text).ok(), truth, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "missing at the end"),
            ("yes no", "`no` is one too many"),
            ("and yes", "nothing before `and`"),
            ("(yes", "`)` is missing"),
            ("kernel > 6", "`>` is no part"),
        ] {
            let wrong = Condition::parse(text).expect_err(text);
            assert!(wrong.what.contains(part) && wrong.possible.contains("fair-server"), "{text}: {wrong:?}");
        }
        assert!(Condition::parse(&"not ".repeat(100)).is_err());
    }

    #[test]
    fn facts_of_machines() {
        let fact = |name: &str, files: &[(&str, &str)]| {
            let host = Snapshot::read(&Tree::memory(files));
            let (_, ask) = FACTS.iter().find(|(own, _)| *own == name).expect(name);
            ask(&host).ok()
        };
        let (old, new) =
            (("/proc/sys/kernel/osrelease", "6.1.0\n"), ("/proc/sys/kernel/osrelease", "6.12.1\n"));
        let server = "/sys/kernel/debug/sched/fair_server/cpu0/runtime";
        assert_eq!(fact("fair-server", &[old, ("/sys/kernel/debug/x", "")]), Some(false));
        assert_eq!(fact("fair-server", &[new, (server, "50000000\n")]), Some(true));
        assert_eq!(fact("fair-server", &[new, (server, "0\n")]), Some(false));
        // debugfs is not to be seen, as under lockdown.
        assert_eq!(fact("fair-server", &[new]), None);
        let config = |text| ("/boot/config-6.12.1", text);
        let (with, without) = (config("CONFIG_RT_GROUP_SCHED=y\n"), config("CONFIG_SMP=y\n"));
        assert_eq!(fact("rt-throttling", &[old]), Some(true));
        assert_eq!(fact("rt-throttling", &[new, with]), Some(true));
        assert_eq!(fact("rt-throttling", &[new, without]), Some(false));
        assert_eq!(fact("rt-throttling", &[new]), None);
        // Before 6.16 nobody can switch them off.
        let switchable = [
            ("/proc/sys/kernel/osrelease", "6.16.0\n"),
            ("/boot/config-6.16.0", "CONFIG_RT_GROUP_SCHED=y\n"),
        ];
        assert_eq!(fact("rt-groups", &switchable), Some(true));
        assert_eq!(fact("rt-groups", &[new, with]), Some(false));
        assert_eq!(fact("rt-groups", &[new]), None);
        assert_eq!(fact("stalld", &[("/usr/lib/systemd/system/stalld.service", "")]), Some(true));
        assert_eq!(fact("stalld", &[("/usr/lib/systemd/system/x.service", "")]), Some(false));
        let source = "/sys/devices/system/clocksource/clocksource0";
        let current = format!("{source}/current_clocksource");
        assert_eq!(fact("tsc", &[(&current, "kvm-clock\n")]), Some(false));
        assert_eq!(fact("tsc", &[]), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "\\PC{0,200}") {
            let _ = Condition::parse(&text);
        }

        #[test]
        fn words_in_any_order(words in prop::collection::vec(
            prop::sample::select(vec!["yes", "no", "unknown", "and", "or", "not", "(", ")"]), 0..120,
        )) {
            let _ = Condition::parse(&words.join(" "));
        }
    }
}
