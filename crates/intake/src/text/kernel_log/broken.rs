//! Lines that a mail program broke where their first part alone means something else.
//!
//! ```text
//! [ 12.345678]  ?
//! spin_on+0x10/0x20           the kernel is not sure of this function
//! [ 12.345679] INFO: task
//! kworker/1:2:34 blocked for more than 120 seconds.
//! [ 12.345680] Workqueue: events
//! flush_all [driver]
//! [ 12.345681] RIP:
//! 0010:spin_on+0x10/0x20      the function in which the CPU is
//! ```

use super::{frames, stamps, work_item};

/// With what the report of a hung task begins.
pub(super) const HUNG_TASK: &str = "INFO: task";

/// With what the line of the register begins that shows the function in which a CPU is.
const REGISTERS: [&str; 6] = ["RIP:", "EIP:", "pc :", "PC is at", "NIP", "epc :"];

/// True of such a line without its function: `RIP:`, `RIP: 0010:`, `RIP: 0010:[<ffffffff8108c5f0>]`
fn is_register_alone(message: &str) -> bool {
    let rest = REGISTERS.iter().find_map(|register| message.trim_start().strip_prefix(register));
    rest.is_some_and(|rest| rest.chars().all(|sign| sign.is_ascii_hexdigit() || "[]<>: ".contains(sign)))
}

/// True of a line that goes on in the next one, if that has no stamp of its own.
pub(super) fn ends_early(line: &str) -> bool {
    let message = stamps::message(line).trim_end();
    is_register_alone(message)
        || message.ends_with('?') && !message.contains("+0x")
        || message.starts_with(HUNG_TASK) && !message.contains(" blocked")
        || message.strip_prefix("Workqueue: ").is_some_and(|queue| !queue.trim().contains(' '))
}

/// Such a line with its `rest`; none where that is a line of its own.
pub(super) fn joined(begun: &str, rest: &str) -> Option<String> {
    let (first, second) = (stamps::message(begun).trim_end(), stamps::message(rest));
    let is_rest = match first.strip_prefix("Workqueue: ") {
        // The function alone, or with its module or what it works on.
        Some(_) => {
            let behind = second.split_once(' ').map_or("", |(_, behind)| behind.trim());
            let is_one = behind.is_empty() || behind.starts_with(['[', '(']);
            is_one
                && frames::frame(second).is_none()
                && work_item::of_line(&format!("{first} {second}")).is_some()
        }
        None if first.ends_with('?') || is_register_alone(first) => frames::frame(second).is_some(),
        None => second.contains("blocked ") || second.trim() == "blocked",
    };
    (is_rest && stamps::is_bare(rest)).then(|| format!("{} {second}", begun.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::{ends_early, joined};

    #[test]
    fn a_line_that_ends_early_goes_on_in_one_without_a_stamp() {
        const AT: &str = "May  1 10:00:00 host kernel: [   12.345678] ";
        let cases = [
            (" ?", "spin_on+0x10/0x20 [driver]", true),
            ("[<c0aa2100>] ?", "spin_on+0x10/0x20", true),
            (" ?", "[   12.345679]  spin_on+0x10/0x20", false),
            ("RIP:", "0010:spin_on+0x80/0x240 [driver]", true),
            ("RIP: 0010:[<c0aa2100>]", "[<c0aa2100>] spin_on+0x80/0x240", true),
            ("pc :", "spin_on+0x80/0x240", true),
            ("RIP:", "Code: 8b 00 48", false),
            ("RIP:", "[   12.345679] 0010:spin_on+0x80/0x240", false),
            ("INFO: task", "app:7 blocked for more than 120 seconds.", true),
            ("INFO: task app:7", "blocked for more than 120 seconds.", true),
            (
                "INFO: task",
                "May  1 10:00:01 host kernel: [   12.4] x:7 blocked for more than 9 seconds.",
                false,
            ),
            ("Workqueue: events", "flush_all [driver]", true),
            ("Workqueue: writeback", "wb_workfn (flush-8:0)", true),
            ("Workqueue: events", "Call Trace:", false),
            ("Workqueue: events", "spin_on+0x10/0x20", false),
        ];
        for (first, rest, is_one) in cases {
            let first = format!("{AT}{first}");
            let whole = is_one.then(|| format!("{first} {rest}"));
            assert!(ends_early(&first), "{first}");
            assert_eq!(joined(&first, rest), whole, "{first}");
            // A mail quotes both parts.
            let quoted = joined(&format!("> {first}"), &format!("> {rest}"));
            assert_eq!(quoted, whole.map(|whole| format!("> {whole}")), "{first}");
        }
        for whole in [
            " ? spin_on+0x10/0x20",
            "INFO: task app:7 blocked for",
            "RIP: 0033:0x7f12",
            "Workqueue: events flush_all",
        ] {
            assert!(!ends_early(&format!("{AT}{whole}")), "{whole}");
        }
    }
}
