//! `/proc/PID/task/TID/stat`, by the fields of proc_pid_stat(5).

use whylate_base::{Cpu, Policy, Tid};

/// The flag of a kernel thread (`PF_KTHREAD`, include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// The flag of a thread whose CPUs cannot be changed (`PF_NO_SETAFFINITY`, the same file).
const BOUND: u64 = 0x0400_0000;

/// The text of a thread's `stat`, split into its fields. A method returns `None` where its field is missing or is no such
/// number.
///
/// [`proc_pid_stat(5)`](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html)
#[derive(Clone, Debug)]
pub struct ThreadStat<'a> {
    tid: &'a [u8],
    comm: &'a [u8],
    /// From the third one on.
    fields: Vec<&'a str>,
}

impl ThreadStat<'_> {
    /// Splits the text of the file; `None` where it has no name in parentheses. The name may itself hold blanks,
    /// parentheses and any byte.
    pub fn parse(text: &[u8]) -> Option<ThreadStat<'_>> {
        let open = text.iter().position(|&byte| byte == b'(')?;
        let close = text.iter().rposition(|&byte| byte == b')')?;
        let fields = std::str::from_utf8(text.get(close + 1..)?).ok()?;
        Some(ThreadStat {
            tid: text.get(..open)?,
            comm: text.get(open + 1..close)?,
            fields: fields.split_ascii_whitespace().collect(),
        })
    }

    /// Its id (field 1).
    pub fn tid(&self) -> Option<Tid> {
        std::str::from_utf8(self.tid).ok()?.trim().parse().ok().map(Tid)
    }

    /// Its name (field 2), as its bytes are.
    pub fn comm(&self) -> &[u8] {
        self.comm
    }

    /// Its state (field 3): `R`, `S`, `D` ...
    pub fn state(&self) -> Option<char> {
        self.fields.first()?.chars().next()
    }

    /// Whether it is a thread of the kernel's own (field 9).
    pub fn is_kernel_thread(&self) -> Option<bool> {
        Some(self.flags()? & KERNEL_THREAD != 0)
    }

    /// Whether the kernel refuses to change its CPUs (field 9): sched_setaffinity(2) gives `EINVAL`.
    pub fn is_bound(&self) -> Option<bool> {
        Some(self.flags()? & BOUND != 0)
    }

    /// Page faults that read from no device (field 10).
    pub fn minor_faults(&self) -> Option<u64> {
        self.number(10)
    }

    /// Page faults that read from a device (field 12).
    pub fn major_faults(&self) -> Option<u64> {
        self.number(12)
    }

    /// For how long it ran, in clock ticks (fields 14 and 15): sampled at the tick, or exact where the CPU has none
    /// (`nohz_full=`).
    pub fn cpu_ticks(&self) -> Option<u64> {
        self.number::<u64>(14)?.checked_add(self.number(15)?)
    }

    /// Its nice value (field 19).
    pub fn nice(&self) -> Option<i32> {
        self.number(19)
    }

    /// When it started, in clock ticks since boot (field 22): with its id this identifies it.
    pub fn started(&self) -> Option<u64> {
        self.number(22)
    }

    /// The CPU that it was on last (field 39).
    pub fn cpu(&self) -> Option<Cpu> {
        self.number(39).map(Cpu)
    }

    /// Its real-time priority, 1 to 99; 0 for other policies (field 40).
    pub fn priority(&self) -> Option<u32> {
        self.number(40)
    }

    /// Its scheduling policy (field 41); `None` also for one that whylate does not know.
    pub fn policy(&self) -> Option<Policy> {
        Policy::from_raw(self.raw_policy()?)
    }

    /// The number of its policy (field 41).
    pub fn raw_policy(&self) -> Option<u32> {
        self.number(41)
    }

    fn flags(&self) -> Option<u64> {
        self.number(9)
    }

    fn number<T: std::str::FromStr>(&self, field: usize) -> Option<T> {
        self.fields.get(field.checked_sub(3)?)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] =
        b"412 (a) b (\xff) S 1 412 412 0 -1 69238848 7 0 2 0 0 0 0 0 -51 -20 1 0 37 1 1 1 0 0 0 0 0 0 0 \
                          0 0 0 0 0 17 3 50 1 0 0\n";

    #[test]
    fn fields_are_counted_as_in_the_man_page() {
        let stat = ThreadStat::parse(STAT).expect("a thread");
        assert_eq!((stat.tid(), stat.comm()), (Some(Tid(412)), &b"a) b (\xff"[..]));
        assert_eq!((stat.is_kernel_thread(), stat.is_bound()), (Some(true), Some(true)));
        assert_eq!((stat.minor_faults(), stat.major_faults()), (Some(7), Some(2)));
        assert_eq!(stat.cpu_ticks(), Some(0));
        assert_eq!((stat.nice(), stat.started()), (Some(-20), Some(37)));
        assert_eq!((stat.cpu(), stat.priority()), (Some(Cpu(3)), Some(50)));
        assert_eq!((stat.policy(), stat.state()), (Some(Policy::Fifo), Some('S')));
    }

    #[test]
    fn what_is_cut_off_is_not_known() {
        for cut in 0..STAT.len() {
            let known = ThreadStat::parse(&STAT[..cut]).and_then(|stat| stat.started());
            assert!(known.is_none_or(|started| [3, 37].contains(&started)), "{cut}");
        }
        assert!(ThreadStat::parse(b"").is_none() && ThreadStat::parse(b"12 )(").is_none());
        assert_eq!(ThreadStat::parse(b"x () S").and_then(|stat| stat.tid()), None);
    }

    #[test]
    fn this_thread_is_read() {
        let text = std::fs::read("/proc/thread-self/stat").expect("own thread");
        let stat = ThreadStat::parse(&text).expect("fields");
        assert_eq!(stat.tid(), Some(Tid(rustix::thread::gettid().as_raw_nonzero().get())));
        assert_eq!((stat.is_kernel_thread(), stat.is_bound()), (Some(false), Some(false)));
    }
}
