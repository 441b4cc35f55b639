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
    /// Those of [`whylate_sys::SAVED_REGISTERS`], in their order.
    pub saved: [u64; 5],
}

/// A copy of the top of a thread's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserStack<'a> {
    /// Its first byte's address: the stack pointer.
    pub start: u64,
    /// The bytes upwards from there.
    pub bytes: &'a [u8],
}

impl UserStack<'_> {
    /// The word at an address; `None` where it was not copied.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
    /// Whether the copy has the byte at an address.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.start).is_some_and(|at| at < self.bytes.len() as u64)
    }
}
