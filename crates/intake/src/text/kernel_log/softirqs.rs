//! Softirqs that were pending as an idle CPU stopped its tick (`report_idle_softirq()` in `kernel/time/tick-sched.c`).
//!
//! ```text
//! NOHZ: local_softirq_pending 08
//! NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!
//! ```

use whylate_events::softirq_name;

/// The pending softirqs of all such messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingSoftirqs {
    /// A bit for each.
    mask: u32,
}

impl PendingSoftirqs {
    /// Takes in a line; false where it is no such message.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let mask = ["local_softirq_pending", "softirq work is pending, handler #"]
            .iter()
            .find_map(|words| message.split_once(words))
            .and_then(|(_, rest)| {
                rest.trim_start_matches([' ', ':']).split(|sign: char| !sign.is_ascii_hexdigit()).next()
            })
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.mask |= mask.unwrap_or(0);
        mask.is_some()
    }

    /// What it means; `None` where no softirq is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let pending = (0..u32::BITS).filter(|vector| self.mask & (1 << vector) != 0);
        let names: Vec<&str> = pending.filter_map(softirq_name).collect();
        match names.as_slice() {
            [] => None,
            [one] => Some(format!("the softirq {one} was pending as an idle CPU stopped its tick")),
            all => {
                Some(format!("the softirqs {} were pending as an idle CPU stopped its tick", all.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_softirqs_have_names() {
        let mut pending = PendingSoftirqs::default();
        assert_eq!(pending.meaning(), None);
        assert!(!pending.line("NOHZ: local_softirq_pending"));
        assert!(pending.line("NOHZ: local_softirq_pending 08"));
        assert_eq!(
            pending.meaning().as_deref(),
            Some("the softirq NET_RX was pending as an idle CPU stopped its tick")
        );
        assert!(pending.line("NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #102!!!"));
        let several = "the softirqs TIMER, NET_RX, HRTIMER were pending as an idle CPU stopped its tick";
        assert_eq!(pending.meaning().as_deref(), Some(several));
    }
}
