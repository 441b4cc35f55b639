//! `whylate check`: whether a machine is ready for real-time work.

mod answers;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod terminal;
