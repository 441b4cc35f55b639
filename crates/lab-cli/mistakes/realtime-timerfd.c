// title = "the period comes from a timerfd on CLOCK_REALTIME"
// code = "realtime-clock"
// flags = ["-O2", "-g", "-no-pie"]
// verified = "strace -f: timerfd_create(CLOCK_REALTIME), then a read in each cycle; CLOCK_MONOTONIC in the clean twin"
#include "rt.h"
#include <sys/timerfd.h>

#ifdef CLEAN
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_REALTIME
#endif

static long periods;

static void *control(void *unused)
{
	(void)unused;
	unsigned long expired;
	struct itimerspec period = {{0, 5 * MS}, {0, 5 * MS}};
	int timer = timerfd_create(CLOCK, TFD_CLOEXEC); // MISTAKE: realtime-clock
	MUST(timer);
	MUST(timerfd_settime(timer, 0, &period, NULL)); // MISTAKE: realtime-clock
	for (int cycle = 0; cycle < 300; cycle++) {
		MUST(read(timer, &expired, sizeof expired)); // MISTAKE: realtime-clock
		periods++;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("periods by CLOCK_REALTIME", CLOCK == CLOCK_REALTIME ? periods : 0);
}
