#!/bin/sh
# The init of a root with BusyBox and whylate alone: no udev, systemd, debugfs or /etc; the root is read-only.
# Each command's output is followed by a line `exit CODE COMMAND`, which the trial reads.
export PATH=/bin NO_COLOR=1
try() {
    "$@"
    echo "exit $? $*"
}
mount -t proc proc /proc
mount -o remount,ro /
umount /proc

echo "part nothing is mounted"
try whylate --version
try whylate check
try whylate record -d 500ms --explain
try whylate measure -d 1s

mount -t proc proc /proc
mount -t sysfs sys /sys
echo "part /proc and /sys"
try whylate check
try whylate record -d 500ms --explain
try whylate measure -d 1s

mount -t tmpfs tmp /tmp
echo "part a tmpfs at /tmp"
try whylate record -d 500ms --explain -o /tmp/trace.dat
try whylate explain /tmp/trace.dat
try whylate measure -d 1s -o /tmp/report.html
try whylate ps
echo "part end"
free -k
reboot -f
