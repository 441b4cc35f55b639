//! All clocks of `clock_gettime(2)` that a thread can read: their readings, their resolution, and whether a reading
//! enters the kernel.

use crate::SysError;
use crate::wide::wide;
use whylate_base::Ns;

/// A clock of `clock_gettime(2)`, read through the C library as programs do.
///
/// [`clock_gettime(2)`](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PosixClock {
    id: libc::clockid_t,
    name: &'static str,
}

impl PosixClock {
    /// CLOCK_MONOTONIC.
    pub const MONOTONIC: PosixClock = PosixClock { id: libc::CLOCK_MONOTONIC, name: "CLOCK_MONOTONIC" };
    /// CLOCK_MONOTONIC_COARSE.
    pub const MONOTONIC_COARSE: PosixClock =
        PosixClock { id: libc::CLOCK_MONOTONIC_COARSE, name: "CLOCK_MONOTONIC_COARSE" };
    /// CLOCK_REALTIME.
    pub const REALTIME: PosixClock = PosixClock { id: libc::CLOCK_REALTIME, name: "CLOCK_REALTIME" };
    /// CLOCK_THREAD_CPUTIME_ID.
    pub const THREAD_CPUTIME: PosixClock =
        PosixClock { id: libc::CLOCK_THREAD_CPUTIME_ID, name: "CLOCK_THREAD_CPUTIME_ID" };

    /// All of them. The alarm clocks are left out: they read as the clocks that they are named after.
    pub const ALL: [PosixClock; 9] = [
        PosixClock::MONOTONIC,
        PosixClock::REALTIME,
        PosixClock { id: libc::CLOCK_BOOTTIME, name: "CLOCK_BOOTTIME" },
        PosixClock { id: libc::CLOCK_TAI, name: "CLOCK_TAI" },
        PosixClock { id: libc::CLOCK_MONOTONIC_RAW, name: "CLOCK_MONOTONIC_RAW" },
        PosixClock::MONOTONIC_COARSE,
        PosixClock { id: libc::CLOCK_REALTIME_COARSE, name: "CLOCK_REALTIME_COARSE" },
        PosixClock { id: libc::CLOCK_PROCESS_CPUTIME_ID, name: "CLOCK_PROCESS_CPUTIME_ID" },
        PosixClock::THREAD_CPUTIME,
    ];

    /// Its name, as the man page spells it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// True of a clock that another program may set, so that a step backwards is no fault.
    pub fn can_be_set(self) -> bool {
        [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE, libc::CLOCK_TAI].contains(&self.id)
    }

    /// One reading.
    ///
    /// # Errors
    /// `EINVAL` on a kernel without this clock.
    #[inline]
    pub fn read(self) -> Result<Ns, SysError> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` has room for the structure that the call writes.
        match unsafe { libc::clock_gettime(self.id, &raw mut time) } {
            0 => Ok(of_timespec(time)),
            _ => Err(SysError::last("clock_gettime", self.name)),
        }
    }

    /// So many readings, one after the other, whose values are not used: what they cost.
    ///
    /// # Errors
    /// `EINVAL` on a kernel without this clock.
    pub fn read_repeatedly(self, readings: u32) -> Result<(), SysError> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        for _ in 0..readings {
            // SAFETY: `time` has room for the structure that the call writes.
            if unsafe { libc::clock_gettime(self.id, &raw mut time) } != 0 {
                return Err(SysError::last("clock_gettime", self.name));
            }
        }
        std::hint::black_box(&time);
        Ok(())
    }

    /// The resolution that the kernel claims.
    ///
    /// # Errors
    /// `EINVAL` on a kernel without this clock.
    ///
    /// [`clock_getres(2)`](https://man7.org/linux/man-pages/man2/clock_getres.2.html)
    pub fn resolution(self) -> Result<Ns, SysError> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` has room for the structure that the call writes.
        match unsafe { libc::clock_getres(self.id, &raw mut time) } {
            0 => Ok(of_timespec(time)),
            _ => Err(SysError::last("clock_getres", self.name)),
        }
    }

    /// Whether a reading makes a system call, with the clock source in use now; otherwise the vDSO reads the clock in
    /// user mode (vdso(7)).
    ///
    /// A thread of its own is refused the system call by a filter: its reading then fails exactly if it needs the call.
    ///
    /// # Errors
    /// When the kernel refuses the filter: it lacks CONFIG_SECCOMP_FILTER, or a container forbids it.
    ///
    /// [`PR_SET_SECCOMP(2const)`](https://man7.org/linux/man-pages/man2/PR_SET_SECCOMP.2const.html)
    pub fn makes_system_call(self) -> Result<bool, SysError> {
        let probe = std::thread::Builder::new().name("clock-path".into()).spawn(move || {
            refuse_clock_gettime()?;
            match self.read() {
                Ok(_) => Ok(false),
                Err(error) if error.errno() == REFUSAL => Ok(true),
                Err(error) => Err(error),
            }
        });
        let probe = probe.map_err(|error| SysError::of_io("pthread_create", "a thread", &error))?;
        probe.join().unwrap_or_else(|_| Err(SysError::new("clock_gettime", self.name, libc::EFAULT)))
    }
}

/// An error that `clock_gettime(2)` never gives for a reading.
const REFUSAL: i32 = libc::ENOTUNIQ;

/// Lets `clock_gettime(2)` fail with [`REFUSAL`] in the calling thread, for good.
fn refuse_clock_gettime() -> Result<(), SysError> {
    // SAFETY: PR_SET_NO_NEW_PRIVS takes numbers only, and holds for this thread alone.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(SysError::last("prctl", "PR_SET_NO_NEW_PRIVS"));
    }
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    // The architecture is not looked at: this thread makes no calls of another one (seccomp(2), "caveats").
    let mut program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_clock_gettime as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | REFUSAL as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the filter and its program live through the call, which copies them.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    if result != 0 { Err(SysError::last("prctl", "PR_SET_SECCOMP SECCOMP_MODE_FILTER")) } else { Ok(()) }
}

fn of_timespec(time: libc::timespec) -> Ns {
    Ns(wide(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(wide(time.tv_nsec)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_goes_forward_and_has_a_resolution() {
        for clock in PosixClock::ALL {
            let first = clock.read().unwrap_or_else(|error| panic!("{error}"));
            clock.read_repeatedly(100).unwrap_or_else(|error| panic!("{error}"));
            assert!(
                clock.can_be_set() || clock.read().unwrap_or_else(|error| panic!("{error}")) >= first,
                "{}",
                clock.name()
            );
            assert!(
                clock.resolution().unwrap_or_else(|error| panic!("{error}")) > Ns::ZERO,
                "{}",
                clock.name()
            );
        }
    }

    #[test]
    fn the_cpu_time_of_a_thread_is_only_known_to_the_kernel() {
        match PosixClock::THREAD_CPUTIME.makes_system_call() {
            Ok(makes_call) => assert!(makes_call),
            Err(error) => whylate_testing::skip(whylate_testing::Need::Machine, error),
        }
        // The filter was that thread's alone.
        PosixClock::THREAD_CPUTIME.read().expect("not refused here");
    }
}
