//! The engine on a made-up machine: apply, rollback, verify and history, killed, refused and disturbed.

mod disk;
mod formats;
mod kill;
mod live;
mod machine;
mod profiles;
mod trouble;
