//! Threads that get their setting as they appear, by their names.
//!
//! They are found by looking into /proc: that needs no right, and also works in containers, where the kernel tells no one of new
//! threads. A thread's name is usually set just after it begins, so each is looked at often while it is young.

use super::change::ThreadChange;
use super::setting::ThreadRule;
use crate::select::{self, ThreadName};
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};
use whylate_base::{Tid, glob};

/// How often the threads are listed: the longest time until a new thread is seen.
pub(super) const PACE: Duration = Duration::from_millis(10);
/// For so long a thread's name is read each time.
const YOUNG: Duration = Duration::from_secs(1);
/// How often the name of an older one is read.
const OLD_PACE: Duration = Duration::from_secs(1);

/// The rules, and the threads that were seen.
pub(super) struct ThreadWatch<'a> {
    rules: &'a [ThreadRule],
    matched: Vec<bool>,
    seen: HashMap<Tid, Seen>,
    last_full: Instant,
    round: u64,
}

struct Seen {
    since: Instant,
    done: bool,
    round: u64,
}

impl<'a> ThreadWatch<'a> {
    pub(super) fn new(rules: &'a [ThreadRule]) -> ThreadWatch<'a> {
        ThreadWatch {
            rules,
            matched: vec![false; rules.len()],
            seen: HashMap::new(),
            last_full: Instant::now(),
            round: 0,
        }
    }

    /// Looks at the threads of a process and of those that it has started; `notify` gets each that a rule meets.
    pub(super) fn look(&mut self, root: Tid, notify: &mut dyn FnMut(&str)) {
        let now = Instant::now();
        let is_full = now.duration_since(self.last_full) >= OLD_PACE;
        if is_full {
            self.last_full = now;
        }
        self.round += 1;
        let mut pids = vec![root];
        while let Some(pid) = pids.pop() {
            for tid in select::thread_ids(pid) {
                // Processes that another thread started than the first (CONFIG_PROC_CHILDREN).
                let children =
                    fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
                pids.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).map(Tid));
                let round = self.round;
                let seen = self.seen.entry(tid).or_insert(Seen { since: now, done: false, round });
                seen.round = round;
                let is_due = is_full || now.duration_since(seen.since) < YOUNG;
                if !seen.done
                    && is_due
                    && let Some(thread) = select::named(pid, tid)
                {
                    self.meet(&thread, notify);
                }
            }
        }
        let round = self.round;
        self.seen.retain(|_, seen| seen.round == round);
    }

    fn meet(&mut self, thread: &ThreadName, notify: &mut dyn FnMut(&str)) {
        let Some(at) = self.rules.iter().position(|rule| glob(&rule.pattern, &thread.comm)) else { return };
        self.matched[at] = true;
        if let Some(seen) = self.seen.get_mut(&thread.tid) {
            seen.done = true;
        }
        let setting = &self.rules[at].setting;
        let name = format!("{}:{}", thread.comm, thread.tid);
        for change in ThreadChange::of_setting(setting) {
            match change.make(thread.tid) {
                Ok(now) => notify(&format!("{name}: {now}")),
                // It ended meanwhile.
                Err(error) if error.is_no_such_thread() => return,
                Err(error) => notify(&format!(
                    "{name}: {}",
                    super::refusal::Refusal::of_change(&change, &error, thread.tid)
                )),
            }
        }
    }

    /// The patterns that no thread has met.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &str> {
        let rules = self.rules.iter().zip(&self.matched);
        rules.filter(|(_, matched)| !**matched).map(|(rule, _)| rule.pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_thread_gets_what_its_name_asks_for() {
        let rules: Vec<ThreadRule> =
            ["found-*=batch", "absent*=idle"].iter().map(|rule| rule.parse().expect("a rule")).collect();
        let mut watch = ThreadWatch::new(&rules);
        let own = Tid(std::process::id().cast_signed());
        let mut told = Vec::new();
        watch.look(own, &mut |text| told.push(text.to_owned()));
        assert_eq!(told, [] as [String; 0]);
        let (stop, ended) = std::sync::mpsc::channel::<()>();
        let (tell, tid) = std::sync::mpsc::channel();
        let body = move || {
            tell.send(whylate_sys::gettid()).expect("the test waits");
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().name("found-1".into()).spawn(body).expect("a thread");
        let tid = tid.recv().expect("its id");
        watch.look(own, &mut |text| told.push(text.to_owned()));
        watch.look(own, &mut |text| told.push(text.to_owned()));
        assert_eq!(told, [format!("found-1:{tid}: SCHED_BATCH nice 0")]);
        assert_eq!(whylate_sys::getattr(tid).expect("alive").policy, whylate_base::Policy::Batch);
        assert_eq!(watch.unmet().collect::<Vec<_>>(), ["absent*"]);
        drop(stop);
        thread.join().expect("it ends");
    }
}
