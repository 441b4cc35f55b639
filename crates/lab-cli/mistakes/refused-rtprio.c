// title = "the thread gives up root before it asks for SCHED_FIFO, and RLIMIT_RTPRIO is 0"
// code = "priority-refused"
// flags = ["-O2", "-g"]
// verified = "strace -f: sched_setscheduler = -1 EPERM after setresuid; in the clean twin before it, and = 0"
#include "rt.h"
#include <grp.h>

static int refused;

// glibc gives up the rights of all threads.
static void give_up_root(void)
{
	struct rlimit none = {0, 0};
	MUST(setrlimit(RLIMIT_RTPRIO, &none));
	MUST(setgroups(0, NULL));
	MUST(setgid(65534));
	MUST(setuid(65534));
}

static void *control(void *unused)
{
	(void)unused;
	struct sched_param param = {.sched_priority = 60};
#ifndef CLEAN
	give_up_root();
#endif
	refused = sched_setscheduler(0, SCHED_FIFO, &param) < 0; // MISTAKE: priority-refused
#ifdef CLEAN
	give_up_root();
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
	return report("the priority was refused", refused);
}
