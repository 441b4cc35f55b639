//! A machine as the files that show it.

use std::collections::BTreeMap;
use whylate_host::FsRoot;

pub(super) type Files = BTreeMap<String, String>;

pub(super) fn tree(files: &Files) -> FsRoot {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    FsRoot::memory(&files)
}

/// Four CPUs, a kernel with everything, an interrupt, kernel threads and a program's threads.
pub(super) fn machine() -> Files {
    let mut files: Files = [
        ("/proc/sys/kernel/osrelease", "6.1.0-28-rt-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian\n"),
        ("/proc/sys/kernel/random/boot_id", "b0\n"),
        ("/boot/config-6.1.0-28-rt-amd64", "CONFIG_SMP=y\nCONFIG_CPU_ISOLATION=y\nCONFIG_NO_HZ_FULL=y\n"),
        ("/boot/grub/grub.cfg", GRUB),
        ("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"),
        ("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n"),
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/possible", "0-3\n"),
        ("/sys/devices/system/cpu/isolated", "\n"),
        ("/sys/devices/system/cpu/nohz_full", "(null)\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/proc/sys/kernel/timer_migration", "1\n"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/irq/default_smp_affinity", "f\n"),
        ("/proc/irq/24/smp_affinity_list", "0-3\n"),
        ("/proc/irq/24/eth0/x", ""),
        ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
        ("/sys/fs/cgroup/system.slice/cgroup.procs", ""),
        ("/etc/systemd/system.conf", "[Manager]\n"),
        ("/usr/lib/systemd/system/irqbalance.service", "[Install]\n"),
        ("/run/systemd/system/x", ""),
        ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .collect();
    thread(&mut files, 2, "kthreadd", true, (0, 0), "0-3");
    thread(&mut files, 17, "ktimers/2", true, (1, 1), "2");
    thread(&mut files, 700, "app", false, (0, 0), "0-3");
    files
}

pub(super) const GRUB: &str = "### BEGIN /etc/grub.d/10_linux ###\nset default=\"0\"\nmenuentry 'Debian' {\n\
                    \tlinux /vmlinuz root=/dev/sda1 ro quiet\n\tinitrd /initrd.img\n}\n";

pub(super) fn thread(
    files: &mut Files,
    pid: i32,
    name: &str,
    kernel: bool,
    (policy, priority): (u32, u32),
    cpus: &str,
) {
    let flags = if kernel { 0x0020_0000 } else { 0 };
    let dir = format!("/proc/{pid}/task/{pid}");
    let stat = format!(
        "{pid} ({name}) S 0 0 0 0 0 {flags} 0 0 0 0 0 0 0 0 0 0 0 0 5{pid} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {priority} \
         {policy} 0\n"
    );
    files.insert(format!("{dir}/stat"), stat);
    files.insert(format!("{dir}/status"), format!("Cpus_allowed_list:\t{cpus}\n"));
}
