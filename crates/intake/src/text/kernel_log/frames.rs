//! The functions of a call stack in the kernel's log, as every architecture prints them.
//!
//! ```text
//!  des3_ede_encrypt+0x27c/0x460 [libdes]
//! pc : des3_ede_encrypt+0x27c/0x460 [libdes]
//! RIP: 0010:skb_gso_transport_seglen+0x44/0xa0
//! [<c0aa2100>] (schedule) from [<c0853830>] (__mmc_claim_host+0x154/0x274)
//!  ? pci_pm_default_resume+0x30/0x30
//!  spin_on (drivers/net/driver.c:554) driver           of scripts/decode_stacktrace.sh
//! ```

/// Functions in which any thread goes to sleep or prints its stack: they are no answer.
const GENERAL: [&str; 21] = [
    "__switch_to",
    "__switch_to_asm",
    "context_switch",
    "finish_task_switch",
    "__schedule",
    "schedule",
    "schedule_preempt_disabled",
    "schedule_rtlock",
    "schedule_timeout",
    "schedule_timeout_uninterruptible",
    "dequeue_task_idle",
    "deactivate_task",
    "preempt_schedule",
    "preempt_schedule_common",
    "dump_stack",
    "dump_stack_lvl",
    "show_stack",
    "__schedule_bug",
    "__might_resched",
    "dequeue_task",
    "block_task",
];

/// The same for input or output.
const GENERAL_FOR_IO: [&str; 2] = ["io_schedule", "io_schedule_timeout"];

/// Functions with which a kernel thread begins (`kthread()` in `kernel/kthread.c`, and what calls it on the architectures).
const THREAD_BEGINS: [&str; 7] = [
    "kthread",
    "ret_from_fork",
    "ret_from_fork_asm",
    "ret_from_kernel_thread",
    "kernel_thread_helper",
    "kernel_thread_starter",
    "child_rip",
];

/// Where the kernel is entered from user code (`arch/x86/entry`), by how their names begin: a stack ends there, and one of a kernel thread
/// names such a label behind its last function.
const KERNEL_ENTRIES: [&str; 3] = ["entry_SYSCALL", "entry_SYSENTER", "entry_INT80"];

/// No function has so many bytes: the kernel has no symbol for an address that is given as within such a one, as those of data, or of
/// the last symbol before a gap.
const LARGEST_FUNCTION: u64 = 256 * 1024;

/// What a function of a stack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// It shows where the thread is.
    Function(&'a str),
    /// A thread goes to sleep in it, or prints its stack.
    General,
    /// A thread goes to sleep in it until input or output is done.
    ForIo,
    /// A kernel thread begins with it.
    ThreadBegins,
}

/// The function that a line of a stack names; none where the kernel is not sure of it (`?`), or it is the return address.
pub(super) fn frame(line: &str) -> Option<Frame<'_>> {
    with_offset(line).or_else(|| with_source(line))
}

/// The function of a line with one in which any thread goes to sleep.
pub(super) fn general(line: &str) -> Option<&'static str> {
    let names = GENERAL.iter().filter(|name| line.contains(*name));
    names.max_by_key(|name| name.len()).copied()
}

/// True of the entry of a system call, which calls nothing by its own choice.
pub(super) fn is_kernel_entry(name: &str) -> bool {
    KERNEL_ENTRIES.iter().any(|begin| name.starts_with(begin))
}

/// True of a line with a function of which the kernel is not sure: `[<c0aa2100>] ? spin_on+0x10/0x20`
pub(super) fn is_unsure(line: &str) -> bool {
    line.split_once("? ").is_some_and(|(_, function)| frame(function).is_some())
}

/// `spin_on (drivers/net/driver.c:554) driver`: a function with its place in the sources.
fn with_source(line: &str) -> Option<Frame<'_>> {
    let (before, source) = line.trim().split_once(" (")?;
    let (source, _) = source.split_once(')')?;
    let is_place = |place: &str| {
        let line_behind = |end: &str| {
            place.split_once(end).is_some_and(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()))
        };
        [".c:", ".h:", ".S:", ".rs:"].into_iter().any(line_behind)
    };
    let is_source = source.split_whitespace().next().is_some_and(is_place);
    // Elsewhere the same words are of prose, or of a function that the kernel is not sure of.
    let registers =
        ["RIP: ", "EIP: ", "pc : ", "NIP "].iter().find_map(|register| before.split_once(register));
    let name = registers
        .map_or(before, |(_, name)| name.split_once(':').map_or(name, |(_, name)| name.trim_start()));
    let is_part = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'.' | b'$');
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(is_part);
    (is_source && is_name).then(|| Frame::of(name))
}

/// `spin_on+0x10/0x20 [driver]`
fn with_offset(line: &str) -> Option<Frame<'_>> {
    let at = line.find("+0x")?;
    let (before, after) = line.split_at(at);
    let (offset, length) = after.strip_prefix("+0x")?.split_once("/0x")?;
    let is_hex = |digits: &str| digits.bytes().next().is_some_and(|digit| digit.is_ascii_hexdigit());
    let end = length.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(length.len());
    let bytes = length.get(..end).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let is_data = bytes.is_some_and(|bytes| bytes >= LARGEST_FUNCTION) || name_is_of_data(before);
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '$');
    let name = before.rsplit(|sign| !is_part(sign)).next().unwrap_or_default();
    let leading = before.strip_suffix(name).unwrap_or(before);
    // A label of the compiler is no function.
    let is_label = name.strip_prefix(".L").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // The dot of a function's code, as opposed to its descriptor, on powerpc.
    let name = name.trim_start_matches('.');
    let names_one = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    let is_return = ["lr : ", "LR [", "LR is at", "LR = "].iter().any(|register| leading.contains(register));
    let is_sure = !leading.trim_end().ends_with('?') && !is_return && !is_label && !is_data;
    (names_one && is_sure && is_hex(offset) && is_hex(length)).then(|| Frame::of(name))
}

/// The module of the function that a line of a stack names: `spin_on+0x10/0x20 [driver]`; newer kernels may print an id of the module's
/// build behind its name.
pub(super) fn module(line: &str) -> Option<&str> {
    let is_part = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'-');
    // Where the line names the caller as well, its module is behind that.
    let behind = match line.split_once("+0x").and_then(|(_, offset)| offset.split_once("/0x")) {
        Some((_, length)) => length.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()),
        None => line.find(" [").and_then(|at| line.get(at..))?,
    };
    let (module, _) = behind.strip_prefix(" [")?.split_once(']')?;
    let module = module.split(' ').next()?;
    let begins = module.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    (begins && module.bytes().all(is_part)).then_some(module)
}

/// True of the names that every function of the C language has for its own name.
fn name_is_of_data(before: &str) -> bool {
    ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"].iter().any(|name| before.contains(name))
}

/// A line of a stack whose functions have no offsets, below the stack's title: `schedule`, `[<c0aa2100>] spin [module]`. `None` of a
/// line that is of no stack; no frame where the kernel is not sure of it (`?`), or where it shows the kind of stack (`<IRQ>`).
pub(super) fn bare(line: &str) -> Option<Option<Frame<'_>>> {
    let line = line.trim();
    if line.starts_with('<') && line.ends_with('>') {
        // The part of the thread is the last one (`show_trace_log_lvl()` in `arch/x86/kernel/dumpstack.c`).
        return (line != "</TASK>").then_some(None);
    }
    let line = match line.strip_prefix("[<") {
        Some(rest) => rest.split_once(">]")?.1.trim_start(),
        None => line,
    };
    let sure = line.strip_prefix('?').is_none();
    let line = line.trim_start_matches(['?', ' ']);
    let (name, module) = line.split_once(" [").map_or((line, "]"), |(name, module)| (name, module));
    let is_part =
        |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, b'_' | b'.');
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_');
    let is_name = begins && name.len() > 2 && name.bytes().all(is_part) && !name.ends_with('.');
    (is_name && module.ends_with(']')).then(|| sure.then(|| Frame::of(name)))
}

impl<'a> Frame<'a> {
    fn of(name: &'a str) -> Frame<'a> {
        if THREAD_BEGINS.contains(&name) {
            return Frame::ThreadBegins;
        }
        // A part that the compiler took out of a function is of that function.
        let part = [".isra", ".constprop", ".cold", ".part"].iter().filter_map(|part| name.find(part)).min();
        let name = part.and_then(|part| name.get(..part)).unwrap_or(name);
        match name {
            name if GENERAL_FOR_IO.contains(&name) => Frame::ForIo,
            name if GENERAL.contains(&name) => Frame::General,
            name => Frame::Function(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, bare, frame, module};

    #[test]
    fn functions_of_modules_have_the_name_of_theirs() {
        for (line, name) in [
            (" spin_on+0x27c/0x460 [driver]", Some("driver")),
            ("RIP: 0010:spin_on+0x27c/0x460 [my-drv 0123abcd]", Some("my-drv")),
            ("[<c0aa2100>] spin [driver_x]", Some("driver_x")),
            ("[<c0aa>](spin_on+0x27c/0x460) from [<c0ab>](open+0x1/0x2 [driver])", None),
            ("[<c0aa>](spin_on+0x27c/0x460 [driver]) from [<c0ab>](open+0x1/0x2)", Some("driver")),
            (" spin_on+0x27c/0x460 (unreliable)", None),
            (" spin_on+0x27c/0x460 kernel/b.c:7 [inline]", None),
            ("[ T12] spin_on+0x27c/0x460", None),
            ("spin_on", None),
        ] {
            assert_eq!(module(line), name, "{line}");
        }
    }

    #[test]
    fn functions_are_found_in_lines_of_all_architectures() {
        for (line, name) in [
            (" des3_ede_encrypt+0x27c/0x460 [libdes]", Some("des3_ede_encrypt")),
            ("pc : des3_ede_encrypt+0x27c/0x460 [libdes]", Some("des3_ede_encrypt")),
            ("lr : xfrm_input+0x27c/0x460", None),
            (
                "[ 3189.927751][ C13] RIP: 0010:skb_gso_transport_seglen+0x44/0xa0",
                Some("skb_gso_transport_seglen"),
            ),
            (
                "[<c0aa2100>] (schedule) from [<c0853830>] (__mmc_claim_host+0x154/0x274)",
                Some("__mmc_claim_host"),
            ),
            ("[  967.723636]  __mutex_lock.isra.0+0x190/0x510", Some("__mutex_lock")),
            ("[  967.723687]  ? pci_pm_default_resume+0x30/0x30", None),
            ("[  967.723610]  __schedule+0x2de/0x890", None),
            ("NIP [c0000000000300f8] arch_local_irq_restore+0x98/0x120", Some("arch_local_irq_restore")),
            ("[c0000000028c7bb0] [c00000000001a388] .arch_cpu_idle+0xb8/0x140", Some("arch_cpu_idle")),
            ("--- interrupt: 901 at .L144+0x0/0x4", None),
            ("    LR = arch_local_irq_restore+0x5c/0x80", None),
            (" rcu_sched_clock_irq.cold.97+0x112/0x38c", Some("rcu_sched_clock_irq")),
            (
                " ([<00000000005845a6>] fault_lock_inode_indicies+0x8e/0x128)",
                Some("fault_lock_inode_indicies"),
            ),
            ("schedule_timeout from rcu_gp_fqs_loop+0x124/0x3fc", Some("rcu_gp_fqs_loop")),
            (" spin_on (drivers/net/driver.c:554 (discriminator 14)) driver", Some("spin_on")),
            ("spin_on.isra.0 (include/linux/a.h:1 kernel/b.c:2)", Some("spin_on")),
            ("RIP: 0010:spin_on (kernel/b.c:2)", Some("spin_on")),
            ("EIP: spin_on (kernel/b.c:2)", Some("spin_on")),
            ("RIP: 0010: spin_on (kernel/b.c:2)", Some("spin_on")),
            ("? spin_on (kernel/b.c:2)", None),
            ("see spin_on (kernel/b.c:2)", None),
            ("spin_on (b.c)", None),
            ("x5 : 0000+0x12/0x13", None),
            ("some_table.4711+0x16ba98/0x1a0c0c", None),
            ("__func__.4711+0x16/0x20", None),
            ("tainted +0x", None),
            ("\u{20ac}+0x1/0x2", None),
            ("\u{20ac}\u{2026}spin+0x1/0x2 \u{2026}", Some("spin")),
        ] {
            let function = match frame(line) {
                Some(Frame::Function(function)) => Some(function),
                _ => None,
            };
            assert_eq!(function, name, "{line}");
        }
        assert_eq!(frame("[  967.723610]  __schedule+0x2de/0x890"), Some(Frame::General));
        assert_eq!(frame(" finish_task_switch.isra.0+0x2de/0x890"), Some(Frame::General));
        assert_eq!(frame("[<8001e9ac>] kernel_thread_helper+0x10/0x18"), Some(Frame::ThreadBegins));
    }

    #[test]
    fn functions_without_offsets_are_words_of_their_own() {
        let cases = [
            ("  spin_on.constprop.0", Some(Some(Frame::Function("spin_on")))),
            ("[<c0aa2100>] spin [driver]", Some(Some(Frame::Function("spin")))),
            ("schedule", Some(Some(Frame::General))),
            ("kthread", Some(Some(Frame::ThreadBegins))),
            (" ? unsure", Some(None)),
            ("<IRQ>", Some(None)),
            ("</TASK>", None),
            ("", None),
            ("thanks.", None),
            ("Regards", None),
            ("and so on", None),
            ("[<c0aa2100>]", None),
        ];
        for (line, expected) in cases {
            assert_eq!(bare(line), expected, "{line}");
        }
    }
}
