//! Softirqs that were pending as an idle CPU stopped its tick (`report_idle_softirq()` in `kernel/time/tick-sched.c`).
//!
//! ```text
//! NOHZ: local_softirq_pending 08
//! NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!
//! ```

use whylate_events::softirq_name;

/// More sets of softirqs are not kept.
const MOST: usize = 16;

/// The pending softirqs of all such messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingSoftirqs {
    /// A bit for each softirq of a message, and how many messages have the same.
    masks: Vec<(u32, u64)>,
    /// The last message is without them: a mail program broke it.
    is_open: bool,
}

impl PendingSoftirqs {
    /// Takes in a message.
    pub(super) fn message(&mut self, message: &str) {
        self.is_open = true;
        self.line(message);
    }

    /// Takes in a line below one; false where it is not the rest of it.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(mask) = mask(message).filter(|_| self.is_open) else { return false };
        self.is_open = false;
        let has_room = self.masks.len() < MOST;
        match self.masks.iter_mut().find(|(other, _)| *other == mask) {
            Some((_, count)) => *count += 1,
            None if has_room => self.masks.push((mask, 1)),
            None => {}
        }
        true
    }

    /// What it means; `None` where no softirq is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let named = |&(mask, count): &(u32, u64)| {
            let names: Vec<&str> =
                (0..u32::BITS).filter(|vector| mask & (1 << vector) != 0).filter_map(softirq_name).collect();
            (!names.is_empty()).then_some((names, count))
        };
        let all: Vec<(Vec<&str>, u64)> = self.masks.iter().filter_map(named).collect();
        Some(match all.as_slice() {
            [] => return None,
            [(names, _)] if names.len() == 1 => {
                format!("the softirq {} was pending as an idle CPU stopped its tick", names.join(""))
            }
            [(names, _)] => {
                format!("the softirqs {} were pending as an idle CPU stopped its tick", names.join(", "))
            }
            several => {
                let each: Vec<String> = several.iter().map(times).collect();
                format!("softirqs were pending as an idle CPU stopped its tick: {}", each.join(", "))
            }
        })
    }
}

/// `TIMER and RCU together (twice)`
fn times((names, count): &(Vec<&str>, u64)) -> String {
    let together = if names.len() > 1 { " together" } else { "" };
    let count = match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    };
    format!("{}{together} ({count})", names.join(" and "))
}

/// A bit for each softirq that a message names.
fn mask(message: &str) -> Option<u32> {
    let (_, rest) = ["local_softirq_pending", "softirq work is pending, handler #"]
        .iter()
        .find_map(|words| message.split_once(words))?;
    let digits = rest.trim_start_matches([' ', ':']).split(|sign: char| !sign.is_ascii_hexdigit()).next()?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_softirqs_have_names() {
        let mut pending = PendingSoftirqs::default();
        pending.message("NOHZ: local_softirq_pending");
        assert_eq!(pending.meaning(), None);
        // A mail broke it, and the lines below it count no more.
        assert!(pending.line("NOHZ: local_softirq_pending 08"));
        assert!(!pending.line("NOHZ: local_softirq_pending 08 other: line"));
        let one = "the softirq NET_RX was pending as an idle CPU stopped its tick";
        assert_eq!(pending.meaning().as_deref(), Some(one));
        pending.message("NOHZ: local_softirq_pending 08");
        assert_eq!(pending.meaning().as_deref(), Some(one));
        let mut pending = PendingSoftirqs::default();
        pending.message("NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #102!!!");
        let several = "the softirqs TIMER, HRTIMER were pending as an idle CPU stopped its tick";
        assert_eq!(pending.meaning().as_deref(), Some(several));
    }

    #[test]
    fn messages_of_other_softirqs_are_counted_apart() {
        let mut pending = PendingSoftirqs::default();
        for mask in ["08", "80", "08", "282", "08"] {
            pending.message(&format!("NOHZ: local_softirq_pending {mask}"));
        }
        let each = "softirqs were pending as an idle CPU stopped its tick: NET_RX (3 times), SCHED (once), TIMER and SCHED and RCU \
                    together (once)";
        assert_eq!(pending.meaning().as_deref(), Some(each));
    }
}
