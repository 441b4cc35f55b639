// title = "the loop sleeps until times of CLOCK_REALTIME, which jumps when the clock is set"
// code = "realtime-clock"
// flags = ["-O2", "-g"]
// verified = "strace -f: clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME) in each cycle, CLOCK_MONOTONIC in the clean twin"
#include "rt.h"

static long sleeps;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next;
#ifdef CLEAN
	next = now();
#else
	clock_gettime(CLOCK_REALTIME, &next);
#endif
	for (int cycle = 0; cycle < 300; cycle++) {
		add(&next, 5 * MS);
#ifdef CLEAN
		sleep_until(&next);
#else
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &next, NULL); // MISTAKE: realtime-clock
		sleeps++;
#endif
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("sleeps by CLOCK_REALTIME", sleeps);
}
