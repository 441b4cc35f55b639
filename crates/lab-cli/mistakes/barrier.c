// title = "threads of priority 70 and 30 meet at a barrier in each cycle"
// code = "barrier-unequal-priorities"
// flags = ["-O2", "-g"]
// also = ["priority-inverted-by-role"]
// verified = "strace -f: the thread of priority 70 waits in futex until the one of 30 arrives; chrt -p: both 60 in the clean twin"
#include "rt.h"

#define CYCLES 150
#ifdef CLEAN
#define FAST 60
#define SLOW 60
#else
#define FAST 70
#define SLOW 30
#endif

static pthread_barrier_t barrier;
static long met;

static void *stage(void *work_ns)
{
	struct timespec next = now();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 10 * MS);
		work((long)work_ns);
		pthread_barrier_wait(&barrier); // MISTAKE: barrier-unequal-priorities
		if (FAST != SLOW)
			__atomic_fetch_add(&met, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_t fast = start_thread("fast", SCHED_FIFO, FAST, stage, (void *)(100 * US));
	pthread_t slow = start_thread("slow", SCHED_FIFO, SLOW, stage, (void *)(1 * MS));
	join(fast);
	join(slow);
	return report("meetings of unequal threads", met);
}
