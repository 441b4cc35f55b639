//! Programs are compiled, run until they wait in a system call, and their stacks are unwound and named.

mod any_input;
mod debug_files;
#[cfg(target_arch = "x86_64")]
mod generated;
mod locks;
mod program;
#[cfg(target_arch = "x86_64")]
mod python;
mod sampled;
mod shapes;
