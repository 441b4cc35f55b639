//! The assignments in a file of shell syntax (/etc/default/grub, /etc/default/irqbalance), each with the place of
//! every character of its value, so that one word of it can be changed and no other byte.
//!
//! Nothing is run. What an expansion (`$NAME`, `$(command)`) would give is not known; in a value it stands as it
//! is written, blanks and quotes in it as `_`, and where it begins or ends with a blank (`${NAME:+$NAME }`) with one. An assignment that may not be made (in an `if`, behind `&&`) is
//! marked. What the shell makes of quotes: dash(1), sections "Quoting" and "Word Expansions".

mod parser;
mod script;

pub(crate) use parser::parse;
pub(crate) use script::{Assignment, quoted};

#[cfg(test)]
mod tests;
