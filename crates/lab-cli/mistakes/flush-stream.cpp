// title = "each cycle writes a line with std::endl, which flushes it to the file"
// code = "file-write"
// flags = ["-O2", "-g", "-no-pie"]
// verified = "strace -f: a write by the control thread in each cycle; in the clean twin by the writer, SCHED_OTHER"
#include "ring.h"
#include <fstream>

static std::ofstream file;
static long lines;

static void log_line(long cycle)
{
	file << "cycle " << cycle << std::endl; // MISTAKE: file-write
}

static void *writer(void *)
{
	ring_drain(log_line);
	return nullptr;
}

static void *control(void *)
{
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
	return nullptr;
}

int main()
{
	char name[] = "/tmp/mistake-stream-XXXXXX";
	int made;
	MUST(made = mkstemp(name));
	file.open(name);
	close(made);
	unlink(name);
	file << "start" << std::endl;
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t drain = start_thread("writer", SCHED_OTHER, 0, writer, nullptr);
	join(start_control(control));
	__atomic_store_n(&ring_end, 1, __ATOMIC_RELEASE);
	join(drain);
	return report("lines written", lines);
}
