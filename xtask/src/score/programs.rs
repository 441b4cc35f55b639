//! The section of `docs/accuracy.md` on programs of others: its last run, and its first run, which stays.

use super::page;
use super::sections::{ARM64, PEERS, PROGRAMS as HEADING};
use super::summary::Summary;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const LAST: &str = "\n### Last run\n";
const FIRST: &str = "\n### First run\n";

/// What the section is, whenever it was run.
const ABOUT: &str = "
`cargo xtask score --programs` writes this section; do not edit it. Its faults are made by programs of Debian, and not by
an injector that knows when a job was late. Each case (`crates/lab-cli/programs`) is a shell script with a label: the right
causes and culprits. The labels were committed before the first run. A third of the runs is healthy (`nothing`).

The truth of each run needs nothing of the analysis: the figures of the programs, counters of the kernel, the effect of
leaving the fault out, and, by `trace-cmd report`, which threads had the CPU while the victim waited. A fault that these
do not confirm is *not provoked*.

Judged are the ten worst late activations of the victims, without the start and the end of a thread.

| history of this table | judged | right |
| --- | --: | --: |
| 2026-11-23, the first 80 runs, all answers as they came (first run, below) | 75 | 33 |
| the same: the judge leaves threads out that the label leaves out, five labels have a cause that is true as well | 75 | 62 |
| the same, judged by an analysis of one hour later | 75 | 67 |
| 2026-11-23, 66 more runs with labels of before the first run, all answers as they came | 64 | 56 |
| 2026-11-23, 24 runs of 9 new cases, labels committed before they ran, all answers as they came | 24 | 9 |
| 2026-11-24, 100 runs of 36 new cases, labels committed before they were explained, all answers as they came | 89 | 60 |
| the same recordings: seven labels corrected, a fault may be found in any late activation, the analysis mended | 89 | 81 |
| 2026-11-27, 67 runs of 29 new cases, labels committed before they were explained, all answers as they came | 65 | 43 |
| the same recordings: eleven labels corrected, the analysis mended | 64 | 63 |
| 2026-11-28, 244 runs of these cases on four kernels, all answers as they came | 234 | 222 |
| 2026-11-28, 81 runs of 29 new cases by another author, labels committed before they were explained, all answers as they came | 77 | 67 |
| the same 325 recordings: six labels corrected, the analysis mended | 311 | 307 |
| 2026-11-28, 86 runs of all these cases on the two other kernels by that analysis, all answers as they came | 83 | 79 |
| 2026-11-28, 88 runs of 24 new cases by a third author, labels committed before they were explained, all answers as they came | 88 | 52 |
| the same 88 recordings: nine labels corrected, the analysis mended | 88 | 84 |
| 2026-11-28, 79 runs of 24 new cases by a fourth author, labels committed before they were explained, all answers as they came | 77 | 48 |
| the same 79 recordings: seven labels corrected, the analysis mended | 76 | 74 |
| 2026-11-28, 80 runs of 26 new cases by a fifth author, labels committed before they were explained, all answers as they came | 78 | 52 |
| the same 80 recordings: ten labels corrected, the analysis mended | 78 | 78 |
| 2026-11-29, 55 runs of 28 new cases by a sixth author, labels committed before they were explained, all answers as they came | 52 | 32 |
| the same 55 recordings: seven labels corrected, the analysis mended | 52 | 49 |
| 2026-11-29, 68 runs of 25 new cases by a seventh author, labels committed before they were explained, all answers as they came | 67 | 49 |
| the same recordings and two on 7.2-rt, without PREEMPT_RT for one case: twelve labels corrected, the analysis mended | 69 | 67 |
| 2026-11-29, 76 runs of 28 new cases by an eighth author, labels committed before they were explained (of three cases after others had been explained), all answers as they came | 76 | 62 |
| the same 76 recordings: seven labels corrected, the analysis mended | 76 | 75 |
| 2026-11-29, 81 runs of 28 new cases by a ninth author, labels committed before they were explained, all answers as they came | 80 | 32 |
| the same 81 recordings: four labels corrected, the analysis mended | 80 | 77 |
| 2026-11-29, 77 runs of 30 new cases by a tenth author, labels committed before they were explained (of one run after others of its case had been), all answers as they came | 77 | 53 |
| the same 77 recordings: nine labels corrected, the analysis mended | 77 | 74 |
| 2026-11-29, 77 runs of 30 new cases by an eleventh author, labels committed before they were explained (limits of the truth of two cases after others had been explained), all answers as they came | 77 | 49 |
| the same 77 recordings: nine labels corrected, the analysis mended | 77 | 70 |
| 2026-11-30, the same 77 recordings, with the work items and timers that make packets | 77 | 73 |
| 2026-11-30, 79 runs of 32 new cases by a twelfth author, labels committed before they were explained (set-up and figures of two cases after others had been), all answers as they came | 79 | 51 |
| the same 79 recordings: eight labels corrected, the analysis mended | 79 | 78 |
| 2026-11-30, 61 runs of 25 new cases by a thirteenth author, half of them as ordinary as what users try first, labels committed before they were explained, all answers as they came | 61 | 51 |
| the same 61 recordings: three labels corrected, the analysis mended | 61 | 58 |
| 2026-11-30, 55 runs of 24 new cases by a fourteenth author, half of them as ordinary as what users try first, labels committed before they were explained, all answers as they came | 55 | 44 |
| the same 55 recordings: one label corrected, the analysis mended | 55 | 55 |
| 2026-11-30, 57 runs of 25 new cases by a fifteenth author, half of them as ordinary as what users try first, labels committed before they were explained, all answers as they came | 57 | 45 |
| the same 57 recordings: two labels corrected, the analysis mended | 57 | 55 |
| 2026-11-30, 38 runs of 18 new cases by a sixteenth author, labels committed before they were explained (the limit of one healthy case after an answer about an earlier recording of it), all answers as they came | 38 | 30 |
| the same 38 recordings: two labels corrected, the analysis mended | 38 | 36 |
| 2026-11-30, 59 runs of 25 new cases by a seventeenth author, half of them as ordinary as what users try first, labels committed before they were explained, all answers as they came | 59 | 47 |
| the same 59 recordings: three labels corrected, the analysis mended | 59 | 59 |
| 2026-11-30, 75 runs of 26 new cases by an eighteenth author, what users try first, labels committed before they were explained, all answers as they came; in two the fault did not take place | 73 | 50 |
| the other 73 recordings: ten labels corrected, the analysis mended | 73 | 73 |
| 2026-11-30, 92 runs of 31 new cases by a nineteenth author, what users try first, of kinds that were tried little, labels committed before they were explained, all answers as they came; in two the fault did not take place | 90 | 78 |
| the other 90 runs: three labels corrected (the three runs of one of them recorded anew), the analysis mended | 90 | 90 |
| 2026-11-30, 89 runs of cases of the authors before, drawn by lot, on one kernel each, recorded anew beside other work; in four the fault did not take place | 85 | 82 |
| the same 85 recordings, the analysis mended | 85 | 84 |
| 2026-12-01, 74 runs of 27 new cases by a twentieth author, applications with one wrong option, labels committed before they were explained, all answers as they came; in one the fault did not take place | 73 | 68 |
| the other 73 recordings: three labels corrected, the analysis mended | 73 | 73 |

After these the labels and the analysis were corrected, and the last run judged all recordings again: it is no run on
unseen recordings. What was wrong with the labels, and what shows it, is in the comments of the cases:

- Six programs sleep relative to now, by their sources and by the expiries of their timers: that finding is true as well.
- Six runs were labelled as healthy, and were late by the figures of cyclictest: the kernel worked for `stress-ng` or
  `iperf3` with nice 0 and without preemption, or one of two virtual CPUs stood still while the other one ran (QEMU runs
  both in one thread). They are faults now (`preemption-*`, `stolen-*`), recorded anew.
- `seq` runs at the priority of the shell that waits for it.
- Five of the 154 labelled runs cannot end (three were tried): on PREEMPT_RT a thread with SCHED_FIFO keeps `ktimers` from
  the CPU, and with it the timer that would end the thread. They are no longer labelled.

The 100 runs of 2026-11-24 are on 6.1, 6.1-rt, 6.12, 6.12-rt and 7.2. Of the 29 that were not right, 11 accused wrongly and 18 were unexplained:

- By the labels: the recorder, which takes its turns as a SCHED_OTHER thread (4), a server that sleeps while its client waits (3),
  a start at FIFO 50 that the kernel really stops (2), a kernel that is not preemptible (1), a main thread that drifts (1).
- By the judge: one of two faults makes all of the ten worst activations late (3).
- By the analysis, mended: locks of files (6), short delays of threads without a timer of their own (2), and a return from a
  sleep that was lost, taken for stolen time (with one of the labels above).
- Not mended: the lock of Python's interpreter, which a thread takes with a timeout (3); two faults in the same activations (2);
  one false warning each about redis-server (27 us), about a lock of khugepaged, which was not verified, and about a program
  on asyncio with one of the labels above, which is taken to sleep relative to now.

The 67 runs of 2026-11-27 have other faults than those before (the lock of an address space, swap and reclaim in a group, a pipe with a
slow reader, the work item of a terminal, quotas of two levels, autogroup, printing by sysrq, two SCHED_DEADLINE threads, cpusets), and
other programs (C by tcc, socat, candump, tclsh). They are on all six kernels. Four scripts that
made no fault were corrected before whylate explained them. Of the 22 that were not right, 17 accused wrongly and 5 were unexplained:

- By the labels: the work of a healthy thread itself, called false (7); the main thread that ends a program, and the recorder (3); threads
  that inherit FIFO 50 (2); 172,422 events that are lost (2); a loop that begins anew after missed periods (1); a lock of khugepaged, which
  the program waits for in truth (1); a fault that did not take place on 6.1 (1, no longer labelled).
- By the analysis, mended: a server at FIFO 55 that its client at FIFO 50 woke itself, called a delay (2); a write to a full pipe, which
  ended the activation (2); page faults in which the kernel makes room, taken for own work, and for user code from which the CPU was
  stolen (1; a label allowed a second one). Found beside these: a flush of a work item, taken for a device, and a gap in the events of one
  buffer that was no gap where another one had events.
- Not mended: one activation of the loop beside swap on 6.12-rt, own work with high confidence.

The 81 runs of 2026-11-28 are by an author who had not seen the analysis. They have other faults (System V semaphores, libaio, a timed
wait for a condition, a stopped owner of a mutex, a chain of locks with one that does not inherit, a full queue of syslog, bursts of
netem, `cpu.idle`, a limit of RT throttling that is set to less) and other programs (LuaJIT, Jim, SQLite on ext4, busybox, mosquitto,
tcpdump, strace). Of the 244 and the 81 runs, 15 accused wrongly and 7 were unexplained at first:

- By the labels: moments in which the kernel's threads, its network code or a lock of it do delay a thread (3, among these a lock for
  which the kernel lent its priority for 470 us), the recorder (1), the fair server on 7.2-rt (1), a program under its last name (1).
- By the analysis, mended: a clock that was set, taken for stolen time (3); a System V semaphore (3) and answers of libaio (1), which
  ended the activation; the second of two faults in the same activations, named nowhere (2); asyncio (1) and jackd (1), taken to sleep
  relative to now; sleeps whose switches were lost, taken for stolen time (1); RT throttling by a limit that was set to less, taken
  for a coarse clock (1).
- Not mended: what a thread waits for in its first activation, before it is real-time (2); a softirq of 287 us beside redis-server,
  which did delay it (1); and cyclictest on a virtual CPU that stood still, own work before and unexplained now (with one of the labels
  above).

The 86 runs on 6.12 and 6.1-rt came after the mends, and nothing was corrected for them. Not right: a delay of 26 us of
redis-server on 6.1-rt, the first activation of cyclictest once more, a recording on 6.1-rt that had lost events (unexplained), and a
thread of cyclictest that pins itself before it raises its priority. The last run below is the 325 and these 86.

The 88 runs of the third author are on 6.1, 6.12-rt, 7.2 and 7.2-rt; they are not in the last run below. The cases are ordinary
programs with ordinary options in new combinations. Of the 36 that were not right, 34 accused wrongly and 2 were unexplained:

- By the labels: delays that are true and small, or before a thread is real-time, and that the label called false (threads of one
  program at several priorities, the slack of SCHED_OTHER, a lock that two threads share, RCU, the script's own pgrep), and a sender
  that sleeps relative to now.
- By the analysis, mended: what a thread waits for before it is real-time, and what its program does as it ends, were warnings and
  verdicts on the worst activations; a loop on asyncio whose work hardly varies was not taken to sleep relative to now; a periodic SCHED_OTHER thread that pins
  itself was taken for one that is about to raise its priority.
- Not mended (4): RT throttling with a period of 100 ms that was set during the recording, taken for a coarse clock for a tenth of its
  time; one virtual CPU of two that stood still within a softirq or behind another thread (2); one run with a lock's owner as the culprit, where the one that keeps it off the CPU is expected.

The 79 runs of the fourth author are on 6.1, 6.12-rt, 7.2 and 7.2-rt, and not in the last run below either. The cases are of engineers'
own programs (redis with its log, subprocess, TCP and POSIX queues, loop devices, huge pages, memory.high, netem, isolcpus). Of the 29
that were not right, 14 accused wrongly and 15 were unexplained:

- By the labels (9): true delays by a program that starts or ends at FIFO 70, by a relative sleep before SCHED_DEADLINE, by a lock of the
  C library, while an interpreter starts at FIFO 50, and a fault after the last judged job.
- By the analysis, mended (18): a wait for a child in `wait4`, for room in a queue of messages, for the reader of a socket, and for the
  thread's own work item whose kworker had no CPU (unexplained, without a name, or `block-io`); jbd2 at an fsync, called the owner of a
  lock; 4 ms in an RCU callback, called stolen time.
- Not mended (2): the kernel clears a huge page in one page fault. Only its entry is traced: own work, with low confidence now.

The 80 runs of the fifth author are on 6.1, 6.12-rt, 7.2 and 7.2-rt, and not in the last run below either. The cases are ordinary
programs in ordinary options (threaded NAPI, bindfs, dm-crypt, swap, quotas, rtla, ksmd, nginx, traffic control). Of the 26 that were not
right, 19 accused wrongly and seven were unexplained:

- By the labels (17): programs of rt-tests that sleep relative to now, equal priorities beside `ktimers`, own work of a thread with nice 0,
  and a bound of 5 ms for work of 2.06 ms. Two healthy runs were late on 6.1, whose kernel is not preemptible: they are no longer run there.
- By the analysis, mended (9, and four more where the label had let a wrong statement pass): packets that wait for a NAPI thread
  (unexplained), a file that a program serves (unexplained, or a lock of the kernel, high), the quota of a lock's owner called that of the
  thread that waits (high), a job that slept beyond its next period called stolen time, and a relative sleep of a server whose timeouts
  never expired.

The 55 runs of the sixth author are on 6.1, 6.12-rt, 7.2 and 7.2-rt, and not in the last run below either. Of the 20 that were not right,
13 accused wrongly and seven were unexplained:

- By the labels (8): own work of 0.4 to 7 ms that the label did not know of, a thread behind its creator of the same priority, and a lock
  that PREEMPT_RT shows. One case more is not healthy on 6.1, and no longer run there.
- By the analysis, mended (9): a priority ceiling called disabled preemption (high on 6.1), a write that a driver's thread completes called
  a wait for that thread or a lock of it, an interruptible sleep in a driver that ended the activation (no finding at 100 ms), and memory of a
  dead process that 6.1 frees, called stolen time.
- Not mended (3): SQLite tries a locked database again after sleeps of its own, and ZeroMQ waits by poll(2) for a thread of the program. Without
  markers such a sleep ends an activation.

A case of a thread that reads /dev/rtc0 is left out: a guest with it did not end.

The 68 runs of the seventh author are of programs that a colleague would take: rt-tests, stress-ng, rt-app, fio, jackd, sysbench, python,
busybox, tar. They are on 6.1, 6.12, 6.12-rt, 7.2 and 7.2-rt, and not in the last run below either. Of the 18 that were not right, 16 accused
wrongly and two were unexplained:

- By the labels: what the programs did besides (a calibration at FIFO 99, 125 us between two threads of one priority, the fair server at its
  work, own work at the start), and a device whose timer waits in `ktimers/0` on PREEMPT_RT. That case is no longer run there.
- By the analysis, mended: a direct write that a work item ends, called block-io for the 58 to 69 ms in which a real-time thread kept its
  kworker off the CPU; a CPU that a cpuset had lost, called idle and allowed (high for a SCHED_OTHER thread); and refills of a quota that only
  pay a debt, unexplained for 0.8 s.
- Mended later (2 runs): a virtual CPU of two that stands still for 1.3 ms in a softirq was that softirq's time, with high confidence.

The 76 runs of the eighth author are of the same programs, and of sockets, io_uring and a serial port, on all six kernels; they are not in the
last run below either. All 23 healthy runs were right. Of the 14 that were not right at first, six accused wrongly and eight were unexplained:

- By the labels: threads that run before `ktimers/0` on PREEMPT_RT, and a thread that waits with nice 0 at its start.
- By the analysis, mended: a request by io_uring ended the activation; on PREEMPT_RT all of a request was `block-io` that the thread of its
  interrupt, or `ktimers/N`, ended late because another thread had the CPU.
- Mended with the ninth author's: a request to a server by a socket, and the wait for its answer, ended the activation, and so did a drained serial
  port; fsync(2) that waits for `jbd2` behind a real-time thread was `block-io`.
- Not mended (1 run): on 6.1-rt, where 728,020 events were lost, throttling is not in the recording.

The 81 runs of the ninth author are of programs that speak to each other (sockets, queues, pipes, semaphores, condition variables, signals, D-Bus,
MQTT), and of timeouts, journals, cpusets and threads that are created for each job, on all six kernels; they are not in the last run
below either. Of the 48 that were not right at first, 13 accused wrongly and 35 were unexplained:

- By the labels (4 corrected): short waits for a lock of the kernel's own on PREEMPT_RT, and the thread of timers that ends a request late, are true.
- By the analysis, mended: the wait for an answer ended the activation, so that a loop 85 ms late had no finding (34); a new thread kept the
  priority of its creator, which made RT throttling and the fair server of a real-time thread before it (3); a server above its client,
  which answers as it should, was a delay (3); a timeout that `ktimers/N` ran late was due as it ran (3); and fsync(2) behind `jbd2` or
  `ktimers/N` was `block-io` (2).
- Not mended (3): a thread that makes itself SCHED_DEADLINE by sched_setattr(2) and is not switched out before it goes back has no
  priority in the recording; the answer has that it runs first, and not by which policy.

The 77 runs of the tenth author are of io_uring, userfaultfd, fanotify, dm-crypt, robust and frozen locks, timers that are armed anew, RTNL,
multicast, SCHED_DEADLINE, node.js and the fair server, on all six kernels; they are not in the last run below either. Of the 24 that were not
right at first, 12 accused wrongly and 12 were unexplained:

- By the labels (9 corrected): five of them called true answers wrong, and four let false ones pass.
- By the analysis, mended: a request that passes several threads of the kernel was a device's (3); a timeout of io_uring was one, too, so that
  a healthy loop was one activation (3); the wait for a mutex whose owner was killed ended the activation (3); a page fault left to a program was
  memory that is not locked (5); a one-shot timer that is armed anew drifted without a finding (2); a lock of the kernel was charged on after
  its owner had let it go (1).
- Not mended (3): a publisher before whose end its subscribers run, which it woke itself, has that in its answer, but as the usual (2); the recorder delayed one
  of eight late writes, which the label does not allow (1).

The 77 runs of the eleventh author are of programs stopped by signals, network block devices, write-protected pages, a slewed clock, CAN, bridges,
pipelines, core dumps, Erlang, keepalived and watchdogs, on all six kernels; they are not in the last run below either. Of the 28 that were not right
at first, 16 accused wrongly and 12 were unexplained:

- By the labels (9 corrected, 14 runs): true answers beside the fault, and a finding that is no cause, which a case could not allow.
- By the analysis, mended: a thread that was stopped by SIGSTOP was on time (3); timers of a clock that adjtimex slews were stolen time (2); an answer
  that waited for a program behind a network block device was a device's (2). Mended without a change of the counts: faults on write-protected pages were
  memory that is not mapped, and a server that works for the late thread was to be stopped or lowered.
- Mended with the twelfth author's: a packet that a deferred timer of the kernel makes (3).
- Not mended (4): the slow middle of a pipeline, which is named beside the answer, but is no cause (3); stolen time of 0.4 % of a verdict in a core dump,
  which is a note now, and which the label does not allow (1).

The 79 runs of the twelfth author are of replies that are lost or held back, timeouts in the middle of a period, garbage collectors, work items that make
packets, btrfs, moves between cgroups, gdb, terminals, dirty pages, Prolog, PHP and SBCL, on all six kernels; they are not in the last run below
either. Of the 28 that were not right at first, 12 accused wrongly and 16 were unexplained:

- By the labels (8 corrected, 11 runs): true answers beside the fault; one label had accepted a false accusation, and was tightened.
- By the analysis, mended: a periodic thread that waits for a reply, a timeout, or in the handler of a signal was on time (12); a work item of the kernel
  that was late made the packet (3); a wait for RCU was a lock of the thread that ended it (2). Mended without a change of the counts: the late thread was
  runnable where the owner of its lock was; need-resched at each tick was no evidence; advice that does not apply to kernel threads and timers.
- Not mended (1): a guest with two CPUs under load, whose CPUs take turns on the host.

The 61 runs of the thirteenth author are of cyclictest, stress-ng, iperf3, hackbench and fio in combinations that were not tried, nice values, quotas, requests over unix
sockets and through two processes, read-write locks, Ruby, Tcl, redis, nodejs and serial CAN, on all six kernels; they are not in the last run below either. Of the 10 that
were not right at first, 4 accused wrongly and 6 were unexplained:

- By the labels (3 corrected, 4 runs): true findings beside the fault. So none of the 61 was accused falsely.
- By the analysis, mended: a control loop that waits in connect(2) for a server whose queue is full was on time (3). Mended without a change of the counts: that server was
  late in accept(2), and its client the culprit; page faults of 3 % of the time were the verdict where no usual time is known; what kept a thread off its CPU that ended a
  wait was not named; warnings about helpers that wait for their own main thread.
- Not mended (3): Ruby's lock of the interpreter, for which a thread waits by the futex of its own sleep.

The 55 runs of the fourteenth author are of cyclictest, stress-ng, fio, sox, rt-app and iperf3 in combinations that were not tried, node, Ruby and redis, CAN gateways, DNS, strace,
vfork, huge pages, seccomp and RCU, on all six kernels; they are not in the last run below either. Of the 11 that were not right at first, 3 accused wrongly and 8 were
unexplained:

- By the label (1 corrected, 3 runs): a grace period of RCU that waited for the CPU was named as such. So none of the 55 was accused falsely by the verdict that was judged.
- By the analysis, mended: a wait for a program to which a seccomp filter leaves system calls was no wait (3); loops that sleep until an instant counted from now, whose work
  hardly varies, and node's event loop were not seen to drift (4); time in which a virtual CPU stood still was stolen from the thread on it, but charged to that thread by the one
  behind it (1, and with high confidence in an answer that was not judged). Mended without a change of the counts: advice about locks for a vfork; the end of a page fault; a
  sentence that none is among the worst, of a culprit in the worst ledgers; whom a tracer or a child waited for.

The 57 runs of the fifteenth author are of aio_suspend, inotify, file locks, SIGTTOU, locks with a timeout, a time namespace, RCU threads with a priority, PHP, Tcl, node's workers and ordinary
mixes, the 38 of the sixteenth author of pidfds, threaded cgroups, sendfile, stress-ng's sockets, tasks that hop between CPUs, coarse clocks, long locks with priority inheritance and
jobs that catch up, on all six kernels; they are not in the last run below either. Of the 20 that were not right at first, 15 accused wrongly and 5 were unexplained:

- By the labels (4 corrected, 8 runs): cyclictest -s and ptsematest sleep relative to now, and drift; the recorder itself had the CPU; a loop that never sleeps has no periods.
- By the analysis, mended: a wait for a condition by which a thread just set off lets it go on was a lock that this held (2, medium); what was left of a virtual CPU's standing still was charged
  to the thread on it, or to the stopper (2, high in one); a thread that the stopper still moves was called throttled (2); priority inversion among SCHED_OTHER threads (2); sleeps that a quota
  makes alike were called drift (1); an event loop's wait for its own worker ended its round (2). Mended without a change of the counts: the owner of a lock that is given up
  after a timeout; a sum over the one of seven runs of a program that is among the worst; what another thread took beside own work; an overrun of 901 short system calls;
  jobs that only waited for the job before; priorities of threads that change their own; advice about terminals, file locks and RCU.
- Not mended (4): starts that are uneven because the program sleeps by a coarse clock (2); one warning of 193 us beside standing virtual CPUs, and one about a helper of node.

The 59 runs of the seventeenth author are of rt-tests and coreutils by taskset and chrt, node, tar, xargs, mbpoll, mosquitto, futex_waitv, a frozen file system, a suspended device,
huge pages, SCHED_RESET_ON_FORK, timer slack and work that is divided over two CPUs, on all six kernels; they are not in the last run below either. Of the 12 that were not right at
first, 5 accused wrongly and 7 were unexplained:

- By the labels (2 corrected, 4 runs; a third allows the finding that the analysis has since): RT throttling, the fair server and a late softirq that were there.
- By the analysis, mended: a wait in futex_waitv(2) ended the job (2); requests to a device that is suspended were unexplained (2); the process that thaws a file system had held
  its lock before it was forked (3, rows with high confidence); the stopper on a virtual CPU that stood still (1). Mended without a change of the counts: RT throttling of a virtual
  CPU that stood still on its way into idle (an error, medium); 20 errors in 3 recordings for taskset and chrt in this order, where both mostly worked; page faults in huge pages as
  the thread's own code (high); late starts by a timer's slack, and threads that SCHED_RESET_ON_FORK leaves at nice 0, without a finding; calls without names.

The 73 runs of the eighteenth author are of cyclictest without options, chrt on a program of threads, openssl, bc, xz, hackbench, pmqtest, ptsematest, sysbench, chronyd, gdb, cangen,
oslat and a container's quota, on all six kernels; they are not in the last run below either. Of the 23 that were not right at first, none had an accusation that the rows contradict:

- By the labels (10 corrected, 21 runs): a program's main thread, which has no priority; sleeps relative to now and a timer's slack, which were there; the shell that stops a thread; the
  recorder beside others of nice 0.
- By the analysis, mended (2 runs): the largest thread was the culprit where three of one program took more together.
- In answers that were right by their labels the author found, and these are mended as well: what a culprit took called lateness; a thread that changed its name counted as another
  one; one throttled time with a refilled quota at each tick; \"nothing delayed\" above a table with 40 % of other time; an error for the deadline of a main thread that has none.

The 90 runs of the nineteenth author are of redis, node, ruby, bash, aplay, jackd, tail, pktgen with nftables, unshare, ssdd, gcore, RLIMIT_RTTIME, request_module, CPU hotplug and steps of
the clock, on all six kernels; they are not in the last run below either. Of the 12 that were not right at first, none had an accusation that the rows contradict:

- By the labels (3 corrected, 9 runs): what an interpreter takes at a real-time priority to end, for which others wait (6); the kernel's signal at RLIMIT_RTTIME, a finding that the author did
  not know, and the recorder as the one that had most of the CPU (3).
- By the analysis, mended (3 runs): a player had underruns, as another thread kept the source of its pipe off the CPU for half a second, and the report had no finding: it is `producer-late`.
- In answers that were right by their labels the author found, and these are mended as well: a late timer
  of PREEMPT_RT, whose thread waits for a lock of one that disabled softirqs, was laid to a thread that had not run, and to the hypervisor (low); FIFO threads that \"take turns\"; advice to
  use another CPU where there is one, to move a thread that has ended, or to take a priority that does not help; a second fault, or a second cause, that no line named; one end of a
  program that read as a fault that recurs; 150 rows of a shell's children.

Of the 85 runs drawn by lot two were wrong, and are mended: the owner of an inverted lock was a second culprit in a finding of its own, and a healthy cyclictest on a virtual CPU that stood
still for most of the time was warned of sleeping relative to now. One is unexplained: a page fault that clears a huge page is own work with low confidence, as only its beginning is traced.

The 73 runs of the twentieth author are of cyclictest at 99 beside zstd, two applications on one isolated CPU, cpusets, nice values in two cgroups, sched_setattr that is refused, memory reclaim, the OOM
killer, node, redis, gawk, perl, tcl, rt-migrate-test, mprotect, function tracing and threadirqs, on all six kernels; they are not in the last run below either. Of the 5 that were not right at first:

- By the labels (3 corrected, 4 runs): the author's own `ps`, time that the host took from a guest of two CPUs, and callbacks of RCU.
- By the analysis, mended (1 run): a finding said that a thread of RCU delayed another one by up to 3.88 ms. Most of that was in doubt, as the CPU stood still, and counted all the same.
- In answers that were right by their labels the author found, and these are mended as well: advice about the slack of
  poll that cannot help, about a priority above 99, and none about nice values in different cgroups; a thread that is switched out behind its own end taken for a new one, or for one that takes
  turns; a barrier taken for a lock; who asked for a policy that was refused; a row that blames a thread which had ended.

What was wrong with the analysis, by class: warnings about a SCHED_OTHER thread beside real-time threads (a program's main
thread); a thread that gives way to the one that it woke, called a delay; a page fault taken for user code, and so a timer
that the kernel kept waiting for stolen time; own work and softirqs during which the CPU stood still, with high confidence.

- *right*: each fault of the run is found, and no verdict above low confidence and no warning is false.
- *wrong accusation*: a verdict above low confidence, or a finding of at least a warning, names a false cause or culprit.
- *unexplained*: no false accusation, but a fault is not found, or most late activations have no cause.
- *set aside*: late activations with a cause that is true as well, such as the work of the victim itself.
";

/// One program over its runs.
#[derive(Debug, Default)]
struct Counts {
    right: u64,
    wrong: u64,
    unexplained: u64,
    not_judged: u64,
}

/// The page with the section of this run.
///
/// # Errors
/// When `document` has no runs.
pub(super) fn page(old: &str, document: &Value, summary: &Summary, day: &str) -> Result<String> {
    let (scenarios, section) = old.split_at(old.find(HEADING).unwrap_or(old.len()));
    let body = body(document, summary, day)?;
    let runs = match section.find(FIRST).and_then(|at| section.get(at..)) {
        Some(first) => format!("{LAST}{body}{first}"),
        None => format!("{FIRST}{body}"),
    };
    Ok(format!("{}\n{HEADING}{ABOUT}{runs}", scenarios.trim_end()))
}

/// `new`, a page of scenarios, with the sections that `old` has: this one, and those of two machines and of other architectures.
pub(super) fn kept(old: &str, new: &str) -> String {
    let begin = [PEERS, ARM64, HEADING].into_iter().filter_map(|heading| old.find(heading)).min();
    let section = begin.and_then(|at| old.get(at..)).unwrap_or_default();
    match section.is_empty() {
        true => new.to_owned(),
        false => format!("{}\n{section}", new.trim_end()),
    }
}

fn body(document: &Value, summary: &Summary, day: &str) -> Result<String> {
    let releases: Vec<&str> = summary.releases.iter().map(String::as_str).collect();
    let mut text = format!("\n{day}, kernels {}: {}.\n", releases.join(", "), summary.words());
    text.push_str(&page::tables(summary, "case"));
    text.push_str("\n| program | right | wrong accusation | unexplained | not judged |\n| --- | --: | --: | --: | --: |\n");
    for (program, Counts { right, wrong, unexplained, not_judged }) in by_program(document)? {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {program} | {right} | {wrong} | {unexplained} | {not_judged} |");
    }
    text.push_str(&page::not_right(summary));
    Ok(text)
}

fn by_program(document: &Value) -> Result<BTreeMap<&str, Counts>> {
    let mut programs: BTreeMap<&str, Counts> = BTreeMap::new();
    for run in document["runs"].as_array().context("no `runs` in the lab's results")? {
        for program in run["programs"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let counts = programs.entry(program).or_default();
            match run["end"].as_str() {
                Some("right") => counts.right += 1,
                Some("wrong") => counts.wrong += 1,
                Some("unexplained") => counts.unexplained += 1,
                _ => counts.not_judged += 1,
            }
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::document;
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_run_stays_and_the_scenarios_too() {
        let mut document = document();
        document["runs"][0]["programs"] = json!(["fio", "chrt"]);
        document["runs"][1]["programs"] = json!(["chrt"]);
        let summary = Summary::of(&document).expect("results");
        let scenarios = "# Accuracy\n\n## By cause\n\n| a |\n";
        let first = page(scenarios, &document, &summary, "2026-01-01").expect("a page");
        assert!(first.starts_with(scenarios), "{first}");
        for part in [
            FIRST,
            "2026-01-01",
            "| chrt | 1 | 1 | 0 | 0 |",
            "| fio | 1 | 0 | 0 | 0 |",
            "- wrong: irq-load --phase 1ms on 6.1: ",
        ] {
            assert!(first.contains(part), "{part} in {first}");
        }
        assert!(!first.contains(LAST));
        let second = page(&first, &document, &summary, "2026-02-02").expect("a page");
        let third = page(&second, &document, &summary, "2026-03-03").expect("a page");
        assert!(
            third.contains("2026-01-01") && third.contains("2026-03-03") && !third.contains("2026-02-02")
        );
        assert_eq!((third.matches(FIRST).count(), third.matches(LAST).count()), (1, 1));

        let anew = kept(&third, "# Accuracy\n\nanew\n");
        assert!(anew.contains("anew") && anew.contains("2026-03-03") && !anew.contains("By cause"), "{anew}");
        assert_eq!(kept("# Accuracy\n", "new\n"), "new\n");
        assert!(page("", &json!({}), &summary, "").is_err());
    }
}
