//! Printing to the console: a message stands in the driver until its last character is out, with interrupts or preemption
//! disabled (`console_unlock`, kernel/printk/printk.c; `serial8250_console_write`).

use super::interrupted::responsible;

/// How the names of functions begin that print.
const BEGIN: [&str; 11] = [
    "__call_console_driver",
    "__printk",
    "_call_console_driver",
    "call_console_driver",
    "console_emit_next",
    "console_flush_",
    "console_trylock",
    "console_unlock",
    "nbcon_",
    "vprintk",
    "wait_for_xmitr",
];
/// Names of functions that print.
const WHOLE: [&str; 8] = [
    "__dynamic_dev_dbg",
    "__dynamic_netdev_dbg",
    "__dynamic_pr_debug",
    "_printk",
    "dev_printk_emit",
    "dev_vprintk_emit",
    "printk",
    "vt_console_print",
];
/// How the names of the consoles' own functions end (drivers/tty/serial).
const END: [&str; 3] = ["_console_putchar", "_console_write", "_console_write_atomic"];
/// The functions behind `pr_debug` and its like, which are enabled one by one (lib/dynamic_debug.c).
const DYNAMIC: [&str; 3] = ["__dynamic_dev_dbg", "__dynamic_netdev_dbg", "__dynamic_pr_debug"];

/// True of a function that prints the kernel's messages.
pub(crate) fn prints(name: &str) -> bool {
    WHOLE.contains(&name)
        || BEGIN.iter().any(|begin| name.starts_with(begin))
        || END.iter().any(|end| name.ends_with(end))
}

/// True where the function that is first in this stack prints, locks left out.
pub(super) fn is_printing<S: AsRef<str>>(stack: &[S]) -> bool {
    responsible(stack).is_some_and(prints)
}

/// What helps against it. `stack`: innermost function first, with the one that called for the message.
pub(crate) fn advice<S: AsRef<str>>(stack: &[S]) -> Vec<String> {
    let mut names = stack.iter().map(AsRef::as_ref);
    let is_dynamic = |name: &str| DYNAMIC.contains(&name);
    let debugged = names.by_ref().find(|name| is_dynamic(name)).and_then(|_| names.next());
    let source = match debugged {
        Some(function) => format!(
            "disable the debug messages of {function}: echo 'func {function} -p' > /proc/dynamic_debug/control, or remove them"
        ),
        None => match printer(stack) {
            Some(function) => format!("remove the message that {function} prints, or what causes it: dmesg shows it"),
            None => "find the message in dmesg, and remove it or what causes it; debug messages: echo 'module NAME -p' > \
                     /proc/dynamic_debug/control"
                .to_owned(),
        },
    };
    vec![
        "print less to the console: dmesg -n 1, or quiet or loglevel= for the kernel; messages stay in dmesg".to_owned(),
        source,
        "use no serial console (console=ttyS... of the kernel's command line): at 115200 baud each character takes 87 us"
            .to_owned(),
    ]
}

/// The function that called for the message.
fn printer<S: AsRef<str>>(stack: &[S]) -> Option<&str> {
    let last = stack.iter().rposition(|name| prints(name.as_ref()) || is_of_log(name.as_ref()))?;
    stack.get(last + 1).map(AsRef::as_ref)
}

/// Between the caller and the console (kernel/printk/printk_safe.c, drivers/base/core.c).
fn is_of_log(name: &str) -> bool {
    ["_dev_", "dev_printk", "__dev_printk", "__netdev_printk"].iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_print() {
        for name in ["console_unlock", "vprintk_emit", "printk", "serial8250_console_write", "nbcon_emit_one"]
        {
            assert!(prints(name), "{name}");
        }
        for name in ["console_lock", "acme_printk_stats", "snprintf", "con_scroll", "uart_write"] {
            assert!(!prints(name), "{name}");
        }
        assert!(is_printing(&["_raw_spin_unlock_irqrestore", "vprintk_emit", "acme_irq"]));
        assert!(!is_printing(&["acme_irq", "printk"]));
    }

    #[test]
    fn the_function_that_prints_is_named() {
        let of = |stack: &[&str]| advice(stack).join("\n");
        let debug = of(&["vprintk_default", "printk", "__dynamic_pr_debug", "acme_poll", "kthread"]);
        assert!(debug.contains("'func acme_poll -p'"), "{debug}");
        let plain = of(&["vprintk_emit", "dev_vprintk_emit", "_dev_warn", "acme_reset", "kthread"]);
        assert!(plain.contains("the message that acme_reset prints"), "{plain}");
        assert!(of(&[]).contains("module NAME -p"));
    }
}
