//! Lines of a report that name a function with its offset, and are of no call stack.
//!
//! ```text
//! hardirqs last  enabled at (91): [<ffffffff81693456>] unlock+0x36/0x60     print_irqtrace_events(), kernel/locking/lockdep.c
//! softirqs last disabled at (65): [<ffffffff81077245>] irq_exit+0x125/0x130
//! Preemption disabled at:                                                   __schedule_bug(), kernel/sched/core.c
//! [<ffffffff81077245>] driver+0x125/0x130
//! #0: ffff8881 (&lock){+.+.}, at: take+0x12/0x30                            print_lock(), kernel/locking/lockdep.c
//! Last Breaking-Event-Address:                                              show_last_breaking_event(), arch/s390/kernel/dumpstack.c
//!  [<0000000000c1f2d4>] jump+0x12/0x30
//! .. [<ffffffff80157160>] .... take+0xe0/0x180                              print_critical_nesting(), the patches of 2004 to 2008
//! WARNING: CPU: 0 PID: 1 at kernel/a.c:990 take+0x17f/0x2c0                 __warn(), kernel/panic.c: the stack follows
//! => started at timestamp 2496745046: <take+0x29/0x50>                      check_critical_timing(), the same
//! Register r3 information: 2-page vmalloc region starting at 0xf0 allocated at take+0xb4/0x398   __show_regs_alloc_free(), arch/arm
//!     grow+0x10/0x20                                                        kmem_dump_obj(), mm/slab_common.c: who allocated it
//! ```
//!
//! They show where interrupts or preemption were last enabled or disabled, which may be long ago and in another thread.

use super::frames::frame;
use crate::text::fields;

/// What a line with such a function begins with, or the line before it.
const TITLES: [&str; 7] = [
    "hardirqs last enabled at",
    "hardirqs last disabled at",
    "softirqs last enabled at",
    "softirqs last disabled at",
    "Preemption disabled at:",
    "Last Breaking-Event-Address:",
    // `random: get_random_bytes called from start_kernel+0x1/0x2 with crng_init=0`
    " called from",
];

/// Finds such lines, also those that a mail program broke.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asides {
    /// The function of the line before follows.
    is_open: bool,
    /// The functions that follow allocated or freed the memory to which a register points.
    is_of_memory: bool,
}

impl Asides {
    /// True of a line whose function is of no stack.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let words: Vec<&str> = message.split_whitespace().collect();
        let words = words.join(" ");
        let is_of_memory = (words.starts_with("Register ") && words.contains(" information:"))
            || words.contains(" allocated at ");
        let is_rest_of_memory = self.is_of_memory
            && (words.starts_with("pointer offset ")
                || words.starts_with("at 0x")
                || words.ends_with("Free path:")
                || frame(&words).is_some() && !words.contains(" from ") && !words.contains(" is at "));
        self.is_of_memory = is_of_memory || is_rest_of_memory;
        if self.is_of_memory {
            self.is_open = false;
            return true;
        }
        let is_warning = words.contains("WARNING: ") && words.contains(" at ");
        let is_end = ["=> started at", "=> ended at"].iter().any(|end| words.contains(end));
        // The place of a lock that is held, in the next line.
        if words.ends_with(", at:") {
            self.is_open = true;
            return true;
        }
        if is_warning || is_end || words.contains(", at: ") || words.starts_with("..") || is_init_call(&words)
        {
            self.is_open = false;
            return true;
        }
        let is_title = TITLES.iter().any(|title| words.contains(title));
        let is_rest =
            self.is_open && (words.starts_with("[<") || is_stamp(&words) || frame(&words).is_some());
        let has_more = words.ends_with([':', ']']) || words.ends_with(" at") || words.ends_with(" from");
        self.is_open = (is_title || is_rest) && has_more && frame(&words).is_none();
        is_title || is_rest
    }
}

/// `calling driver_init+0x0/0x2 @ 1`, `initcall driver_init+0x0/0x2 returned 0 after 12 usecs` (`init/main.c`)
fn is_init_call(words: &str) -> bool {
    let is_call = words.contains("calling ") && words.contains(" @ ");
    is_call || words.contains("initcall ") && words.contains(" returned ")
}

/// `(91): ...`: the number of the event.
fn is_stamp(words: &str) -> bool {
    let number = words.strip_prefix('(').and_then(|rest| rest.split_once("):"));
    number.is_some_and(|(number, _)| fields::digits(number).is_some())
}

#[cfg(test)]
mod tests {
    use super::Asides;

    /// Of each line whether it is such a one.
    fn read(text: &str) -> Vec<bool> {
        let mut asides = Asides::default();
        text.lines().map(|line| asides.line(line)).collect()
    }

    #[test]
    fn where_interrupts_were_enabled_last_is_no_stack() {
        let whole = "irq event stamp: 9\nhardirqs last  enabled at (8): [<c1>] unlock+0x3/0x6\nhardirqs last disabled at (9): lock+0x1/0x5\n\
                     softirqs last  enabled at (7): [<0000000000000000>] 0x0\nsoftirqs last disabled at (6): [<c3>] exit+0x1/0x3\n\
                     [<c4>] spin+0x1/0x3\nRIP: 0010:spin+0x1/0x2\n";
        assert_eq!(read(whole), [false, true, true, true, true, false, false]);
        let broken = "hardirqs last  enabled at (8):\n[<c1>]\nunlock+0x3/0x6\nhardirqs last disabled at\n(9): [<c2>] lock+0x1/0x5\n\
                      softirqs last disabled at (6):\nCPU: 1 PID: 7 Comm: app\n[<c4>] spin+0x1/0x3\n";
        assert_eq!(read(broken), [true, true, true, true, true, true, false, false]);
    }

    #[test]
    fn where_memory_was_allocated_is_none_either() {
        let registers = "Register r3 information: 2-page vmalloc region starting at 0xe0 allocated at make+0x1/0x2\nRegister r4 information:\n\
                         slab thing start c1 pointer offset 0 size 64 allocated at make+0x1/0x2\n    grow+0x1/0x2\n Free path:\n    drop+0x1/0x2\n\
                         Process app (pid: 7, stack limit = 0x0)\n spin from caller+0x1/0x2\n";
        assert_eq!(read(registers), [true, true, true, true, true, true, false, false]);
        let broken = "Register r3 information: 2-page vmalloc region starting \nat 0xe0 allocated at make+0x1/0x2\nRegister r5 information: slab thing start c1\n\
                      pointer offset 0\n spin from caller+0x1/0x2\n";
        assert_eq!(read(broken), [true, true, true, true, false]);
    }

    #[test]
    fn where_preemption_was_disabled_and_where_a_lock_was_taken_are_none_either() {
        let old = "=> started at timestamp 1: <take+0x1/0x2>\n=>   ended at: <take+0x1/0x2>\n.. [<c1>] .... take+0x1/0x2\n.....[<00>] ..   ( <= _stext+0x1/0x2)\n";
        assert_eq!(read(old), [true; 4]);
        assert_eq!(read("WARNING: CPU: 0 PID: 1 at kernel/a.c:990 take+0x1/0x2\n"), [true]);
        let boot = "random: get_random_bytes called from start_kernel+0x1/0x2 with crng_init=0\nrandom: get_random_bytes called from\n\
                    start_kernel+0x1/0x2 with crng_init=0\ncalling  my_init+0x0/0x2 @ 1\ninitcall my_init+0x0/0x2 returned 0 after 9 usecs\n";
        assert_eq!(read(boot), [true; 5]);
        let text = "Preemption disabled at:\n[<c1>] driver+0x1/0x2\ncaller+0x1/0x2\n #0: ffff (&lock){+.+.}, at: take+0x1/0x3\n\
                    Last Breaking-Event-Address:\n [<0c1f2d4>] jump+0x1/0x3\nPreemption disabled at: [<c1>] driver+0x1/0x2\n spin+0x1/0x2\n";
        assert_eq!(read(text), [true, true, false, true, true, true, true, false]);
        let broken = " #1: ffff (&cpu->lock){+.+.}, at: \ntake+0x1/0x3\nCall trace:\n spin+0x1/0x2\n";
        assert_eq!(read(broken), [true, true, false, false]);
    }
}
