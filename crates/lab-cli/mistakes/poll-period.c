// title = "the timeout of poll, 5 ms, is the period of the loop"
// code = "timeout-slack"
// flags = ["-O2", "-g"]
// also = ["relative-sleep"]
// verified = "strace -f: poll(.., 1, 5) = 0 (Timeout) in each cycle; none in the clean twin"
#include "rt.h"
#include <poll.h>

static int commands[2];
static long timeouts;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 250; cycle++) {
		struct pollfd wait = {commands[0], POLLIN, 0};
#ifdef CLEAN
		wait_period(&next, 5 * MS);
		poll(&wait, 1, 0);
#else
		timeouts += poll(&wait, 1, 5) == 0; // MISTAKE: timeout-slack
#endif
		work(200 * US);
	}
	(void)next;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	MUST(pipe(commands));
	join(start_control(control));
	return report("timeouts", timeouts);
}
