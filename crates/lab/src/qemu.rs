//! QEMU as a process: its command line, its console, and its end, which comes in any case.

use crate::cable::CableEnd;
use crate::console::{Console, Mark};
use crate::time::TimeSource;
use crate::{Arch, LabError};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Kernel parameters of every guest.
///
/// The self tests of the crypto API keep a CPU busy for seconds after boot.
/// A guest has little entropy, and programs would wait for it.
const PARAMETERS: [&str; 5] =
    ["rdinit=/whylate", "quiet", "panic=-1", "cryptomgr.notests", "random.trust_cpu=on"];

/// The setup of QEMU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QemuSetup<'a> {
    pub(crate) arch: Arch,
    pub(crate) boot: BootSource<'a>,
    /// In the order in which the guest counts them.
    pub(crate) drives: &'a [Drive<'a>],
    pub(crate) cpus: u32,
    pub(crate) memory_mib: u32,
    pub(crate) time: TimeSource,
    /// The network device, if it has one.
    pub(crate) cable: Option<&'a CableEnd>,
}

/// The source of the boot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BootSource<'a> {
    /// A kernel and its first root, handed over by QEMU.
    Kernel { kernel: &'a Path, initramfs: &'a Path, append: &'a [String] },
    /// The boot loader of the first drive, started by the firmware as on a machine.
    Disk,
}

/// A disk of the guest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drive<'a> {
    pub(crate) path: &'a Path,
    /// udev makes `/dev/disk/by-id/virtio-SERIAL` of it.
    pub(crate) serial: &'static str,
    pub(crate) keeps: Keeps,
}

/// The durability of a disk when QEMU is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Irrelevant: the disk is not used again.
    Nothing,
    /// Each write that QEMU has confirmed.
    EachWrite,
}

impl QemuSetup<'_> {
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut put = |option: &str, value: OsString| arguments.extend([option.into(), value]);
        // The threads of the guest's CPUs are called `CPU 0/TCG` and so on in traces of the host.
        put("-name", "whylate-lab,debug-threads=on".into());
        let (machine, processor) = self.arch.machine();
        put("-machine", machine.into());
        put("-cpu", processor.into());
        put("-smp", self.cpus.to_string().into());
        put("-m", self.memory_mib.to_string().into());
        match self.time {
            // One instruction takes 2 ns, and time stands still while the host does something else.
            TimeSource::Virtual => {
                put("-accel", "tcg,thread=single".into());
                put("-icount", "shift=1,sleep=off".into());
            }
            TimeSource::Free => put("-accel", "tcg,thread=multi".into()),
        }
        put("-display", "none".into());
        put("-chardev", "stdio,id=console,signal=off".into());
        put("-serial", "chardev:console".into());
        // Without a reader: the device interrupts as long as a program writes to it.
        match self.arch {
            Arch::X86_64 => put("-serial", "null".into()),
            // `virt` has one port for the normal world.
            Arch::Arm64 => {
                put("-chardev", "null,id=spare".into());
                put("-device", "pci-serial,chardev=spare".into());
            }
        }
        for Drive { path, serial, keeps } in self.drives {
            // By default QEMU stops the whole guest while this machine has no room for what it writes.
            let mut drive =
                OsString::from(format!("format=raw,if=none,id={serial},cache=unsafe,werror=report,file="));
            drive.push(doubled_commas(path));
            put("-drive", drive);
            // The host lives on, and has whatever QEMU has written. A guest that sees no cache in the disk
            // knows a write to be done only then.
            let cache = match keeps {
                Keeps::Nothing => "",
                Keeps::EachWrite => ",write-cache=off",
            };
            put("-device", format!("virtio-blk-pci,drive={serial},serial={serial}{cache}").into());
        }
        if let Some(end) = self.cable {
            put("-netdev", end.netdev().into());
            let address = end.hardware_address();
            // Without the firmware of a network boot.
            put("-device", format!("virtio-net-pci,netdev=cable,mac={address},romfile=").into());
        }
        if let BootSource::Kernel { kernel, initramfs, append } = self.boot {
            put("-kernel", kernel.into());
            put("-initrd", initramfs.into());
            put("-append", kernel_parameters(self.arch, append).into());
        }
        arguments.extend(["-no-user-config", "-nodefaults", "-no-reboot"].map(OsString::from));
        arguments
    }
}

fn missing(arch: Arch) -> impl FnOnce(std::io::Error) -> LabError {
    LabError::tool(arch.qemu(), arch.install_qemu())
}

/// In QEMU's option lists a comma of a value is written twice.
fn doubled_commas(path: &Path) -> OsString {
    match path.to_str() {
        Some(text) => text.replace(',', ",,").into(),
        None => path.into(),
    }
}

fn kernel_parameters(arch: Arch, append: &[String]) -> String {
    let console = format!("console={}", arch.console());
    let mut parameters = PARAMETERS.to_vec();
    parameters.push(&console);
    // A clock setting of the user has priority.
    if !append.iter().any(|parameter| parameter.contains("tsc") || parameter.contains("clocksource")) {
        parameters.extend(arch.clock_parameters());
    }
    parameters.extend(append.iter().map(String::as_str));
    // What follows `--` are the arguments of init.
    parameters.extend(["--", "lab", "guest"]);
    parameters.join(" ")
}

/// A running QEMU. It is killed when this is dropped, and by the kernel when this process dies.
#[derive(Debug)]
pub(crate) struct Qemu {
    arch: Arch,
    child: Child,
    console: Arc<Mutex<Console>>,
    reader: Option<JoinHandle<()>>,
}

impl Qemu {
    /// Starts it; its own messages go to `log`.
    pub(crate) fn start(setup: &QemuSetup<'_>, log: &Path) -> Result<Qemu, LabError> {
        let log = File::create(log).map_err(LabError::file("create", log))?;
        let mut command = Command::new(setup.arch.qemu());
        // A process group of its own: Ctrl-C at the terminal interrupts only this program, which then ends QEMU.
        command
            .args(setup.arguments())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        whylate_sys::die_with_parent(&mut command);
        let mut child = command.spawn().map_err(missing(setup.arch))?;
        let console = Arc::new(Mutex::new(Console::default()));
        let reader = child.stdout.take().map(|mut output| {
            let console = Arc::clone(&console);
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = std::io::Read::read(&mut output, &mut bytes) {
                    console.lock().unwrap_or_else(PoisonError::into_inner).add(&bytes[..count]);
                }
            })
        });
        Ok(Qemu { arch: setup.arch, child, console, reader })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, LabError> {
        let ended = self.child.try_wait().map_err(missing(self.arch))?;
        if ended.is_some()
            && let Some(reader) = self.reader.take()
        {
            // All of the console is there once the pipe's end has been read.
            let _ = reader.join();
        }
        Ok(ended)
    }

    /// The progress of the guest.
    pub(crate) fn mark(&self) -> Mark {
        self.console.lock().unwrap_or_else(PoisonError::into_inner).mark()
    }

    /// The text of the guest's console so far.
    pub(crate) fn console(&self) -> String {
        self.console.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    /// Types Ctrl-C at the guest's console: its programs get SIGINT.
    pub(crate) fn interrupt(&mut self) {
        // It may have just ended, which the next check finds.
        if let Some(stdin) = &mut self.child.stdin {
            let _ = stdin.write_all(b"\x03").and_then(|()| stdin.flush());
        }
    }

    /// Cuts its power with SIGKILL; unwritten data is lost.
    pub(crate) fn kill(&mut self) -> Result<ExitStatus, LabError> {
        // It may have just ended, which is no error.
        let _ = self.child.kill();
        self.child.wait().map_err(missing(self.arch))
    }

    /// Stops all its CPUs between any two instructions, or continues them.
    pub(crate) fn freeze(&self, frozen: bool) {
        let signal = if frozen { Signal::STOP } else { Signal::CONT };
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have just ended, which the next check finds.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Neither fails for a child that was not waited for; otherwise there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(time: TimeSource, append: &[String]) -> String {
        let (kernel, initramfs) = (Path::new("/k/vmlinuz"), Path::new("/t/initramfs"));
        of(Arch::X86_64, BootSource::Kernel { kernel, initramfs, append }, Keeps::Nothing, time)
    }

    fn of(arch: Arch, boot: BootSource<'_>, keeps: Keeps, time: TimeSource) -> String {
        let drives = [Drive { path: Path::new("/t,mp/disk"), serial: "results", keeps }];
        let setup = QemuSetup { arch, boot, drives: &drives, cpus: 2, memory_mib: 768, time, cable: None };
        setup.arguments().join(" ".as_ref()).into_string().expect("UTF-8")
    }

    #[test]
    fn time_is_the_emulators_own_or_the_hosts() {
        let own = arguments(TimeSource::Virtual, &[]);
        assert!(own.contains("-icount shift=1,sleep=off") && own.contains("thread=single"), "{own}");
        let hosts = arguments(TimeSource::Free, &[]);
        assert!(!hosts.contains("icount") && hosts.contains("thread=multi"), "{hosts}");
        assert!(own.contains("werror=report,file=/t,,mp/disk"), "{own}");
    }

    #[test]
    fn a_disk_boots_by_itself_and_keeps_what_was_written() {
        let text = of(Arch::X86_64, BootSource::Disk, Keeps::EachWrite, TimeSource::Free);
        assert!(text.contains("file=/t,,mp/disk") && text.contains("write-cache=off"), "{text}");
        assert!(!text.contains("-kernel") && !text.contains("-append"), "{text}");
    }

    #[test]
    fn parameters_of_the_user_come_after_ours_and_before_inits() {
        let text = kernel_parameters(Arch::X86_64, &["isolcpus=1".to_owned()]);
        assert!(text.contains("tsc=reliable") && text.ends_with("isolcpus=1 -- lab guest"), "{text}");
        let text = kernel_parameters(Arch::X86_64, &["notsc".to_owned()]);
        assert!(!text.contains("tsc=reliable") && !text.contains("clocksource"), "{text}");
    }

    #[test]
    fn a_guest_of_arm64_has_its_own_machine_console_and_port() {
        let (kernel, initramfs) = (Path::new("/k/vmlinuz"), Path::new("/t/initramfs"));
        let boot = BootSource::Kernel { kernel, initramfs, append: &[] };
        let text = of(Arch::Arm64, boot, Keeps::Nothing, TimeSource::Virtual);
        for part in ["-machine virt,gic-version=3", "console=ttyAMA0", "pci-serial,chardev=spare"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("tsc") && !text.contains("ttyS0"), "{text}");
    }
}
