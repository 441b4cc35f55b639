// title = "each cycle moves the end of the heap up and down, in a static program"
// code = "heap-in-loop"
// flags = ["-O2", "-g", "-static"]
// verified = "strace -f: brk twice in each cycle, never in the loop of the clean twin; memory is locked, so no page faults"
#include "rt.h"

#define BLOCKS 4
#define BLOCK (120 * 1024)

static long moves;

__attribute__((noinline)) static void merge(int cycle)
{
	char *block[BLOCKS];
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = malloc(BLOCK); // MISTAKE: heap-in-loop
		if (!block[i])
			give_up("malloc");
		((volatile char *)block[i])[BLOCK / 2] = (char)cycle;
	}
	char *end = sbrk(0);
	for (int i = BLOCKS - 1; i >= 0; i--)
		free(block[i]); // MISTAKE: heap-in-loop
	moves += sbrk(0) != end;
}

int main(void)
{
	struct sched_param param = {.sched_priority = 60};
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	merge(0);
	moves = 0;
#else
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
	MUST(sched_setscheduler(0, SCHED_FIFO, &param));
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		merge(cycle);
	}
	return report("moves of the end of the heap", moves);
}
