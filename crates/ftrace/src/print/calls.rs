//! Which function called which, for the indentation of trace-cmd's `function` events.

use crate::symbols::Symbols;
use std::cell::RefCell;
use std::collections::HashMap;
use whylate_base::Cpu;

/// Calls in calls that are kept; no kernel stack is that deep.
const DEEPEST: usize = 1000;

/// The calls of each CPU as far as function events show them. Returns are not seen: what was
/// called last from each depth stays until something else is called from there.
#[derive(Default)]
pub(super) struct Calls(RefCell<HashMap<Cpu, Vec<u64>>>);

impl Calls {
    /// Notes a call and gives its depth; 0 where the caller is not known.
    pub(super) fn depth(&self, cpu: Cpu, symbols: &Symbols, caller: u64, called: u64) -> usize {
        let Some((caller, _)) = symbols.find(caller) else { return 0 };
        let mut cpus = self.0.borrow_mut();
        let stack = cpus.entry(cpu).or_default();
        let depth = match stack.iter().position(|function| *function == caller) {
            Some(depth) => depth,
            None => {
                match stack.first_mut() {
                    Some(first) => *first = caller,
                    None => stack.push(caller),
                }
                0
            }
        };
        if let Some((called, _)) = symbols.find(called) {
            match stack.get_mut(depth + 1) {
                Some(next) => *next = called,
                None if depth < DEEPEST => stack.push(called),
                None => {}
            }
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_follow_the_callers() {
        let symbols = Symbols::parse(b"10 T a\n20 T b\n30 T c\n40 T end\n".to_vec());
        let calls = Calls::default();
        let depths = [(0x11, 0x20), (0x22, 0x30), (0x22, 0x30), (0x11, 0x30), (0x99, 0x10), (0x33, 0x10)]
            .map(|(caller, called)| calls.depth(Cpu(0), &symbols, caller, called));
        assert_eq!(depths, [0, 1, 1, 0, 0, 1]);
        assert_eq!(calls.depth(Cpu(1), &symbols, 0x22, 0x30), 0);
    }
}
