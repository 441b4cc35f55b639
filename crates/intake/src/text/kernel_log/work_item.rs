//! The work item that a worker thread (`kworker`) runs, and the call with which the kernel's first thread sets a part of it up: they,
//! and not the thread, are what takes long.
//!
//! ```text
//! Workqueue: writeback wb_workfn (flush-8:0)     print_worker_info(), kernel/workqueue.c
//! ```

use super::reporter::called_by;

/// Functions that call a work item's function (`kernel/workqueue.c`).
const CALLERS: [&str; 2] = ["process_one_work", "process_scheduled_works"];

/// `wb_workfn (workqueue writeback)`, of the line that names both; `None` of other lines, and of a worker without work.
pub(super) fn of_line(message: &str) -> Option<String> {
    let mut words = message.strip_prefix("Workqueue: ")?.split_whitespace();
    let (queue, function) = (words.next()?, words.next()?);
    let function = function.split('+').next()?;
    let is_name = function.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && function.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"_.".contains(&sign));
    is_name.then(|| format!("{function} (workqueue {queue})"))
}

/// The function of the work item in a stack, innermost function first.
pub(super) fn of_stack<'a>(functions: &[&'a str]) -> Option<&'a str> {
    called_by(functions, &CALLERS)
}

/// The function of an init call in a stack, innermost function first (`do_one_initcall()` in `init/main.c`).
pub(super) fn init_call<'a>(functions: &[&'a str]) -> Option<&'a str> {
    called_by(functions, &["do_one_initcall"])
}

#[cfg(test)]
mod tests {
    use super::{init_call, of_line, of_stack};

    #[test]
    fn a_worker_has_a_work_item() {
        let cases = [
            ("Workqueue: events flush_all", Some("flush_all (workqueue events)")),
            ("Workqueue: io-wq reset_work [driver]", Some("reset_work (workqueue io-wq)")),
            ("Workqueue: back wb_fn (flush-8:0)", Some("wb_fn (workqueue back)")),
            ("Workqueue: back wb_fn+0x0/0x10", Some("wb_fn (workqueue back)")),
            // A worker that waits for work.
            ("Workqueue:  0x0 (events)", None),
            ("Workqueue: events", None),
            ("workqueue: f hogged CPU", None),
        ];
        for (line, expected) in cases {
            assert_eq!(of_line(line).as_deref(), expected, "{line}");
        }
        assert_eq!(of_stack(&["spin", "flush_all", "process_one_work", "worker_thread"]), Some("flush_all"));
        assert_eq!(of_stack(&["process_one_work"]), None);
        assert_eq!(of_stack(&["spin"]), None);
        assert_eq!(init_call(&["spin", "self_test", "do_one_initcall", "kernel_init"]), Some("self_test"));
    }
}
