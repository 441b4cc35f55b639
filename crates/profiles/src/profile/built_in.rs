//! The profiles that are part of the program.

/// A profile that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, such as `realtime`.
    pub name: &'static str,
    /// What it is for, in one line; the same as in its text.
    pub summary: &'static str,
    /// The profile itself.
    pub text: &'static str,
}

/// The built-in profiles.
pub fn built_in() -> &'static [BuiltIn] {
    const ALL: &[BuiltIn] = &[
        BuiltIn {
            name: "realtime",
            summary: "Threads with deadlines on CPUs of their own, on a PREEMPT_RT kernel",
            text: include_str!("../../profiles/realtime.toml"),
        },
        BuiltIn {
            name: "cpu-partitioning",
            summary: "CPUs for threads that poll without end (packet processing), on any kernel",
            text: include_str!("../../profiles/cpu-partitioning.toml"),
        },
        BuiltIn {
            name: "realtime-virtual-host",
            summary: "A host whose guests have deadlines: a CPU for each virtual CPU",
            text: include_str!("../../profiles/realtime-virtual-host.toml"),
        },
        BuiltIn {
            name: "realtime-virtual-guest",
            summary: "A guest with deadlines, on a host that is prepared for it",
            text: include_str!("../../profiles/realtime-virtual-guest.toml"),
        },
        BuiltIn {
            name: "audio",
            summary: "Audio with small buffers on a desktop or laptop",
            text: include_str!("../../profiles/audio.toml"),
        },
        BuiltIn {
            name: "robotics",
            summary: "Robots and machine control: threads with deadlines beside a desktop or middleware",
            text: include_str!("../../profiles/robotics.toml"),
        },
    ];
    ALL
}
