// title = "a reserve of 16 MB, for alarms, was never touched, and is not locked"
// code = "memory-will-fault"
// without-line = true
// flags = ["-O2", "-g"]
// verified = "/proc/PID/smaps: the mapping has 16384 kB, Rss 4 kB, Locked 0 kB; in the clean twin both are 16384 kB"
#include "rt.h"

#define SIZE (16L * 1024 * 1024)

static char *reserve;
static int in_alarm;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		reserve[cycle % PAGE] ^= 1;
		if (in_alarm)
			memset(reserve, 0, SIZE);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	(void)arguments;
	in_alarm = count > 1;
	lock_memory(MCL_CURRENT);
#ifdef CLEAN
	reserve = resident(SIZE);
#else
	reserve = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(reserve, SIZE, MADV_NOHUGEPAGE);
	reserve[0] = 1;
#endif
	pthread_t thread = start_control(control);
	unsigned char pages[SIZE / PAGE];
	MUST(mincore(reserve, SIZE, pages));
	long missing = 0;
	for (long page = 0; page < SIZE / PAGE; page++)
		missing += !(pages[page] & 1);
	join(thread);
	return report("pages that are not resident", missing);
}
