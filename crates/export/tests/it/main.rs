//! What is written is read back by our own readers, and by others where they are installed.

mod any_event;
mod cuts;
mod dat;
mod json_lines;
mod latencies;
mod perfetto;
mod perfetto_machine;
mod perfetto_samples;
mod tables;
mod text;
