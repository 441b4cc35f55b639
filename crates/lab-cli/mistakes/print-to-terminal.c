// title = "each cycle prints a line to a terminal"
// code = "terminal-output"
// flags = ["-O2", "-g", "-fno-omit-frame-pointer"]
// verified = "strace -f -y: a write to /dev/pts/N by the control thread in each cycle; in the clean twin by the writer, SCHED_OTHER"
#include "ring.h"

static int terminal, screen;
static long lines;

static void print(long cycle)
{
	char line[32];
	int length = snprintf(line, sizeof line, "cycle %ld\n", cycle);
	MUST(write(terminal, line, length)); // MISTAKE: terminal-output
}

static void *writer(void *unused)
{
	(void)unused;
	ring_drain(print);
	return NULL;
}

// The other end of the terminal, so that it never fills.
static void *emulator(void *unused)
{
	(void)unused;
	char text[256];
	while (!__atomic_load_n(&ring_end, __ATOMIC_ACQUIRE)) {
		usleep(20000);
		while (read(screen, text, sizeof text) > 0) {
		}
	}
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
		print(cycle);
		lines++;
#endif
	}
	return NULL;
}

int main(void)
{
	MUST(screen = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
	MUST(grantpt(screen));
	MUST(unlockpt(screen));
	MUST(terminal = open(ptsname(screen), O_RDWR | O_NOCTTY));
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t reader = start_thread("emulator", SCHED_OTHER, 0, emulator, NULL);
	pthread_t drain = start_thread("writer", SCHED_OTHER, 0, writer, NULL);
	join(start_control(control));
	__atomic_store_n(&ring_end, 1, __ATOMIC_RELEASE);
	join(drain);
	join(reader);
	return report("lines printed", lines);
}
