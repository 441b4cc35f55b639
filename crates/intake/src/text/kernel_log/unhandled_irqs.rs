//! Which interrupts no handler took (`__report_bad_irq()` in `kernel/irq/spurious.c`).
//!
//! ```text
//! irq 17: ... cared (try booting with the "irqpoll" option)
//! handlers:
//! [<00000000a1b2c3d4>] first_irq [driver]
//! [<00000000a1b2c3d4>] irq_default_primary_handler threaded [<00000000a1b2c3d5>] second_irq
//! Disabling IRQ #17
//! ```

use super::frames;
use super::stamps::{leading_number, listed};

/// So many interrupts are told apart, and so many handlers of each.
const MOST: usize = 16;
/// Stands first where an interrupt has a thread of its own (`kernel/irq/manage.c`).
const PRIMARY: &str = "irq_default_primary_handler";

/// An interrupt that was turned off.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnhandledIrq {
    number: u64,
    reports: u64,
    handlers: Vec<String>,
}

/// The interrupts that no handler took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnhandledIrqs {
    irqs: Vec<UnhandledIrq>,
    /// That of the report that is being read.
    now: Option<usize>,
    /// The lines are of its handlers.
    is_in_handlers: bool,
}

impl UnhandledIrqs {
    /// Takes in the message with which a report begins.
    pub(super) fn message(&mut self, message: &str) {
        self.is_in_handlers = false;
        let number = message.split_once("irq ").and_then(|(_, rest)| leading_number(rest));
        self.now = number.and_then(|number| {
            let at = self.irqs.iter().position(|irq| irq.number == number);
            if at.is_none() && self.irqs.len() < MOST {
                self.irqs.push(UnhandledIrq { number, reports: 0, handlers: Vec::new() });
            }
            at.or_else(|| self.irqs.iter().position(|irq| irq.number == number))
        });
        if let Some(irq) = self.now.and_then(|now| self.irqs.get_mut(now)) {
            irq.reports += 1;
        }
    }

    /// Takes in a line below it; false where it is none of the report's own.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let message = message.trim();
        if message == "handlers:" {
            self.is_in_handlers = self.now.is_some();
            return self.is_in_handlers;
        }
        if message.starts_with("Disabling IRQ #") {
            self.is_in_handlers = false;
        }
        let handler = Some(message).filter(|_| self.is_in_handlers).and_then(handler);
        let irq = self.now.and_then(|now| self.irqs.get_mut(now));
        let Some((handler, irq)) = handler.zip(irq) else { return false };
        if irq.handlers.len() < MOST && !irq.handlers.contains(&handler) {
            irq.handlers.push(handler);
        }
        true
    }

    /// `no handler took interrupt 17, which was turned off after many of them (2 reports; its handlers: first_irq [driver])`
    pub(super) fn meaning(&self) -> Option<String> {
        let (first, others) = self.irqs.split_first()?;
        let first = format!(
            "no handler took interrupt {}, which was turned off after many of them{}",
            first.number,
            first.remark()
        );
        let others: Vec<String> =
            others.iter().map(|irq| format!("{}{}", irq.number, irq.remark())).collect();
        Some(match others.as_slice() {
            [] => first,
            [one] => format!("{first}, nor interrupt {one}"),
            several => format!("{first}, nor interrupts {}", listed(several)),
        })
    }
}

impl UnhandledIrq {
    /// What else is shown of it, in brackets.
    fn remark(&self) -> String {
        let reports = (self.reports > 1).then(|| format!("{} reports", self.reports));
        let handlers = match self.handlers.as_slice() {
            [] => None,
            [one] => Some(format!("its handler: {one}")),
            several => Some(format!("its handlers: {}", listed(several))),
        };
        let parts: Vec<String> = reports.into_iter().chain(handlers).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    }
}

/// `[<00000000a1b2c3d4>] first_irq [driver]`: the function that serves the interrupt, which is that of its thread where it has one.
fn handler(line: &str) -> Option<String> {
    let (first, thread) = match line.split_once(" threaded ") {
        Some((first, thread)) => (first, Some(thread)),
        None => (line, None),
    };
    let name = |text: &str| {
        let (_, name) = text.trim().strip_prefix("[<")?.split_once(">]")?;
        let name = name.trim();
        let function = name.split(' ').next().unwrap_or_default();
        let is_part = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'.');
        let is_name = !function.is_empty() && function.bytes().all(is_part);
        let module = frames::module(name).map(|module| format!(" [{module}]")).unwrap_or_default();
        is_name.then(|| (function.to_owned(), module))
    };
    let (function, module) = match (name(first)?, thread.and_then(name)) {
        ((function, _), Some(thread)) if function == PRIMARY => thread,
        (first, _) => first,
    };
    Some(format!("{function}{module}"))
}

#[cfg(test)]
mod tests {
    use super::UnhandledIrqs;

    fn read(text: &str) -> Option<String> {
        let mut irqs = UnhandledIrqs::default();
        for line in text.lines() {
            match line.starts_with("irq ") {
                true => irqs.message(line),
                false => {
                    irqs.line(line);
                }
            }
        }
        irqs.meaning()
    }

    #[test]
    fn each_interrupt_is_named_with_its_handlers() {
        let report = |irq: u32, handlers: &str| {
            format!(
                "irq {irq}: ... cared (try booting with the \"irqpoll\" option)\n? walk+0x1/0x2\nhandlers:\n{handlers}Disabling IRQ #{irq}\n"
            )
        };
        let one = report(17, "[<00000000a1>] first_irq\n");
        let meaning = "no handler took interrupt 17, which was turned off after many of them";
        assert_eq!(read(&one), Some(format!("{meaning} (its handler: first_irq)")));
        let threaded = "[<0000a1>] first_irq\n[<0000a2>] irq_default_primary_handler threaded [<0000a3>] work_irq [card-b]\n";
        let all = read(&format!("{one}{}{}", report(20, ""), report(17, threaded)));
        let others = "(2 reports; its handlers: first_irq and work_irq [card-b]), nor interrupt 20";
        assert_eq!(all, Some(format!("{meaning} {others}")));
        let three = read(&format!("{}{}{}", report(3, ""), report(4, ""), report(5, "[<a>] b_irq [c]\n")));
        let three = three.unwrap_or_default();
        assert!(
            three.ends_with("after many of them, nor interrupts 4 and 5 (its handler: b_irq [c])"),
            "{three}"
        );
        assert_eq!(read("handlers:\n[<a>] b_irq\n"), None);
    }
}
