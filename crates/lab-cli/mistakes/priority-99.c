// title = "the control thread has priority 99, that of the kernel's own watchdogs and migration threads"
// code = "fifo-99"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f: sched_setscheduler(.., SCHED_FIFO, [99]); chrt -p; 60 in the clean twin"
#include "rt.h"

#ifdef CLEAN
#define PRIORITY 60
#else
#define PRIORITY 99
#endif

static int priority;

static void *control(void *unused)
{
	(void)unused;
	struct sched_param param = {.sched_priority = PRIORITY};
	MUST(sched_setscheduler(0, SCHED_FIFO, &param)); // MISTAKE: fifo-99
	sched_getparam(0, &param);
	priority = param.sched_priority;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++)
		wait_period(&next, 5 * MS);
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_thread("control", SCHED_OTHER, 0, control, NULL));
	return report("priority 99", priority == 99);
}
