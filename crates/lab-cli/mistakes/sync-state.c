// title = "each cycle saves its state and waits until the disk has it"
// code = "file-sync"
// flags = ["-O2", "-g"]
// verified = "strace -f: pwrite64 and fdatasync by the control thread in each cycle; in the clean twin by the writer, SCHED_OTHER"
#include "ring.h"

static int file;
static long syncs;

static void save(long cycle)
{
	MUST(pwrite(file, &cycle, sizeof cycle, 0)); // MISTAKE: file-write
	MUST(fdatasync(file)); // MISTAKE: file-sync
}

static void *writer(void *unused)
{
	(void)unused;
	ring_drain(save);
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (long cycle = 0; cycle < 75; cycle++) {
		wait_period(&next, 20 * MS);
#ifdef CLEAN
		ring_put(cycle);
#else
		save(cycle);
		syncs++;
#endif
	}
	return NULL;
}

int main(void)
{
	char name[] = "/tmp/mistake-sync-XXXXXX";
	MUST(file = mkstemp(name));
	unlink(name);
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t drain = start_thread("writer", SCHED_OTHER, 0, writer, NULL);
	join(start_control(control));
	__atomic_store_n(&ring_end, 1, __ATOMIC_RELEASE);
	join(drain);
	return report("calls of fdatasync", syncs);
}
