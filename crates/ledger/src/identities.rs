//! What a thread was in its activations: most keep one name, policy and priority, but some rise after their start and
//! fall before their end.

use whylate_base::{Comm, Policy, Priority};

/// More than these are not kept apart: a thread that renames itself for each request has one name for each.
const MOST: usize = 16;

/// A thread's name, policy and own priority in an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Identity {
    pub(crate) comm: Comm,
    /// Where the recording shows one.
    pub(crate) policy: Option<Policy>,
    pub(crate) priority: Priority,
}

/// In how many activations a thread was what.
#[derive(Debug, Default)]
pub(crate) struct Identities(Vec<(Identity, u64)>);

impl Identities {
    /// One more activation.
    pub(crate) fn count(&mut self, identity: Identity) {
        if let Some((_, times)) = self.0.iter_mut().find(|(known, _)| *known == identity) {
            *times += 1;
        } else if self.0.len() < MOST {
            self.0.push((identity, 1));
        }
    }

    /// What it was in most of them, or in most of those in which it was real-time, if it ever was; of equals, the later.
    pub(crate) fn usual(&self) -> Option<Identity> {
        let rank = |(identity, times): &&(Identity, u64)| (identity.priority.is_realtime(), *times);
        self.0.iter().max_by_key(rank).map(|(identity, _)| *identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_what_it_was_most_of_the_time_that_it_was_real_time() {
        let identity = |name: &str, priority| Identity { comm: Comm::from(name), policy: None, priority };
        let mut identities = Identities::default();
        assert_eq!(identities.usual(), None);
        let usual = identity("control", Priority::realtime(80));
        let fair = identity("control", Priority::DEFAULT);
        for one in [fair, fair, usual, identity("control", Priority::realtime(1)), fair, usual] {
            identities.count(one);
        }
        (0..1_000).for_each(|n| identities.count(identity(&n.to_string(), Priority::DEFAULT)));
        assert_eq!(identities.usual(), Some(usual));
        assert_eq!(identities.0.len(), MOST);
    }
}
