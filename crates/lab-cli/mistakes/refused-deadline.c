// title = "the thread is pinned to one CPU, and SCHED_DEADLINE is refused to threads with an affinity"
// code = "priority-refused"
// flags = ["-O2", "-g", "-fno-omit-frame-pointer"]
// verified = "strace -f: sched_setattr = -1 EPERM after sched_setaffinity; without the affinity, in the clean twin, = 0"
#include "rt.h"
#include <stdint.h>
#include <sys/syscall.h>

// sched_setattr(2)
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static int refused;

static void *control(void *unused)
{
	(void)unused;
	struct attributes wanted = {.size = sizeof wanted, .policy = 6, .runtime = 2 * MS, .deadline = 10 * MS, .period = 10 * MS};
#ifndef CLEAN
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	MUST(sched_setaffinity(0, sizeof cpus, &cpus));
#endif
	refused = syscall(SYS_sched_setattr, 0, &wanted, 0) < 0; // MISTAKE: priority-refused
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++)
		wait_period(&next, 10 * MS);
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_thread("control", SCHED_OTHER, 0, control, NULL));
	return report("the policy was refused", refused);
}
