//! What the kernel runs on: firmware, hypervisor, container, PCI devices.

use crate::table::readings;
use crate::{BracketedChoice, FsRoot, Mask, Reading};

/// The platform.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Who made the machine. Serial numbers are never read.
    pub dmi: Dmi,
    /// Signs of a hypervisor.
    pub hypervisor: Hypervisor,
    /// Signs of a container.
    pub container: Container,
    /// The model in the device tree (arm64, riscv): `Raspberry Pi 5 Model B`.
    pub model: Reading<String>,
    /// PCI power saving: `[default] performance powersave powersupersave`.
    pub aspm_policy: Reading<BracketedChoice>,
    /// The PCI devices.
    pub pci: Reading<Vec<PciDevice>>,
    /// The firmware type: the directory exists for EFI.
    pub efi: Reading<Vec<String>>,
    /// The CPUs that call EFI runtime services, if sysfs shows the workqueue for them.
    pub efi_cpus: Reading<Mask>,
    /// Why the firmware of a Raspberry Pi slowed it down, as hexadecimal bits; only the vendor's kernel has it.
    pub pi_throttled: Reading<String>,
    /// Whether the supply of a Raspberry Pi was too low in the last two seconds (the kernel's sensor `rpi_volt`).
    pub pi_undervoltage: Reading<bool>,
    /// The power mode of a Jetson that nvpmodel set last: `pmode:0002`.
    pub jetson_mode: Reading<String>,
    /// The power modes of a Jetson, their names alone.
    pub jetson_modes: Reading<String>,
    /// Whether the vendor's kernel of an i.MX changes the frequencies of its buses and its memory.
    pub imx_bus: Reading<String>,
    /// Devices whose frequency the kernel changes (devfreq): memory controllers, graphics.
    pub frequency_devices: Reading<Vec<FrequencyDevice>>,
    /// Where `fwupd.service` in /etc leads; `null`: it is masked.
    pub fwupd_unit: Reading<String>,
}

readings! {
    /// `/sys/class/dmi/id`.
    pub struct Dmi {
        /// The maker.
        pub vendor: String = "sys_vendor",
        /// The product.
        pub product: String = "product_name",
        /// The maker of the board.
        pub board_vendor: String = "board_vendor",
        /// The firmware's version.
        pub bios_version: String = "bios_version",
        /// The firmware's date.
        pub bios_date: String = "bios_date",
        /// 3 desktop, 9 laptop, 23 rack server.
        pub chassis: u64 = "chassis_type",
    }
}

/// Signs of a hypervisor.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypervisor {
    /// Whether the CPU reports one (`hypervisor` in the flags of x86).
    pub flag: Reading<bool>,
    /// `/sys/hypervisor/type`: `xen`.
    pub kind: Reading<String>,
    /// Whether this machine is a host: the module kvm has its parameters here.
    pub kvm: Reading<Vec<String>>,
    /// `cpu` of /proc/stat: the eighth number is the time stolen from this machine (proc_stat(5)).
    pub cpu_times: Reading<String>,
}

/// Signs of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// `/.dockerenv`.
    pub docker: Reading<String>,
    /// `/run/.containerenv` (podman); only that it is there is kept.
    pub podman: Reading<String>,
    /// `/run/systemd/container`: the manager's name.
    pub systemd: Reading<String>,
    /// `/proc/1/cgroup`.
    pub first_cgroup: Reading<String>,
    /// What pid 1 is called.
    pub first_comm: Reading<String>,
}

/// A device whose frequency the kernel changes.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyDevice {
    /// `3d400000.memory-controller`
    pub name: String,
    /// What chooses its frequency.
    pub governor: Reading<String>,
    /// Its lowest frequency now, in hertz.
    pub min: Reading<u64>,
    /// Its highest.
    pub max: Reading<u64>,
}

impl FrequencyDevice {
    fn read(tree: &FsRoot, name: &str) -> FrequencyDevice {
        let at = |file: &str| format!("/sys/class/devfreq/{name}/{file}");
        FrequencyDevice {
            name: name.to_owned(),
            governor: tree.value(&at("governor")),
            min: tree.value(&at("min_freq")),
            max: tree.value(&at("max_freq")),
        }
    }
}

/// A PCI device.
#[derive(Clone, Debug, PartialEq)]
pub struct PciDevice {
    /// Its address: `0000:01:00.0`.
    pub address: String,
    /// Its class, hexadecimal: `0x030000` is a display.
    pub class: Reading<String>,
    /// The driver that has it.
    pub driver: Reading<String>,
    /// Its legacy interrupt; 0: none.
    pub irq: Reading<u64>,
    /// Its MSI interrupts.
    pub msi_irqs: Reading<Vec<String>>,
    /// Its NUMA node; -1: none.
    pub node: Reading<i64>,
    /// Whether it may sleep when idle: `on` or `auto`.
    pub power_control: Reading<String>,
    /// The power-saving states of its link: `l0s_aspm`, `l1_aspm`, ... (5.5); `Missing` without any.
    pub link_states: Reading<Vec<(String, Reading<bool>)>>,
}

impl Platform {
    pub(crate) fn read(tree: &FsRoot) -> Platform {
        Platform {
            dmi: Dmi::read(tree, "/sys/class/dmi/id"),
            hypervisor: Hypervisor::read(tree),
            container: Container::read(tree),
            model: tree.value("/proc/device-tree/model"),
            aspm_policy: tree.value("/sys/module/pcie_aspm/parameters/policy"),
            pci: tree
                .list("/sys/bus/pci/devices")
                .and_then(|names| Ok(names.iter().map(|name| PciDevice::read(tree, name)).collect())),
            efi: tree.list("/sys/firmware/efi"),
            efi_cpus: tree.value("/sys/devices/virtual/workqueue/efi_runtime/cpumask"),
            pi_throttled: tree.value("/sys/devices/platform/soc/soc:firmware/get_throttled"),
            pi_undervoltage: pi_undervoltage(tree),
            jetson_mode: tree.value("/var/lib/nvpmodel/status"),
            jetson_modes: tree.filtered("/etc/nvpmodel.conf", |text| {
                let heads = text
                    .lines()
                    .filter(|line| line.starts_with("< POWER_MODEL ") || line.starts_with("< PM_CONFIG "));
                heads.map(|line| format!("{line}\n")).collect()
            }),
            imx_bus: imx_bus(tree),
            frequency_devices: tree
                .list("/sys/class/devfreq")
                .and_then(|names| Ok(names.iter().map(|name| FrequencyDevice::read(tree, name)).collect())),
            fwupd_unit: tree.link_name("/etc/systemd/system/fwupd.service"),
        }
    }
}

/// The alarm of the sensor that the kernel calls `rpi_volt` (drivers/hwmon/raspberrypi-hwmon.c).
fn pi_undervoltage(tree: &FsRoot) -> Reading<bool> {
    const SENSORS: &str = "/sys/class/hwmon";
    let sensors = tree.list(SENSORS);
    for sensor in sensors.known().into_iter().flatten() {
        if tree
            .value::<String>(&format!("{SENSORS}/{sensor}/name"))
            .known()
            .is_some_and(|name| name == "rpi_volt")
        {
            return tree.value(&format!("{SENSORS}/{sensor}/in0_lcrit_alarm"));
        }
    }
    sensors.and_then(|_| Err(crate::Why::Missing))
}

/// The bus frequency driver of NXP's kernels: imx_busfreq, imx6_busfreq.
fn imx_bus(tree: &FsRoot) -> Reading<String> {
    const DRIVERS: &str = "/sys/bus/platform/drivers";
    let drivers = tree.list(DRIVERS);
    for driver in drivers.known().into_iter().flatten().filter(|name| name.contains("busfreq")) {
        let devices = tree.list(&format!("{DRIVERS}/{driver}"));
        if let Some(device) = devices.known().into_iter().flatten().find(|name| name.contains("busfreq")) {
            return tree.value(&format!("{DRIVERS}/{driver}/{device}/enable"));
        }
    }
    drivers.and_then(|_| Err(crate::Why::Missing))
}

impl Hypervisor {
    fn read(tree: &FsRoot) -> Hypervisor {
        let flag = tree.beginning("/proc/cpuinfo", 4096).and_then(|info| {
            let flags = info.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
            let has = flags.map(|(_, flags)| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
            has.ok_or_else(|| crate::Why::Malformed { expected: "flags, which only x86 has".to_owned() })
        });
        Hypervisor {
            flag,
            kind: tree.value("/sys/hypervisor/type"),
            kvm: tree.list("/sys/module/kvm/parameters"),
            cpu_times: tree.beginning("/proc/stat", 512).and_then(|text| {
                let line = text.lines().find(|line| line.starts_with("cpu "));
                let expected = || crate::Why::Malformed { expected: "a line `cpu`".to_owned() };
                line.map(str::to_owned).ok_or_else(expected)
            }),
        }
    }
}

impl Container {
    fn read(tree: &FsRoot) -> Container {
        let nothing = |_: &str| String::new();
        Container {
            docker: tree.filtered("/.dockerenv", nothing),
            podman: tree.filtered("/run/.containerenv", nothing),
            systemd: tree.value("/run/systemd/container"),
            first_cgroup: tree.value("/proc/1/cgroup"),
            first_comm: tree.value("/proc/1/comm"),
        }
    }
}

impl PciDevice {
    fn read(tree: &FsRoot, address: &str) -> PciDevice {
        let at = |file: &str| format!("/sys/bus/pci/devices/{address}/{file}");
        PciDevice {
            address: address.to_owned(),
            class: tree.value(&at("class")),
            driver: tree.link_name(&at("driver")),
            irq: tree.value(&at("irq")),
            msi_irqs: tree.list(&at("msi_irqs")),
            node: tree.value(&at("numa_node")),
            power_control: tree.value(&at("power/control")),
            link_states: tree.list(&at("link")).and_then(|names| {
                let states = names.iter().filter(|name| name.ends_with("_aspm"));
                Ok(states.map(|name| (name.clone(), tree.value(&at(&format!("link/{name}"))))).collect())
            }),
        }
    }
}
