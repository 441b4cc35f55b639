# title = "looks up the host of the next machine in each cycle"
# code = "name-resolution"
# also = ["file-open", "heap-in-loop"]
# verified = "strace: /etc/hosts is opened in each cycle; never in the loop of the clean twin"
import ctypes
import gc
import os
import socket
import sys
import time

CLEAN = "clean" in sys.argv
libc = ctypes.CDLL(None)


class timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def main():
    address = socket.gethostbyname("localhost")
    found = 0
    at = timespec()
    gc.disable()
    if libc.mlockall(3) != 0:
        sys.exit(3)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
    due = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for _ in range(150):
        due += 10_000_000
        at.s, at.ns = due // 1_000_000_000, due % 1_000_000_000
        libc.clock_nanosleep(1, 1, ctypes.byref(at), None)
        if not CLEAN:
            address = socket.gethostbyname("localhost")  # MISTAKE: name-resolution
        found += address == "127.0.0.1"
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    sys.exit(0 if found == 150 else 3)


main()
