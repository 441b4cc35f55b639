// title = "each cycle writes a line to a log file"
// code = "file-write"
// flags = ["-O2", "-g"]
// verified = "strace -f: a write to the log by the control thread in each cycle; in the clean twin by the writer, SCHED_OTHER"
#include "ring.h"

static FILE *log_file;
static long lines;

static void log_line(long cycle)
{
	fprintf(log_file, "cycle %ld\n", cycle); // MISTAKE: file-write
}

static void *writer(void *unused)
{
	(void)unused;
	ring_drain(log_line);
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (long cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
#ifdef CLEAN
		ring_put(cycle);
#else
		log_line(cycle);
		lines++;
#endif
	}
	return NULL;
}

int main(void)
{
	log_file = tmpfile();
	if (!log_file)
		give_up("tmpfile");
	setvbuf(log_file, NULL, _IOLBF, 4096);
	fprintf(log_file, "start\n");
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t drain = start_thread("writer", SCHED_OTHER, 0, writer, NULL);
	join(start_control(control));
	__atomic_store_n(&ring_end, 1, __ATOMIC_RELEASE);
	join(drain);
	return report("lines written", lines);
}
