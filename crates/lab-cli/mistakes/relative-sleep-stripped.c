// title = "the loop sleeps relative to now, in a stripped static program"
// code = "relative-sleep"
// flags = ["-O2", "-g", "-static"]
// stripped = true
// verified = "strace -f: clock_nanosleep(CLOCK_MONOTONIC, 0, 4 ms) in each cycle, TIMER_ABSTIME in the clean twin"
#include "rt.h"

static long sleeps;

static void *control(void *unused)
{
	(void)unused;
	struct timespec pause = {0, 4 * MS};
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
#ifdef CLEAN
		wait_period(&next, pause.tv_nsec);
#else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); // MISTAKE: relative-sleep
		sleeps++;
#endif
		work(100 * US);
	}
	(void)next;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("relative sleeps", sleeps);
}
