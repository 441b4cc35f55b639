//! By which ABI a thread makes its system calls.

/// The ABI of a thread's system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Abi {
    /// The kernel's own.
    #[default]
    Native,
    /// A 64-bit kernel's for 32-bit programs.
    Of32Bit,
}
