//! What a log of JACK shows of its cycles that were not done in time.
//!
//! ```text
//! **** alsa_pcm: xrun of at least 1.250 msecs                                  jackd 1, and the driver of jackd 2
//! subgraph starting at synth timed out (subgraph_wait_fd=9, ...                jackd 1
//! at 81230045 waiting on 9 for 4100 usecs, status = 0 ...                      jackd 1
//! JackEngine::XRun: client = synth was not finished, state = Running           jackd 2
//! ```

use super::fields;
use whylate_base::Ns;

/// So many clients are named.
const MOST_CLIENTS: usize = 8;

/// The xruns of a log of JACK.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JackLog {
    xruns: u64,
    /// The longest, and its line.
    longest: Option<(Ns, u64)>,
    /// The clients that did not end their part of a cycle in time.
    late_clients: Vec<String>,
    /// The longest time for which it waited for a client, and its line.
    waited: Option<(Ns, u64)>,
}

impl JackLog {
    /// A log that begins with this line.
    pub(super) fn beginning(number: u64, line: &str) -> JackLog {
        let mut log = JackLog::default();
        log.line(number, line);
        log
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        if let Some(long) = behind(line, "xrun of at least ").and_then(|rest| time(rest, "msecs", 1_000_000))
        {
            self.xruns += 1;
            longer(&mut self.longest, long, number);
        }
        if let Some(long) = behind(line, " waiting on ")
            .and_then(|rest| behind(rest, " for "))
            .and_then(|rest| time(rest, "usecs", 1_000))
        {
            longer(&mut self.waited, long, number);
        }
        let between = |before: &str, after: &str| {
            let (name, _) = behind(line, before)?.split_once(after)?;
            Some(name.trim()).filter(|name| !name.is_empty())
        };
        let client = between("subgraph starting at ", " timed out")
            .or_else(|| between("JackEngine::XRun: client = ", " was not finished"));
        if let Some(client) = client
            && self.late_clients.len() < MOST_CLIENTS
            && !self.late_clients.iter().any(|other| other == client)
        {
            self.late_clients.push(client.to_owned());
        }
    }

    /// What it shows, in words; `None` where that is no more than that there was an xrun.
    pub(crate) fn known(&self) -> Option<String> {
        let longest = self.longest.map(|(long, line)| match self.xruns {
            1 => format!("its only xrun of which the length is shown took at least {long} (line {line})"),
            xruns => format!("the longest of its {xruns} xruns took at least {long} (line {line})"),
        });
        let clients = match self.late_clients.as_slice() {
            [] => None,
            [one] => {
                Some(format!("the client {one}, or one behind it, did not end its part of a cycle in time"))
            }
            several => Some(format!(
                "the clients {}, or others behind them, did not end their parts of a cycle in time",
                several.join(", ")
            )),
        };
        let waited =
            self.waited.map(|(long, line)| format!("JACK had waited {long} for a client (line {line})"));
        let parts: Vec<String> = [longest, clients, waited].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn behind<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.split_once(words).map(|(_, rest)| rest)
}

/// `1.250 msecs`, of so many nanoseconds each.
fn time(text: &str, unit: &str, ns: i64) -> Option<Ns> {
    let (number, rest) = text.trim_start().split_once(' ')?;
    let is_unit = rest.trim_start().starts_with(unit);
    fields::thousandths(number, ns).filter(|_| is_unit)
}

fn longer(longest: &mut Option<(Ns, u64)>, long: Ns, line: u64) {
    if longest.is_none_or(|(other, _)| other < long) {
        *longest = Some((long, line));
    }
}

#[cfg(test)]
mod tests {
    use super::JackLog;

    #[test]
    fn figures_and_clients_are_taken_from_either_version() {
        let known = |text: &str| {
            let mut log = JackLog::default();
            (1..).zip(text.lines()).for_each(|(number, line)| log.line(number, line));
            log.known()
        };
        let old = "**** alsa_pcm: xrun of at least 1.250 msecs\nsubgraph starting at synth timed out (subgraph_wait_fd=9, status = 0)\n\
                   at 81230045 waiting on 9 for 4100 usecs, status = 0\n";
        let xrun = "its only xrun of which the length is shown took at least 1.25 ms (line 1)";
        let rest = "the client synth, or one behind it, did not end its part of a cycle in time; JACK had waited 4.10 ms for a client (line 3)";
        assert_eq!(known(old), Some(format!("{xrun}; {rest}")));
        let new = "JackEngine::XRun: client = synth was not finished, state = Running\nJackEngine::XRun: client = drums was not finished, state = Triggered\n\
                   JackEngine::XRun: client = synth was not finished, state = Running\nxrun of at least 0.5 msecs\nxrun of at least 2 msecs\n";
        let all = "the longest of its 2 xruns took at least 2.00 ms (line 5); the clients synth, drums, or others behind them, did not end \
                   their parts of a cycle in time";
        assert_eq!(known(new).as_deref(), Some(all));
        assert_eq!(known("XRUN callback\nwaiting on 9 for a while\nxrun of at least some msecs\n"), None);
    }
}
