//! Systems whose kernel parameters a tool of their own keeps over updates: the one command that sets what a plan asks for.

use super::context::PlanContext;
use super::parameters;
use whylate_base::shell_word;
use whylate_bootloader as bootloader;
use whylate_host::FsRoot;
use whylate_profiles::{DesiredSetting, Selector, Skipped};

/// What shows that ostree deployed the running system: Fedora CoreOS, Silverblue, RHEL for Edge, and image mode (bootc).
const OSTREE: &str = "/run/ostree-booted";
const RPM_OSTREE: &str = "/usr/bin/rpm-ostree";

/// On a system of ostree the command for all parameters that the running kernel lacks or has otherwise; `None`: on other
/// systems, or where it has them all.
pub(super) fn command(desired: &[DesiredSetting], context: &PlanContext<'_>) -> Option<Skipped> {
    context.tree.text(OSTREE).known()?;
    let running = context.host.kernel.cmdline.known()?;
    let mut wanted: Vec<(&str, Option<&str>, Option<String>)> = Vec::new();
    for setting in desired {
        let Selector::Parameter { name } = &setting.selector else { continue };
        let value = setting.value.as_deref();
        let now = bootloader::value(running, name, value);
        if now.as_deref() != value && (value.is_none() || parameters::unknown(name, context.host).is_none()) {
            wanted.retain(|(other, ..)| other != name);
            wanted.push((name, value, now));
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let why = match has(context.tree, RPM_OSTREE) {
        true => {
            let arguments: Vec<String> = wanted.iter().map(|one| kargs(one)).collect();
            format!(
                "ostree keeps kernel parameters in its deployments, where an edit of the boot loader's files is lost: run \
                 `rpm-ostree kargs {}`, and reboot; `rpm-ostree rollback` goes back",
                arguments.join(" ")
            )
        }
        false => {
            let words: Vec<String> = wanted
                .iter()
                .filter_map(|(name, value, _)| Some(format!("\"{}\"", assignment(name, (*value)?))))
                .collect();
            format!(
                "this system has an image's kernel parameters, and no rpm-ostree: write `kargs = [{}]` to \
                 /usr/lib/bootc/kargs.d/50-whylate.toml of the image, build it, and run `bootc upgrade`",
                words.join(", ")
            )
        }
    };
    Some(Skipped { what: "kernel parameters, all in one command".to_owned(), why })
}

fn has(tree: &FsRoot, path: &str) -> bool {
    tree.bytes(path).known().is_some()
}

/// `rpm-ostree kargs` replaces a value only where the old one is given (its manual page).
fn kargs((name, value, now): &(&str, Option<&str>, Option<String>)) -> String {
    match (value, now.as_deref()) {
        (Some(value), None) => format!("--append-if-missing={}", shell_word(&assignment(name, value))),
        (Some(value), Some(now)) => format!(
            "--delete-if-present={} --append-if-missing={}",
            shell_word(&assignment(name, now)),
            shell_word(&assignment(name, value))
        ),
        (None, now) => {
            format!("--delete-if-present={}", shell_word(&assignment(name, now.unwrap_or_default())))
        }
    }
}

fn assignment(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::next_boot::NextBoot;
    use whylate_host::Snapshot;
    use whylate_profiles::Reasons;

    fn words(files: &[(&str, &str)]) -> Option<String> {
        let all = [files, &[("/proc/cmdline", "quiet isolcpus=1 audit=0\n")]].concat();
        let tree = FsRoot::memory(&all);
        let host = Snapshot::read(&tree);
        let context = PlanContext { tree: &tree, host: &host, boot: NextBoot::read(&tree, &host) };
        let desired = |name: &str, value: Option<&str>| DesiredSetting {
            selector: Selector::Parameter { name: name.to_owned() },
            value: value.map(str::to_owned),
            reasons: Reasons::default(),
            origin: String::new(),
            optional: false,
        };
        let all = [
            desired("isolcpus", Some("managed_irq,domain,2-3")),
            desired("skew_tick", Some("1")),
            desired("audit", Some("0")),
            desired("quiet", None),
            desired("dyndbg", Some("file x.c +p")),
        ];
        command(&all, &context).map(|skipped| skipped.why)
    }

    #[test]
    fn one_command_sets_all_of_them() {
        assert_eq!(words(&[]), None, "no ostree");
        let rpm = words(&[(OSTREE, ""), (RPM_OSTREE, "x")]).expect("a command");
        let command = "rpm-ostree kargs --delete-if-present=isolcpus=1 --append-if-missing=isolcpus=managed_irq,domain,2-3 \
                       --append-if-missing=skew_tick=1 --delete-if-present=quiet --append-if-missing='dyndbg=file x.c +p'";
        assert!(rpm.contains(command), "{rpm}");
        let image = words(&[(OSTREE, "")]).expect("a file");
        assert!(image.contains("kargs = [\"isolcpus=managed_irq,domain,2-3\", \"skew_tick=1\""), "{image}");
    }
}
