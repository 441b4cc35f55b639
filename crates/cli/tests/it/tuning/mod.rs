//! `whylate apply`, `rollback`, `verify`, `history` and `confirm`, on the root of a made-up machine in a directory: the
//! program itself is killed, refused and run twice.

mod apply;
mod boot;
mod failures;
mod journals;
mod plan_files;
mod root;
mod verify;
