// title = "each cycle reads a clock that the vDSO has not, a hundred times"
// code = "clock-syscall"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f -c: 100 calls of clock_gettime(CLOCK_PROCESS_CPUTIME_ID) in each cycle, none in the clean twin"
#include "rt.h"

#ifdef CLEAN
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

static long reads, total;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		for (int sample = 0; sample < 100; sample++) {
			struct timespec time;
			clock_gettime(CLOCK, &time); // MISTAKE: clock-syscall
			total += time.tv_nsec;
			reads++;
		}
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("reads by system call", CLOCK == CLOCK_PROCESS_CPUTIME_ID ? reads : 0);
}
