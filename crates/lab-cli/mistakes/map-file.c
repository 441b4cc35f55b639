// title = "each cycle reads another part of a table in a mapped file"
// code = "fault-file"
// flags = ["-O2", "-g"]
// also = ["memory-will-fault"]
// verified = "getrusage(RUSAGE_THREAD): a fault in each cycle, none in the clean twin; perf trace -F all: in the mapped file"
#include "rt.h"

#define CYCLES 150
#define STRIDE (64L * 1024)

static const volatile char *table;
static long faults;
static long sum;

static long look_up(int cycle)
{
	return table[cycle * STRIDE]; // MISTAKE: fault-file
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 10 * MS);
		long before = thread_faults();
		sum += look_up(cycle);
		faults += thread_faults() - before;
	}
	return NULL;
}

int main(void)
{
	int flags = MAP_SHARED;
	FILE *file = tmpfile();
	static char block[STRIDE];
	for (int cycle = 0; file && cycle < CYCLES; cycle++)
		fwrite(block, sizeof block, 1, file);
	if (!file || fflush(file))
		give_up("tmpfile");
	lock_memory(MCL_CURRENT);
#ifdef CLEAN
	flags |= MAP_POPULATE | MAP_LOCKED;
#endif
	table = mmap(NULL, CYCLES * STRIDE, PROT_READ, flags, fileno(file), 0);
	join(start_control(control));
	return report("page faults", faults) + (int)(sum & 0);
}
