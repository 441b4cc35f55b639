// title = "the thread is pinned to a CPU before it has its priority: with a real-time hog there it would never get it"
// code = "pinned-before-priority"
// flags = ["-O2", "-g"]
// verified = "strace -f: sched_setaffinity before sched_setscheduler in the control thread; in the clean twin after it"
#include "rt.h"

static void pin(void)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	MUST(sched_setaffinity(0, sizeof cpus, &cpus)); // MISTAKE: pinned-before-priority
}

static void *control(void *unused)
{
	(void)unused;
	struct sched_param param = {.sched_priority = 60};
#ifndef CLEAN
	pin();
#endif
	MUST(sched_setscheduler(0, SCHED_FIFO, &param)); // MISTAKE: pinned-before-priority
#ifdef CLEAN
	pin();
#endif
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++)
		wait_period(&next, 5 * MS);
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_thread("control", SCHED_OTHER, 0, control, NULL));
#ifdef CLEAN
	return report("pinned first", 0);
#else
	return report("pinned first", 1);
#endif
}
