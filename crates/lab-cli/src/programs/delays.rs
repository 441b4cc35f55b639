//! Which threads had the CPU while a victim waited for it, as `trace-cmd report` shows the recording: a second reading
//! that shares no code with the analysis.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use whylate_base::Ns;
use whylate_base::glob;

/// A victim that was runnable, and not running.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delay {
    /// How long.
    pub(super) length: Ns,
    /// The threads that ran on its CPU meanwhile, by name, and how long each.
    pub(super) holders: Vec<(String, Ns)>,
}

impl Delay {
    /// True when threads of these names had the CPU for more than half of it.
    pub(super) fn is_by(&self, patterns: &[String]) -> bool {
        let one = |name: &str| patterns.iter().any(|pattern| glob(pattern, name));
        let held: Ns = self.holders.iter().filter(|(name, _)| one(name)).map(|(_, held)| *held).sum();
        held.0 * 2 > self.length.0
    }

    /// In a few words: `5.2 ms: stress-ng-cpu 5.1 ms`.
    pub(super) fn words(&self) -> String {
        let longest = self.holders.iter().max_by_key(|(_, held)| *held);
        let longest = longest.map(|(name, held)| format!(": {name} {held}")).unwrap_or_default();
        format!("{}{longest}", self.length)
    }
}

/// The delays of the victims in a recording.
///
/// # Errors
/// When trace-cmd cannot be run, or does not read the file.
pub(super) fn of_recording(recording: &Path, victims: &[String]) -> Result<Vec<Delay>, String> {
    let output = Command::new("trace-cmd").args(["report", "-t", "-i"]).arg(recording).output();
    let output =
        output.map_err(|error| format!("cannot run trace-cmd: {error}: apt-get install trace-cmd"))?;
    if !output.status.success() {
        return Err(format!("trace-cmd report: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(of_report(&String::from_utf8_lossy(&output.stdout), victims))
}

fn of_report(report: &str, victims: &[String]) -> Vec<Delay> {
    let mut reading = Reading::default();
    for line in report.lines() {
        reading.line(line, victims);
    }
    // A victim that never ran again waited to the end.
    let left: Vec<(Waiter, Ns)> = reading.waiting.drain().map(|(_, waiting)| waiting).collect();
    for (waiter, since) in left {
        reading.ended(waiter.cpu, since, reading.last);
    }
    reading.delays
}

#[derive(Debug)]
struct Waiter {
    cpu: usize,
}

#[derive(Debug, Default)]
struct Reading {
    /// What each CPU ran, and from when.
    ran: HashMap<usize, Vec<(Ns, String)>>,
    /// The victims that are runnable, by id.
    waiting: HashMap<String, (Waiter, Ns)>,
    last: Ns,
    delays: Vec<Delay>,
}

impl Reading {
    /// One line: `  comm-12  [000]  5.000000001: sched_switch:  comm:12 [120] R ==> other:13 [49]`.
    fn line(&mut self, line: &str, victims: &[String]) {
        let is_victim = |name: &str| victims.iter().any(|victim| glob(victim, name));
        let Some((head, event, body)) = parts(line) else { return };
        let Some((cpu, at)) = place(head) else { return };
        self.last = at;
        match event {
            "sched_wakeup" | "sched_wakeup_new" => {
                let Some((name, tid)) = thread(body) else { return };
                let target = body.rsplit_once("CPU:").and_then(|(_, cpu)| cpu.trim().parse().ok());
                if is_victim(name) {
                    let waiter = Waiter { cpu: target.unwrap_or(cpu) };
                    self.waiting.entry(tid.to_owned()).or_insert((waiter, at));
                }
            }
            "sched_switch" => {
                let Some((before, after)) = body.split_once(" ==> ") else { return };
                let (Some((name, tid)), Some((next, next_tid))) = (thread(before), thread(after)) else {
                    return;
                };
                let state = before.trim_end().rsplit_once(' ').map_or("", |(_, state)| state);
                if is_victim(name) && state.starts_with('R') {
                    self.waiting.entry(tid.to_owned()).or_insert((Waiter { cpu }, at));
                }
                let ran = self.ran.entry(cpu).or_default();
                // A program that `exec` began meanwhile has its own name only now.
                if let Some((_, last)) = ran.last_mut() {
                    name.clone_into(last);
                }
                ran.push((at, next.to_owned()));
                if let Some((_, since)) = self.waiting.remove(next_tid) {
                    self.ended(cpu, since, at);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, cpu: usize, since: Ns, until: Ns) {
        let ran = self.ran.get(&cpu).map(Vec::as_slice).unwrap_or_default();
        let mut holders: HashMap<&str, Ns> = HashMap::new();
        let mut end = until;
        for (start, name) in ran.iter().rev() {
            *holders.entry(name).or_default() += end.since((*start).max(since));
            end = *start;
            if end <= since {
                break;
            }
        }
        let mut holders: Vec<(String, Ns)> = holders
            .into_iter()
            .filter(|(_, held)| held.0 > 0)
            .map(|(name, held)| (name.to_owned(), held))
            .collect();
        holders.sort();
        self.delays.push(Delay { length: until.since(since), holders });
    }
}

/// What stands before the event, its name, and what follows.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    ["sched_switch", "sched_wakeup_new", "sched_wakeup"].into_iter().find_map(|event| {
        let at = line.find(&format!(": {event}:"))?;
        Some((line.get(..at)?, event, line.get(at + event.len() + 3..)?.trim_start()))
    })
}

/// The CPU and the time: `comm-12  [000]  5.000000001`.
fn place(head: &str) -> Option<(usize, Ns)> {
    let (rest, time) = head.trim_end().rsplit_once(char::is_whitespace)?;
    let (seconds, nanoseconds) = time.split_once('.')?;
    let at =
        seconds.parse::<i64>().ok()? * 1_000_000_000 + format!("{nanoseconds:0<9}").parse::<i64>().ok()?;
    let (_, cpu) = rest.rsplit_once('[')?;
    Some((cpu.split_once(']')?.0.parse().ok()?, Ns(at)))
}

/// Name and id of `comm:12 [120] R` or `comm:12 [120] CPU:000`; names may have colons and blanks.
fn thread(text: &str) -> Option<(&str, &str)> {
    let (who, _) = text.rsplit_once(" [")?;
    who.trim().rsplit_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
cpus=1
          <idle>-0     [000]     5.000000000: sched_wakeup:         cyclictest:9 [19] CPU:000
          <idle>-0     [000]     5.000010000: sched_switch:         swapper/0:0 [120] R ==> cyclictest:9 [19]
      cyclictest-9     [000]     5.001000000: sched_switch:         cyclictest:9 [19] S ==> kworker/0:1:7 [120]
     kworker/0:1-7     [000]     5.002000000: sched_wakeup:         cyclictest:9 [19] CPU:000
     kworker/0:1-7     [000]     5.002500000: sched_switch:         kworker/0:1:7 [120] D ==> chrt:8 [9]
        my burst-8     [000]     5.005000000: sched_switch:         my burst:8 [9] S ==> cyclictest:9 [19]
      cyclictest-9     [000]     5.006000000: sched_switch:         cyclictest:9 [19] R ==> my burst:8 [9]
        my burst-8     [000]     5.006000000: sys_enter:            NR 35
        my burst-8     [000]     5.009000000: sched_wakeup:         other:5 [120] CPU:000
";

    #[test]
    fn the_thread_that_ran_meanwhile_is_found() {
        let delays = of_report(REPORT, &["cyclic*".to_owned()]);
        let lengths: Vec<i64> = delays.iter().map(|delay| delay.length.0 / 1_000).collect();
        assert_eq!(lengths, [10, 3_000, 3_000]);
        assert_eq!(
            delays[1].holders,
            [("kworker/0:1".to_owned(), Ns::from_us(500)), ("my burst".to_owned(), Ns::from_us(2_500))]
        );
        assert!(delays[1].is_by(&["my*".to_owned()]) && !delays[1].is_by(&["kworker*".to_owned()]));
        assert!(delays[2].is_by(&["my burst".to_owned()]), "to the end of the recording");
        assert!(delays[1].words().contains("my burst"), "{}", delays[1].words());
        assert_eq!(of_report("no trace\n[: sched_switch: x ==> y\n", &["x".to_owned()]), []);
    }
}
