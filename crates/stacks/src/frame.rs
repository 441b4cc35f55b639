//! A frame of a call stack, as unwinding finds it.

/// A frame, and where it is on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnwoundFrame {
    /// The instruction pointer of the innermost frame; of each other the return address less one.
    pub(crate) address: u64,
    /// The stack pointer as it calls: its own part of the stack is from here to that of its caller.
    pub(crate) stack_pointer: u64,
}
