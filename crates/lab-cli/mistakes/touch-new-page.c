// title = "each cycle writes to a page of a log buffer that nothing has touched"
// code = "fault-first-touch"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// also = ["memory-will-fault"]
// verified = "getrusage(RUSAGE_THREAD): a fault in each cycle, none in the clean twin; perf trace -F all: at the address of the buffer"
#include "rt.h"

#define CYCLES 300

static char *buffer;
static long faults;

static void append(int cycle)
{
	buffer[cycle * PAGE] = (char)cycle; // MISTAKE: fault-first-touch
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 5 * MS);
		long before = thread_faults();
		append(cycle);
		faults += thread_faults() - before;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT);
#ifdef CLEAN
	buffer = resident(CYCLES * PAGE);
#else
	buffer = mmap(NULL, CYCLES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(buffer, CYCLES * PAGE, MADV_NOHUGEPAGE);
#endif
	join(start_control(control));
	return report("page faults", faults);
}
