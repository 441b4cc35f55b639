// title = "the program forks to save a snapshot, and the control thread then copies each page that it writes"
// code = "fault-copy-on-write"
// flags = ["-O2", "-g", "-fno-omit-frame-pointer"]
// verified = "getrusage(RUSAGE_THREAD): a fault for each page of the table after the fork, none in the clean twin; perf trace -F all"
#include "rt.h"
#include <sys/wait.h>

#define PAGES 64

static char *table;
static long faults;

static void update(int cycle)
{
	for (long page = 0; page < PAGES; page++)
		table[page * PAGE] += (char)cycle; // MISTAKE: fault-copy-on-write
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	long before = thread_faults();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		update(cycle);
	}
	faults = thread_faults() - before;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	table = resident(PAGES * PAGE);
	char *copy = resident(PAGES * PAGE);
	pthread_t thread = start_control(control);
	for (int snapshot = 0; snapshot < 3; snapshot++) {
		usleep(300000);
#ifdef CLEAN
		memcpy(copy, table, PAGES * PAGE);
#else
		pid_t child = fork();
		if (child == 0) {
			memcpy(copy, table, PAGES * PAGE);
			usleep(100000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
#endif
	}
	join(thread);
	return report("page faults", faults);
}
