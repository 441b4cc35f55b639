// title = "each cycle frees enough that malloc returns memory to the kernel, and touches it anew in the next one"
// code = "fault-heap"
// flags = ["-O2", "-g", "-no-pie"]
// also = ["memory-will-fault"]
// verified = "getrusage(RUSAGE_THREAD): some 120 faults a cycle, none in the clean twin; strace: brk down and up in each cycle"
#include "rt.h"

#define BLOCKS 4
#define BLOCK (120 * 1024)

static long faults;

__attribute__((noinline)) static void cycle_work(int cycle)
{
	char *block[BLOCKS];
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = malloc(BLOCK); // MISTAKE: heap-in-loop
		memset(block[i], cycle, BLOCK); // MISTAKE: fault-heap
	}
	for (int i = BLOCKS - 1; i >= 0; i--)
		free(block[i]); // MISTAKE: heap-in-loop
}

int main(void)
{
	struct sched_param param = {.sched_priority = 60};
	lock_memory(0);
#ifdef CLEAN
	cycle_work(0);
	MUST(mlockall(MCL_CURRENT | MCL_FUTURE));
#else
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	MUST(mlockall(MCL_CURRENT));
#endif
	MUST(sched_setscheduler(0, SCHED_FIFO, &param));
	struct timespec next = now();
	long before = thread_faults();
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		cycle_work(cycle);
	}
	faults = thread_faults() - before;
	return report("page faults", faults);
}
