//! Runs `whylate-lab` as a user does.

mod disk;
mod document;
mod kill_at;
mod mistakes;
mod run;
mod support;
