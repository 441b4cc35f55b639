// title = "the main thread is the real-time thread, and its calls go deeper than its stack ever was"
// code = "fault-stack"
// flags = ["-O2", "-g"]
// also = ["stack-not-prefaulted"]
// verified = "getrusage(RUSAGE_THREAD): faults although memory is locked, none in the clean twin; perf trace -F all: in [stack]"
#include "rt.h"

static long faults;

__attribute__((noinline)) static char filter(long size)
{
	volatile char samples[size];
	for (long at = size - 1; at >= 0; at -= PAGE)
		samples[at] = 1; // MISTAKE: fault-stack
	return samples[size - 1];
}

#ifdef CLEAN
__attribute__((noinline)) static void prefault_stack(void)
{
	volatile char stack[2 * 1024 * 1024];
	for (unsigned long at = 0; at < sizeof stack; at += PAGE)
		stack[at] = 0;
}
#endif

int main(void)
{
	struct sched_param param = {.sched_priority = 60};
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	prefault_stack();
#endif
	MUST(sched_setscheduler(0, SCHED_FIFO, &param));
	struct timespec next = now();
	for (long cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		long before = thread_faults();
		filter(4096 * (cycle + 1));
		faults += thread_faults() - before;
	}
	return report("page faults", faults);
}
