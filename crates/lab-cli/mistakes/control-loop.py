# title = "a controller in Python: all objects made before, absolute periods, the results printed after the loop"
# clean = true
import array
import ctypes
import gc
import os
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


class Timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]


class Pid:
    def __init__(self, p, i, d):
        self.p, self.i, self.d = p, i, d
        self.integral = self.last = 0.0

    def step(self, error):
        self.integral += error
        change, self.last = error - self.last, error
        return self.p * error + self.i * self.integral + self.d * change


def main():
    cycles, period = 250, 8_000_000
    late = array.array("q", bytes(8 * cycles))
    pid, position = Pid(0.4, 0.01, 0.05), 0.0
    until = Timespec()
    pointer = ctypes.byref(until)
    libc.clock_nanosleep(1, 1, pointer, None)
    gc.collect()
    gc.freeze()
    gc.disable()
    if libc.mlockall(3) != 0:
        sys.exit(3)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    except PermissionError:
        sys.exit(3)
    due = time.monotonic_ns()
    for cycle in range(cycles):
        due += period
        until.sec, until.nsec = divmod(due, 1_000_000_000)
        libc.clock_nanosleep(1, 1, pointer, None)
        late[cycle] = time.monotonic_ns() - due
        position += pid.step(1.0 - position) * 0.1
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(f"position {position:.3f}, worst {max(late)} ns", file=sys.stderr)


main()
