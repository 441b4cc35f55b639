//! The first run on a target that has nothing: a guest whose root has BusyBox and whylate alone, is read-only, and has 256 MB.

use crate::artefacts::facts::ReleaseFacts;
use crate::artefacts::work::write;
use crate::outcome::StepOutcome;
use crate::outcome::output_of;
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What runs there. It prints `exit CODE COMMAND` behind each command's output.
const INIT: &str = include_str!("minimal-init.sh");
/// Fetched into the lab's cache if need be.
const KERNEL: &str = "6.12-rt";
const PROGRAMS: [&str; 6] = ["free", "mount", "reboot", "sh", "umount", "true"];

/// A command, by its beginning, and the exit codes that are right.
type Expected = (&'static str, &'static [i32]);

/// The parts of the init script, with each command and the exit codes that are right.
///
/// Without /proc, and without a place to write, a recording is refused; a measurement needs neither.
const RIGHT: [(&str, &[Expected]); 3] = [
    (
        "nothing is mounted",
        &[
            ("whylate --version", &[0]),
            ("whylate check", &[3]),
            ("whylate record", &[2]),
            ("whylate measure", &[0, 1]),
        ],
    ),
    (
        "/proc and /sys",
        &[("whylate check", &[0, 1, 3]), ("whylate record", &[2]), ("whylate measure", &[0, 1])],
    ),
    (
        "a tmpfs at /tmp",
        &[
            ("whylate record", &[0, 1, 3]),
            ("whylate explain", &[0, 1, 3]),
            ("whylate measure", &[0, 1]),
            ("whylate ps", &[0]),
        ],
    ),
];

/// Boots the program in such a guest.
pub(in crate::artefacts) fn run(facts: &ReleaseFacts, program: &Path) -> StepOutcome {
    for (needed, package) in
        [("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static"), ("cpio", "cpio")]
    {
        if !tools::provided(needed, package) {
            return StepOutcome::Skipped(format!("no {needed}: apt-get install {package}"));
        }
    }
    let kernel = match kernel(program) {
        Ok(kernel) => kernel,
        Err(error) => return StepOutcome::Skipped(format!("{error:#}")),
    };
    match booted(facts, program, &kernel).and_then(|console| judged(&console)) {
        Ok(()) => StepOutcome::Passed,
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

/// The image of a kernel in the lab's cache.
fn kernel(program: &Path) -> Result<PathBuf> {
    let list = || -> Result<PathBuf> {
        let list = output_of(Command::new(program).args(["lab", "kernels", "--json"]))?;
        let list: Value = serde_json::from_slice(&list).context("the list of kernels is not JSON")?;
        let cache = list["cache"].as_str().context("the list of kernels has no cache")?;
        Ok(Path::new(cache).join(KERNEL).join("vmlinuz"))
    };
    let image = list()?;
    if !image.exists() {
        output_of(Command::new(program).args(["lab", "kernels", "--fetch", KERNEL]))?;
    }
    Ok(image)
}

/// The console of a guest, from its boot to its end.
fn booted(facts: &ReleaseFacts, program: &Path, kernel: &Path) -> Result<String> {
    let root = facts.work.join("minimal");
    let bin = root.join("bin");
    for directory in ["bin", "proc", "sys", "tmp", "dev"] {
        fs::create_dir_all(root.join(directory)).context("cannot make the root of the guest")?;
    }
    write(&root.join("init"), INIT.as_bytes())?;
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))
        .context("cannot set permissions")?;
    fs::copy(program, bin.join("whylate")).with_context(|| format!("cannot copy {}", program.display()))?;
    let busybox = output_of(Command::new("sh").args(["-c", "command -v busybox"]))?;
    let busybox = PathBuf::from(String::from_utf8_lossy(&busybox).trim());
    fs::copy(&busybox, bin.join("busybox")).with_context(|| format!("cannot copy {}", busybox.display()))?;
    for name in PROGRAMS {
        symlink("busybox", bin.join(name)).with_context(|| format!("cannot link {name}"))?;
    }
    let archive = facts.work.join("minimal.cpio");
    let pack = "find . | cpio --quiet -o -H newc > \"$0\"";
    output_of(Command::new("sh").args(["-c", pack]).arg(&archive).current_dir(&root))?;
    println!("xtask: a minimal root in a guest of 256 MB");
    let console = output_of(
        Command::new("timeout")
            .args(["600", "qemu-system-x86_64", "-M", "q35", "-m", "256", "-nographic", "-no-reboot"])
            .args(["-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off"])
            .args(["-append", "console=ttyS0 quiet panic=-1", "-kernel"])
            .arg(kernel)
            .arg("-initrd")
            .arg(&archive)
            .stdin(Stdio::null()),
    )?;
    Ok(String::from_utf8_lossy(&console).into_owned())
}

/// Whether each command ended as it is to.
fn judged(console: &str) -> Result<()> {
    let lines: Vec<&str> = console.lines().map(str::trim_end).collect();
    for (part, commands) in RIGHT {
        let heading = format!("part {part}");
        let own = lines.iter().skip_while(|line| !line.ends_with(&heading)).skip(1);
        let own = own.take_while(|line| !line.starts_with("part "));
        let ends: Vec<&str> = own.filter_map(|line| line.strip_prefix("exit ")).collect();
        if ends.len() != commands.len() {
            bail!("{part}: {} of {} commands ended:\n{console}", ends.len(), commands.len());
        }
        for (end, (command, right)) in ends.iter().zip(commands) {
            let code = end.split_once(' ').filter(|(_, ran)| ran.starts_with(command));
            let code = code.and_then(|(code, _)| code.parse::<i32>().ok());
            if !code.is_some_and(|code| right.contains(&code)) {
                bail!("{part}: `{command}`: exit {end}, expected {right:?}:\n{console}");
            }
            println!("xtask: minimal root, {part}: exit {end}");
        }
    }
    // What to do stands in the message, which is wrapped.
    let words = console.split_whitespace().collect::<Vec<_>>().join(" ");
    for advice in ["mount -t proc proc /proc", "the file system is mounted read-only"] {
        if !words.contains(advice) {
            bail!("no message has `{advice}`:\n{console}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console(measured: i32) -> String {
        let mut text = "SeaBIOS part nothing is mounted\r\n".to_owned();
        for (number, (part, commands)) in RIGHT.iter().enumerate() {
            if number > 0 {
                text += &format!("part {part}\r\n");
            }
            for (command, right) in *commands {
                let code = if command.ends_with("measure") { measured } else { right[0] };
                text += &format!("output\r\nexit {code} {command} -d 1s\r\n");
            }
        }
        text + "part end\r\nmount -t proc proc /proc the file system is mounted read-only"
    }

    #[test]
    fn each_command_has_to_end_as_it_is_to() {
        judged(&console(0)).expect("all is right");
        assert!(judged(&console(2)).is_err(), "a measurement failed");
        let cut = console(0);
        let cut = cut.split("exit 0 whylate ps").next().expect("the part before");
        assert!(judged(cut).is_err(), "it did not come to its end");
        assert!(judged("").is_err());
    }
}
