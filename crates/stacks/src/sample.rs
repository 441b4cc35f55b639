//! What the kernel copies of a thread when it takes a sample.

/// The user-space registers that unwinding begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserRegisters {
    /// The instruction pointer: `rip`, `pc`.
    pub ip: u64,
    /// The stack pointer: `rsp`, `sp`.
    pub sp: u64,
    /// The frame pointer: `rbp`, `x29`.
    pub fp: u64,
    /// The link register, `x30`; zero where the architecture has none.
    pub lr: u64,
}

/// A copy of the top of a thread's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserStack<'a> {
    /// Its first byte's address: the stack pointer.
    pub start: u64,
    /// The bytes upwards from there.
    pub bytes: &'a [u8],
}
