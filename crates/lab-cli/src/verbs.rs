//! One module for each verb.

pub(crate) mod disk;
pub(crate) mod fixes;
pub(crate) mod kill_at;
pub(crate) mod mistakes;
pub(crate) mod predict;
pub(crate) mod programs;
pub(crate) mod run;
pub(crate) mod tuning;
