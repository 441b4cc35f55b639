// title = "the work of a cycle, some 200 us, is measured with a clock that moves once per tick"
// code = "coarse-clock"
// flags = ["-O2", "-g"]
// verified = "spans of 0 ns, counted: most of them; none in the clean twin; gdb: clock_gettime is called with clock id 6"
#include "rt.h"

#ifdef CLEAN
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_MONOTONIC_COARSE
#endif

static long nothing, total;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		struct timespec start, end;
		wait_period(&next, 5 * MS);
		clock_gettime(CLOCK, &start); // MISTAKE: coarse-clock
		work(200 * US);
		clock_gettime(CLOCK, &end); // MISTAKE: coarse-clock
		long span = (end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec;
		nothing += span == 0;
		total += span;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("spans of 0 ns", nothing);
}
