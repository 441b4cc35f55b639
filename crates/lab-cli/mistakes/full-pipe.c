// title = "writes to a pipe whose reader, a thread that is not real-time, does not keep up"
// code = "blocking-write"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "the program times each write: some take over 1 ms, and strace -f shows them blocked until the reader's read; in the clean twin the pipe is O_NONBLOCK, and what does not fit is counted"
#include "rt.h"

#define MESSAGE 256

static int pipe_ends[2];
static long waits, dropped;
static volatile int over;

static void *logger(void *unused)
{
	(void)unused;
	static char buffer[4096];
	while (!over) {
		usleep(50000);
		if (read(pipe_ends[0], buffer, sizeof buffer) < 0)
			give_up("read");
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	static char message[MESSAGE];
	struct timespec next = now();
	for (int cycle = 0; cycle < 500; cycle++) {
		wait_period(&next, 2 * MS);
		work(100 * US);
		struct timespec start = now();
		if (write(pipe_ends[1], message, sizeof message) < 0) // MISTAKE: blocking-write
			dropped++;
		waits += since(&start) > MS;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	MUST(pipe(pipe_ends));
	MUST(fcntl(pipe_ends[1], F_SETPIPE_SZ, 4096));
#ifdef CLEAN
	MUST(fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK));
#endif
	pthread_t reader = start_thread("logger", SCHED_OTHER, 0, logger, NULL);
	join(start_control(control));
	over = 1;
	join(reader);
#ifdef CLEAN
	if (!dropped)
		give_up("the pipe was never full");
	waits = 0;
#endif
	return report("writes that waited", waits);
}
