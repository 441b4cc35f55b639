//! Where a call stack leaves an interrupt for what it interrupted.

/// Entries of an interrupt from the kernel or from user code: the frames between the handler and what it interrupted. Of x86
/// (`arch/x86/entry/entry_64.S`), arm64 and arm (`arch/arm*/kernel/entry*.S`).
const ENTRIES: [&str; 12] = [
    "asm_sysvec_",
    "asm_common_interrupt",
    "apic_timer_interrupt",
    "common_interrupt",
    "ret_from_intr",
    "reschedule_interrupt",
    "call_function_interrupt",
    "el1h_64_irq",
    "el1_irq",
    "__irq_svc",
    "el1_interrupt",
    "do_IRQ",
];
/// The same, where it was user code for certain.
const USER_ENTRIES: [&str; 5] = ["el0t_64_irq", "el0_irq", "__irq_usr", "el0_interrupt", "el0t_32_irq"];

/// The entry of an interrupt in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptEntry {
    /// The index of the first frame below it, counted from the innermost: of what was interrupted. It is the length of the stack
    /// where that ends here.
    pub below: usize,
    /// True where the interrupt came upon user code for certain.
    pub from_user: bool,
}

/// The entry of the innermost interrupt of a stack, innermost function first, by the names of its functions alone. `None` where it
/// shows no interrupt.
pub fn interrupt_entry<S: AsRef<str>>(functions: &[S]) -> Option<InterruptEntry> {
    let is_of = |name: &S, list: &[&str]| list.iter().any(|entry| name.as_ref().starts_with(entry));
    let is_entry = |name: &S| is_of(name, &ENTRIES) || is_of(name, &USER_ENTRIES);
    let first = functions.iter().position(is_entry)?;
    let entries = functions.get(first..)?.iter().take_while(|name| is_entry(name));
    let below = first + entries.clone().count();
    Some(InterruptEntry { below, from_user: entries.last().is_some_and(|name| is_of(name, &USER_ENTRIES)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_entry_counts() {
        type Case = (&'static [&'static str], Option<(usize, bool)>);
        let cases: [Case; 6] = [
            (
                &["tick", "sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt", "spin"],
                Some((3, false)),
            ),
            (&["tick", "el1_interrupt", "el1h_64_irq_handler", "el1h_64_irq", "spin"], Some((4, false))),
            (&["tick", "gic_handle_irq", "__irq_usr"], Some((3, true))),
            // Of nested interrupts only the inner one is left.
            (&["tick", "el1_irq", "poll", "gic_handle_irq", "el0_irq"], Some((2, false))),
            (&["spin", "caller"], None),
            (&[], None),
        ];
        for (stack, expected) in cases {
            let found = interrupt_entry(stack).map(|entry| (entry.below, entry.from_user));
            assert_eq!(found, expected, "{stack:?}");
        }
    }
}
