//! A victim in a process of its own: this same program, forked and executed with the same
//! arguments, and an option for the victim alone.

use crate::cgroup::Group;
use crate::rights::Rights;
use crate::setup::Setup;
use crate::threads::ThreadLog;
use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use whylate_base::Ns;
use whylate_sys::{Clock, now};

/// The user `nobody`, which owns nothing, by convention of every distribution.
const NOBODY: u32 = 65_534;

/// The process of the victim.
#[derive(Debug)]
pub(crate) struct VictimProcess {
    child: Child,
    /// Removed when the process has ended.
    _group: Option<Group>,
}

impl VictimProcess {
    /// Starts it, for the same run.
    ///
    /// # Errors
    /// When it cannot be started with those rights.
    pub(crate) fn start(setup: &Setup, rights: Rights) -> Result<VictimProcess> {
        // By its link, which a user without access to the file's directory may follow as well.
        let mut command = Command::new("/proc/self/exe");
        command.args(std::env::args_os().skip(1)).stdout(Stdio::piped()).stdin(Stdio::null());
        command.arg("--victim-only").arg("--start-at").arg(setup.start.0.to_string());
        let mut group = None;
        match rights {
            Rights::Same => {}
            Rights::AnotherUser => {
                // These are inherited, and do not bind this process as long as it is root's.
                let none = Rlimit { current: Some(0), maximum: Some(0) };
                setrlimit(Resource::Rtprio, none).context("setrlimit(RLIMIT_RTPRIO, 0)")?;
                let all = Rlimit { current: None, maximum: None };
                setrlimit(Resource::Memlock, all).context("setrlimit(RLIMIT_MEMLOCK, unlimited)")?;
                command.uid(NOBODY).gid(NOBODY);
            }
            Rights::RtGroup => {
                let made = Group::without_rt_runtime()?;
                command.arg("--join-cgroup").arg(made.members_file());
                group = Some(made);
            }
        }
        // Where another part fails there is no run, and this process does not wait for the victim.
        whylate_sys::die_with_parent(&mut command);
        let child =
            command.spawn().context("cannot start the victim's process (as another user: run as root)")?;
        Ok(VictimProcess { child, _group: group })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it failed, or printed no log.
    pub(crate) fn join(self) -> Result<Option<ThreadLog>> {
        let output = self.child.wait_with_output().context("cannot wait for the victim's process")?;
        let ended = now(Clock::Monotonic);
        let signal = output.status.signal();
        ensure!(
            signal.is_some() || output.status.success(),
            "the victim's process failed: {}",
            output.status
        );
        let printed = String::from_utf8_lossy(&output.stdout);
        let log = last_log(&printed)?;
        Ok(log.map(|log| if let Some(signal) = signal { killed(log, signal, ended) } else { log }))
    }
}

/// The last log that the process printed: it may print an incomplete one before the end.
fn last_log(printed: &str) -> Result<Option<ThreadLog>> {
    let parse = |line: &str| {
        serde_json::from_str(line)
            .with_context(|| format!("the victim's process printed {line:?}, which is no thread's log"))
    };
    printed.lines().next_back().map(parse).transpose()
}

/// The thread was in the middle of its last job.
fn killed(mut log: ThreadLog, signal: i32, ended: Ns) -> ThreadLog {
    log.thread.killed_by = Some(signal);
    if let Some(job) = log.log.jobs.last_mut() {
        job.done = ended;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"thread":{"part":"victim","name":"v","tid":7,"policy":"fifo","priority":50,"cpu":0,"placed_ns":1},"log":{"jobs":[{"due":10,"start":11,"done":12,"fault":null},{"due":20,"start":21,"done":21,"fault":"own-work"}]}}"#;

    #[test]
    fn the_last_word_counts() {
        let none = PRINTED.replace(r#""tid":7"#, r#""tid":8"#);
        let log = last_log(&format!("{none}\n{PRINTED}\n")).expect("two lines").expect("a log");
        assert_eq!(log.thread.tid.0, 7);
        assert_eq!(log.log.jobs.len(), 2);
        assert!(last_log("").expect("nothing printed").is_none());
        assert!(last_log("{}").is_err());
    }

    #[test]
    fn a_killed_thread_ends_in_its_last_job() {
        let log = last_log(PRINTED).expect("a line").expect("a log");
        let log = killed(log, 9, Ns(35));
        assert_eq!(log.thread.killed_by, Some(9));
        assert_eq!(log.log.jobs.iter().map(|job| job.done).collect::<Vec<_>>(), [Ns(12), Ns(35)]);
    }
}
