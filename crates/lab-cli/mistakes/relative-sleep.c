// title = "the loop sleeps 5 ms after its work instead of until its next period"
// code = "relative-sleep"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f: clock_nanosleep(CLOCK_REALTIME, 0, 5 ms) in each cycle, TIMER_ABSTIME in the clean twin"
#include "rt.h"

static long sleeps;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 250; cycle++) {
#ifdef CLEAN
		wait_period(&next, 5 * MS);
#else
		usleep(5000); // MISTAKE: relative-sleep
		sleeps++;
#endif
		work(200 * US);
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
