//! Edits on made-up machines: directories that are laid out as distributions do it.

mod parameters;
mod root;
mod variable;
