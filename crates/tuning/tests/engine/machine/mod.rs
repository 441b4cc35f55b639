//! A made-up machine in a directory, rich enough for every kind of step: what no directory has (threads, units,
//! control groups, the boot loader's command) is played.

mod kernel;
mod root;
mod sessions;
mod steps;

pub(crate) use root::Machine;
pub(crate) use sessions::{applied, applied_with, plan, resumed, rolled_back, run};
pub(crate) use steps::{
    content, every_kind, file, knob, refused_kinds, refusing, set, some_steps, thread, update_grub, value,
};
