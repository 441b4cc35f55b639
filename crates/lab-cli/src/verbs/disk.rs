//! `whylate-lab disk`

use crate::args::DiskArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result};
use std::path::PathBuf;
use whylate_lab::disk::{Booted, Guest, Image};
use whylate_lab::job::{GuestStep, Program};
use whylate_lab::{Arch, Store, Visit};

const REBOOT: &str = "reboot";
const POWER_CUT: &str = "power-cut";

pub(crate) fn run(args: &DiskArgs) -> Result<ExitStatus> {
    let store = Store::open_default();
    let packages: Vec<&str> = args.packages.iter().map(String::as_str).collect();
    let image = Image::debian(&store, &args.kernel, &packages)?;
    let stop = signals::stop_flag()?;
    let temporary = tempfile::tempdir().context("cannot make a temporary directory")?;
    let disk: PathBuf = args.disk.clone().unwrap_or_else(|| temporary.path().join("disk.img"));
    if !disk.exists() {
        if !image.is_cached(&store) {
            message!("disk {} is not cached: making it, which takes some minutes ...", image.name());
        }
        image.copy(&store, &disk, &stop)?;
    }
    let mut guest = Guest::new(&disk)?;
    guest.limit = args.limit;
    guest.program = Some(program(args.whylate.as_deref(), "whylate", "--whylate", Arch::X86_64)?);
    let mut all_done = true;
    for (number, (commands, steps)) in boots(&args.commands).into_iter().enumerate() {
        let out = args.output.join(format!("boot-{}", number + 1));
        let visit = Visit { steps, ..Visit::default() };
        match guest.boot(&visit, &out, &stop)? {
            Booted::Cut { code, .. } => {
                let code = code.map_or("nothing".to_owned(), |code| format!("exit code {code}"));
                message!("boot {}: power cut after {code}", number + 1);
            }
            Booted::Done(done) => {
                let name = out.join("console.txt");
                std::fs::write(&name, &done.console)
                    .with_context(|| format!("cannot write {}", name.display()))?;
                message!(
                    "boot {}: {}, up in {:.1} s, commands {:.1} s, {:.1} s in all",
                    number + 1,
                    done.report.kernel,
                    done.boot.as_secs_f64(),
                    done.run.as_secs_f64(),
                    done.total.as_secs_f64()
                );
                for (index, (command, step)) in commands.iter().zip(&done.report.steps).enumerate() {
                    all_done &= step.code == Some(0);
                    let code = step.code.map_or("not run".to_owned(), |code| code.to_string());
                    message!("$ {command}   -> {code}");
                    let text = std::fs::read_to_string(out.join(format!("{index}.txt"))).unwrap_or_default();
                    output::print(&text)?;
                }
            }
        }
    }
    Ok(if all_done { ExitStatus::Done } else { ExitStatus::Found })
}

/// The commands of each boot, with its steps.
fn boots(commands: &[String]) -> Vec<(Vec<String>, Vec<GuestStep>)> {
    let mut boots = vec![(Vec::new(), Vec::new())];
    for command in commands {
        let Some((words, steps)) = boots.last_mut() else { break };
        match command.as_str() {
            REBOOT => boots.push((Vec::new(), Vec::new())),
            POWER_CUT => {
                steps.push(GuestStep::Cut);
                boots.push((Vec::new(), Vec::new()));
            }
            command => {
                let file = format!("{}.txt", words.len());
                let line = format!("exec 2>&1; {command}");
                steps.push(GuestStep::Run(Program {
                    command: ["/bin/sh", "-c", &line].map(str::to_owned).to_vec(),
                    stdout: Some(file),
                    ..Program::default()
                }));
                words.push(command.to_owned());
            }
        }
    }
    boots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reboots_and_power_cuts_part_the_commands() {
        let commands = ["a", "reboot", "b", "c", "power-cut", "d"].map(str::to_owned);
        let boots = boots(&commands);
        let words: Vec<&[String]> = boots.iter().map(|(words, _)| words.as_slice()).collect();
        assert_eq!(words, [&["a".to_owned()][..], &["b".to_owned(), "c".to_owned()], &["d".to_owned()]]);
        assert_eq!(boots[1].1.len(), 3);
        assert_eq!(boots[1].1[2], GuestStep::Cut);
    }
}
