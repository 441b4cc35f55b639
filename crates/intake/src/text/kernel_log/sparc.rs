//! The registers in reports of sparc64 (`arch_trigger_cpumask_backtrace()` and `show_regs()` in `arch/sparc/kernel/process_64.c`).
//!
//! ```text
//! * CPU[  8]: TSTATE[0000004480001606] TPC[00000000004d7524] TNPC[00000000004d7528] TASK[app:7]
//!              TPC[spin_on+0xc4/0xe0] O7[take+0x6c/0xe0] I7[open+0x2c/0x40] RPC[read+0x80/0xc0]
//! TPC: <spin_on+0xc4/0xe0>
//! RPC: <take+0x6c/0xe0>
//! I7: <open+0x2c/0x40>
//! ```
//!
//! `TPC` is where the CPU was, and `I7` the caller. `O7` is what the function called last, as is `RPC` of `show_regs()`. `RPC` of a row is
//! what is found two windows further out, which behind a trap is of something else. Neither is a caller. A mail program may have broken the
//! rows at each blank.

use super::frames::{Frame, frame};
use super::owner::{LoggedThread, Owner};
use super::stamps::cpu_behind;

/// `TSTATE_PRIV` (`arch/sparc/include/asm/pstate.h`): the registers are of the kernel.
const PRIVILEGED: u64 = 0x400;

/// Whose registers a row shows. A CPU that did not answer has the thread `NULL:-1`.
pub(super) fn owner(message: &str) -> Option<Owner> {
    let begins = message.trim_start_matches(['*', ' ']).starts_with("CPU[") && message.contains("]: TSTATE[");
    let thread = message
        .split_once("TASK[")
        .filter(|(before, _)| before.contains("TNPC[") || before.is_empty())
        .and_then(|(_, rest)| rest.split_once(']'))
        .and_then(|(thread, _)| LoggedThread::of(thread))
        .filter(|thread| !thread.name.starts_with("NULL"));
    let cpu = cpu_behind(message, "CPU[").filter(|_| begins);
    (begins || thread.is_some()).then(|| Owner { thread, cpu, begins, ..Owner::default() })
}

/// The functions in which the CPU of a row was, innermost first; `None` of other lines. Of registers that are no callers there is none.
pub(super) fn functions(message: &str) -> Option<Vec<Frame<'_>>> {
    if message.starts_with("RPC: <") {
        return Some(Vec::new());
    }
    let registers: Vec<(&str, &str)> =
        message.split_whitespace().filter_map(|word| word.strip_suffix(']')?.split_once('[')).collect();
    let is_row = registers.iter().any(|(_, value)| frame(value).is_some())
        && registers.iter().all(|(name, _)| ["TPC", "O7", "I7", "RPC"].contains(name));
    let is_place = |name: &str| matches!(name, "TPC" | "I7");
    let places = || registers.iter().filter(|(name, _)| is_place(name));
    is_row.then(|| places().filter_map(|(_, value)| frame(value)).collect())
}

/// True of registers of user code: `TSTATE: 0000004411001602 TPC: 00000000f7d1c2c4`, `TSTATE[0000004411001602]`
pub(super) fn are_of_user(message: &str) -> bool {
    let value = ["TSTATE: ", "TSTATE["].iter().find_map(|name| message.split_once(name));
    let digits = value.and_then(|(_, value)| value.split([' ', ']']).next());
    let state =
        digits.filter(|digits| digits.len() == 16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    // A CPU that did not answer has 0.
    state.is_some_and(|state| state != 0 && state & PRIVILEGED == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_show_the_cpu_the_thread_and_its_caller() {
        let shown = |row: &str| {
            owner(row).map(|one| (one.cpu, one.thread.map(|thread| thread.to_string()), one.begins))
        };
        let thread = Some("mill:a (7)".to_owned());
        let state = "TSTATE[0000004480001606]";
        let rest = "TPC[00000000004d7524] TNPC[00000000004d7528] TASK[mill:a:7]";
        assert_eq!(shown(&format!("* CPU[  8]: {state} {rest}")), Some((Some(8), thread.clone(), true)));
        assert_eq!(shown(&format!("CPU[ 31]: {state}")), Some((Some(31), None, true)));
        assert_eq!(shown(rest), Some((None, thread, false)));
        let silent =
            "CPU[ 23]: TSTATE[0000000000000000] TPC[0000000000000000] TNPC[0000000000000000] TASK[NULL:-1]";
        assert_eq!(shown(silent), Some((Some(23), None, true)));
        assert_eq!(shown("the TASK[mill:7] of mine"), None);
        let names = |row: &'static str| functions(row);
        let (spin, open) = (Frame::Function("spin"), Frame::Function("open"));
        let row = "TPC[spin+0xc4/0xe0] O7[take+0x6c/0xe0] I7[open+0x2c/0x40] RPC[read+0x80/0xc0]";
        assert_eq!(names(row), Some(vec![spin, open]));
        assert_eq!(names("O7[take+0x6c/0xe0] I7[open+0x2c/0x40]"), Some(vec![open]));
        assert_eq!(names("TPC[spin+0xc4/0xe0] O7[0xf774ee3c] I7[0xf774ee3d] RPC[0]"), Some(vec![spin]));
        assert_eq!(names("RPC[read+0x80/0xc0]"), Some(Vec::new()));
        assert_eq!(names("RPC: <take+0x6c/0xe0>"), Some(Vec::new()));
        assert_eq!(names("TPC[0] O7[0] I7[0] RPC[0]"), None);
        assert_eq!(names("[0000000000652ca4] open+0x84/0x320"), None);
    }

    #[test]
    fn the_state_shows_user_code() {
        assert!(are_of_user("TSTATE: 0000004411001202 TPC: 00000000f7d1c2c4 TNPC: 00000000f7d1c2c8"));
        assert!(are_of_user("* CPU[  8]: TSTATE[0000004411001202]"));
        assert!(!are_of_user("CPU[  8]: TSTATE[0000004480001606] TPC[00000000004d7524]"));
        assert!(!are_of_user("CPU[ 23]: TSTATE[0000000000000000] TPC[0000000000000000]"));
    }
}
