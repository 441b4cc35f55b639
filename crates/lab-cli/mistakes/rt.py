# What every program in Python of the suite does right: memory locked, SCHED_FIFO, absolute sleeps, no garbage collection.
import ctypes
import gc
import os
import sys
import time

CLEAN = sys.argv[1:] == ["clean"]
MS = 1000000

libc = ctypes.CDLL(None, use_errno=True)


class Timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]


MONOTONIC, ABSOLUTE = ctypes.c_int(1), ctypes.c_int(1)
UNTIL = Timespec()
POINTER = ctypes.byref(UNTIL)


def wait_until(ns):
    UNTIL.sec, UNTIL.nsec = divmod(ns, 1000000000)
    libc.clock_nanosleep(MONOTONIC, ABSOLUTE, POINTER, None)


def control(cycle, count, period):
    """Calls `cycle` once per period; one that returns True has waited itself."""
    # What the loop needs is loaded, allocated and resident before memory is locked.
    wait_until(time.monotonic_ns() + MS)
    gc.collect()
    gc.freeze()
    gc.disable()
    if libc.mlockall(3):
        sys.exit(3)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
    except OSError:
        sys.exit(3)
    due = time.monotonic_ns()
    for number in range(count):
        due += period
        if not cycle(number):
            wait_until(due)


def report(what, figure):
    """Ends the program as report() in rt.h does."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(f"{what}: {figure}", file=sys.stderr)
    sys.exit(0 if (figure == 0) == CLEAN else 3)
