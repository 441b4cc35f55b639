//! The futexes by which a thread waits for others, and lets them go on.
//!
//! A thread that waits on a word by which it also wakes others shares something with them: each has it for a time, and
//! hands it on. So is a lock made of a semaphore or of a condition, such as the one of Python's interpreter. Messages go one way:
//! who waits for them wakes nobody by that word.
//!
//! What is handed on makes no call where no other thread waits yet, as on one CPU. There, only trying again shows: a timeout,
//! and the next wait on the same word at once. That may be a wait for a message as well.

/// As many words as are remembered; a thread has few locks that others wait for.
const REMEMBERED: usize = 8;
/// So many waits show how a thread is let go on.
const ENOUGH: u32 = 3;

/// The words of a thread's last calls, each once.
#[derive(Debug, Default)]
pub(crate) struct Futexes {
    woken: Words,
    tried_again: Words,
    /// The word of the last wait, if that ended by its timeout.
    timed_out: Option<u64>,
    /// Waits for locks that threads let go in periods of their own which began meanwhile.
    let_go_in_periods: u32,
    /// Sleeps for no lock.
    others: u32,
}

/// What shows that a thread shares something with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedBy {
    /// It wakes others by the same word.
    HandingOn,
    /// It only tries again after a timeout.
    TryingAgain,
}

impl Futexes {
    /// Another thread lets go a lock that the thread waits for, in a period of its own which began meanwhile. True where the thread has
    /// slept for nothing else since it began, or mostly so: the lock hands over its work, and is held for no other reason. `is_whole`: its
    /// begin was seen.
    pub(crate) fn let_go_in_period(&mut self, is_whole: bool) -> bool {
        self.let_go_in_periods = self.let_go_in_periods.saturating_add(1);
        let enough = self.let_go_in_periods >= ENOUGH && self.let_go_in_periods > self.others;
        enough || is_whole && self.others == 0
    }

    /// The thread calls futex(2) to wake those that wait on this word.
    pub(crate) fn wakes(&mut self, word: u64) {
        self.woken.add(word);
    }

    /// It goes to sleep: on this word, if on one.
    pub(crate) fn sleeps(&mut self, word: Option<u64>) {
        self.others = self.others.saturating_add(1);
        let before = self.timed_out.take();
        if let (Some(before), Some(word)) = (before, word)
            && lock_of(before) == lock_of(word)
        {
            self.tried_again.add(word);
        }
    }

    /// Its wait on this word ends by the timeout.
    pub(crate) fn times_out(&mut self, word: u64) {
        self.timed_out = Some(word);
    }

    /// True of a thread that wakes those that wait on this word.
    pub(crate) fn hands_on(&self, word: u64) -> bool {
        self.woken.has(word)
    }

    /// What shows that it shares the word, if anything does.
    pub(crate) fn shares(&self, word: u64) -> Option<SharedBy> {
        if self.hands_on(word) {
            return Some(SharedBy::HandingOn);
        }
        self.tried_again.has(word).then_some(SharedBy::TryingAgain)
    }
}

/// The last few words; 0, which is the address of none, where there were fewer. All threads have them: they are to be small.
#[derive(Debug, Default)]
struct Words {
    words: [u64; REMEMBERED],
    next: usize,
}

impl Words {
    fn add(&mut self, word: u64) {
        if !self.has(word) {
            self.words[self.next] = lock_of(word);
            self.next = (self.next + 1) % REMEMBERED;
        }
    }

    fn has(&self, word: u64) -> bool {
        lock_of(word) != 0 && self.words.contains(&lock_of(word))
    }
}

/// The lock that a word belongs to. The waiters of a condition of glibc are in two groups, each with a word of its own, side
/// by side (`__g_signals`, sysdeps/nptl/bits/thread-shared-types.h).
pub(crate) fn lock_of(word: u64) -> u64 {
    word & !7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_remembered_and_the_two_of_a_condition_are_one() {
        let mut futexes = Futexes::default();
        let shared = |futexes: &Futexes, word| futexes.shares(word) == Some(SharedBy::HandingOn);
        assert!(!shared(&futexes, 0x6f0));
        futexes.wakes(0x6f4);
        assert!(shared(&futexes, 0x6f0) && shared(&futexes, 0x6f4) && !shared(&futexes, 0x6f8));
        for lock in 0..REMEMBERED as u64 {
            futexes.wakes(0x1000 + lock * 8);
            futexes.wakes(0x1004 + lock * 8);
        }
        assert!(!shared(&futexes, 0x6f0) && shared(&futexes, 0x1000) && shared(&futexes, 0x1038));
    }

    #[test]
    fn to_try_again_is_to_wait_on_the_same_word_right_after_its_timeout() {
        let mut futexes = Futexes::default();
        for (slept_between, word, shared) in
            [(Some(None), 0x6f4, None), (None, 0x700, None), (None, 0x6f4, Some(SharedBy::TryingAgain))]
        {
            futexes.sleeps(Some(0x6f0));
            futexes.times_out(0x6f0);
            slept_between.into_iter().for_each(|word| futexes.sleeps(word));
            futexes.sleeps(Some(word));
            assert_eq!(futexes.shares(0x6f0), shared, "{word:x}");
        }
    }
}
