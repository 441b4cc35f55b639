"""TuneD's verification of a profile that nobody applied: python3 tuned_verify.py PREFIX PROFILE CPUS

`tuned-adm verify` asks the daemon about the profile that it applied before. Here TuneD's own classes do the same
without the step between: load the profile, make the plugins, verify. Runs as a user who may change nothing.
Prints a JSON object: how many items passed, failed, were skipped; which plugins could not be used; what it logged.
"""

import json
import logging
import os
import sys
import tempfile
import time

prefix, profile_name, isolated = sys.argv[1:4]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(prefix, "usr/lib/python3/dist-packages"))

if os.geteuid() == 0:
    sys.exit("as root it could change the machine: run it as another user")


class Lines(logging.Handler):
    """Everything TuneD logs, in order."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


import tuned.logs  # noqa: E402

lines = Lines()
tuned.logs.get()
logging.getLogger("tuned").handlers = [lines]
logging.getLogger("tuned").setLevel(logging.INFO)
logging.getLogger("tuned").propagate = False

from tuned import hardware, monitors, plugins, profiles, storage, units  # noqa: E402
from tuned.utils.global_config import GlobalConfig  # noqa: E402

config = GlobalConfig(os.path.join(prefix, "etc/tuned/tuned-main.conf"))
variables = profiles.variables.Variables()
inventory = hardware.Inventory(set_receive_buffer_size=False)
watched = monitors.Repository()
with tempfile.TemporaryDirectory() as directory:
    # A profile of one's own, as the comment in TuneD's profile says: it alone sets the CPUs.
    os.mkdir(os.path.join(directory, "verified"))
    with open(os.path.join(directory, "verified", "tuned.conf"), "w") as file:
        file.write(f"[main]\ninclude={profile_name}\n[variables]\nisolated_cores={isolated}\n")
    repository = plugins.Repository(
        watched,
        storage.Factory(storage.PickleProvider(os.path.join(directory, "save.pickle"))),
        inventory,
        hardware.DeviceMatcher(),
        hardware.DeviceMatcherUdev(),
        plugins.instance.Factory(),
        config,
        variables,
    )
    manager = units.Manager(repository, watched, 0, inventory, config)
    locator = profiles.Locator([os.path.join(prefix, "usr/lib/tuned"), directory])
    loader = profiles.Loader(locator, profiles.Factory(), profiles.Merger(), config, variables)
    manager.create(loader.load(["verified"]).units)
    for instance in manager.instances:
        # What applying does at its end; without it verification asks no device.
        instance.processed_devices.update(instance.assigned_devices)
        instance.assigned_devices.clear()
        if instance.plugin.name == "scheduler":
            from tuned.plugins.plugin_scheduler import IRQAffinities

            # What applying remembers of interrupts that would not move: here none was asked to. And of an option.
            instance.plugin._storage.set(instance.plugin._irq_storage_key, IRQAffinities())
            instance.plugin._default_irq_smp_affinity(
                True, instance.options["default_irq_smp_affinity"], False, False
            )
    begun = time.monotonic()
    manager.verify_tuning(True)
    seconds = time.monotonic() - begun

verified = [line.removeprefix("verify: ") for line in lines.lines if line.startswith("verify: ")]
unusable = [line.split()[-1] for line in lines.lines if line.startswith("failed to initialize plugin")]
# A plugin whose verification ended with an exception.
unusable += [line for line in lines.lines if line.startswith("BUG: ")]
json.dump(
    {
        "passed": sum(line.startswith("passed") for line in verified),
        "failed": sum(line.startswith("failed") for line in verified),
        "skipped": sum(line.startswith("skipped") for line in verified),
        "unusable": unusable,
        "verify_ms": seconds * 1e3,
        "log": lines.lines,
    },
    sys.stdout,
)
sys.stdout.flush()
# The thread that listens to udev does not end by itself.
os._exit(0)
