//! Settings of the command line: sysctls, files of the kernel, and what threads of a name get.

use anyhow::{Result, bail};
use whylate_base::{Action, CpuSet, ParameterAction, ThreadAction};
use whylate_profiles::fixes::{Fixes, NumberedFix};

/// What `--set` asks for, as fixes of a document would.
pub(super) fn fixes(settings: &[(String, String)]) -> Result<Fixes> {
    let mut each = Vec::new();
    for (name, value) in settings {
        let action = action(name, value)?;
        if let Some(flaw) = action.flaw() {
            bail!("--set {name}={value}: {flaw}");
        }
        each.push(fix(each.len(), "--set", format!("{name}={value}"), action));
    }
    Ok(Fixes { name: "the command line".to_owned(), each, ..Fixes::default() })
}

/// The same of kernel parameters.
pub(super) fn parameters(parameters: &[ParameterAction]) -> Fixes {
    let one = |(at, one): (usize, &ParameterAction)| {
        let action = Action::KernelParameter { set: vec![one.clone()] };
        fix(at, "--kernel-parameter", one.parameter.clone(), action)
    };
    let each = parameters.iter().enumerate().map(one).collect();
    Fixes { name: "the command line".to_owned(), each, ..Fixes::default() }
}

fn fix(at: usize, option: &str, text: String, action: Action) -> NumberedFix {
    NumberedFix {
        number: at + 1,
        code: option.to_owned(),
        title: text.clone(),
        text,
        action: Some(action),
        risk: None,
        finding: at,
        is_minor: false,
    }
}

fn action(name: &str, value: &str) -> Result<Action> {
    if name.starts_with('/') {
        return Ok(Action::tunable(name, value));
    }
    // A thread's name may have dots: the last one parts it from what it gets.
    if let Some((thread, what)) = name.rsplit_once('.') {
        let named = ThreadAction { thread: thread.to_owned(), ..ThreadAction::default() };
        return Ok(match what {
            "cpus" => Action::thread(ThreadAction { cpus: Some(cpus(value)?), ..named }),
            "not-cpus" => Action::thread(ThreadAction { not_cpus: Some(cpus(value)?), ..named }),
            "priority" => Action::thread(ThreadAction { priority: Some(priority(name, value)?), ..named }),
            "policy" => Action::thread(ThreadAction { policy: Some(policy(value)?), ..named }),
            _ => Action::sysctl(name, value),
        });
    }
    bail!(
        "--set {name}={value}: `{name}` is no sysctl (a.b), file (/sys/...) or thread's property (NAME.cpus, NAME.not-cpus, \
         NAME.priority, NAME.policy); a variable of a profile needs --profile"
    )
}

fn cpus(list: &str) -> Result<String> {
    match list.parse::<CpuSet>() {
        Ok(cpus) if !cpus.is_empty() => Ok(list.to_owned()),
        _ => bail!("`{list}` is no list of CPUs, such as 1 or 0-3"),
    }
}

fn priority(name: &str, value: &str) -> Result<u32> {
    match value.parse() {
        Ok(priority @ 0..=99) => Ok(priority),
        _ => bail!("--set {name}: a priority is a number from 1 to 99, or 0 for SCHED_OTHER"),
    }
}

fn policy(name: &str) -> Result<String> {
    match name {
        "fifo" | "rr" | "other" => Ok(name.to_owned()),
        _ => bail!("`{name}` is no policy that a change may set: choose fifo, rr or other"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_shows_what_it_sets() {
        let of = |name: &str, value: &str| {
            let fixes = fixes(&[(name.to_owned(), value.to_owned())]);
            fixes
                .map(|fixes| fixes.each[0].action.clone().expect("an action"))
                .map_err(|error| error.to_string())
        };
        let thread = |comm: &str, of: fn(ThreadAction) -> ThreadAction| {
            Ok(Action::thread(of(ThreadAction { thread: comm.to_owned(), ..ThreadAction::default() })))
        };
        assert_eq!(
            of("kernel.sched_rt_runtime_us", "-1"),
            Ok(Action::sysctl("kernel.sched_rt_runtime_us", "-1"))
        );
        assert_eq!(of("/sys/module/x/y", "0"), Ok(Action::tunable("/sys/module/x/y", "0")));
        assert_eq!(
            of("hog.cpus", "0-1"),
            thread("hog", |one| ThreadAction { cpus: Some("0-1".into()), ..one })
        );
        assert_eq!(
            of("a.b.not-cpus", "1"),
            thread("a.b", |one| ThreadAction { not_cpus: Some("1".into()), ..one })
        );
        assert_eq!(of("ctl.priority", "60"), thread("ctl", |one| ThreadAction { priority: Some(60), ..one }));
        for (name, value, words) in [
            ("isolated", "2", "needs --profile"),
            ("hog.cpus", "x", "no list of CPUs"),
            ("hog.priority", "100", "1 to 99"),
            ("hog.policy", "batch", "choose fifo, rr or other"),
            ("/etc/passwd", "x", "not a file of the kernel"),
            ("vm.swappiness", "", "not a file of the kernel with a value"),
        ] {
            let error = of(name, value).expect_err(name);
            assert!(error.contains(words), "{name}: {error}");
        }
    }
}
