// title = "the timeout of select is the period of the loop, in a stripped program"
// code = "timeout-slack"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// stripped = true
// also = ["relative-sleep"]
// verified = "strace -f: pselect6(0, .., {tv_nsec=4000000}) = 0 (Timeout) in each cycle; none in the clean twin"
#include "rt.h"
#include <sys/select.h>

static long timeouts;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
#ifdef CLEAN
		wait_period(&next, 4 * MS);
#else
		struct timeval timeout = {0, 4000};
		timeouts += select(0, NULL, NULL, NULL, &timeout) == 0; // MISTAKE: timeout-slack
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
	return report("timeouts", timeouts);
}
