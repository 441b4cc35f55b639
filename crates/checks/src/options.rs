//! The options of a check: the profile, the real-time CPUs, the priority and the user.

use std::fmt;
use std::str::FromStr;
use whylate_base::CpuSet;
use whylate_host::{Snapshot, Unread};

/// The kind of work a machine is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Threads with deadlines on a PREEMPT_RT kernel.
    Realtime,
    /// CPUs kept free of everything else, on any kernel (packet processing).
    CpuPartitioning,
    /// A host of real-time virtual machines.
    RealtimeVirtualHost,
    /// A real-time virtual machine.
    RealtimeVirtualGuest,
    /// Audio with small buffers.
    Audio,
    /// Robots and machine control: real-time threads beside a desktop or middleware.
    Robotics,
}

impl Profile {
    /// Every profile.
    pub const ALL: &'static [Profile] = &[
        Profile::Realtime,
        Profile::CpuPartitioning,
        Profile::RealtimeVirtualHost,
        Profile::RealtimeVirtualGuest,
        Profile::Audio,
        Profile::Robotics,
    ];
    /// The profiles that need a PREEMPT_RT kernel.
    pub const HARD: &'static [Profile] =
        &[Profile::Realtime, Profile::RealtimeVirtualHost, Profile::RealtimeVirtualGuest, Profile::Robotics];
    /// The profiles that reserve CPUs for real-time threads.
    pub const ISOLATING: &'static [Profile] = &[
        Profile::Realtime,
        Profile::CpuPartitioning,
        Profile::RealtimeVirtualHost,
        Profile::RealtimeVirtualGuest,
        Profile::Robotics,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Realtime => "realtime",
            Profile::CpuPartitioning => "cpu-partitioning",
            Profile::RealtimeVirtualHost => "realtime-virtual-host",
            Profile::RealtimeVirtualGuest => "realtime-virtual-guest",
            Profile::Audio => "audio",
            Profile::Robotics => "robotics",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Profile::ALL.iter().copied().find(|profile| profile.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            format!("no such profile; there are {}", names.join(", "))
        })
    }
}

/// The options of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// The profile.
    pub profile: Profile,
    /// The CPUs for real-time threads; `None`: not given.
    pub cpus: Option<CpuSet>,
    /// The user's real-time priority, 1 to 99; `None`: not given.
    pub priority: Option<u32>,
    /// The user that runs them; `None`: not given.
    pub user: Option<String>,
}

impl CheckOptions {
    /// A profile without other options.
    pub fn of(profile: Profile) -> CheckOptions {
        CheckOptions { profile, cpus: None, priority: None, user: None }
    }

    /// The chosen CPUs; by default all online CPUs.
    ///
    /// # Errors
    /// If no CPUs are given, and the online CPUs are not known.
    pub fn cpus(&self, host: &Snapshot) -> Result<CpuSet, Unread> {
        match &self.cpus {
            Some(cpus) => Ok(cpus.clone()),
            None => host.cpus.online.need().cloned(),
        }
    }
}
