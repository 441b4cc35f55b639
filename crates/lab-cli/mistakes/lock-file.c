// title = "the control thread takes a lock on a file that a thread of lower priority holds"
// code = "file-lock"
// flags = ["-O2", "-g"]
// also = ["priority-inverted-by-role", "priority-inversion"]
// verified = "strace -f: flock(LOCK_EX) by the control thread in each cycle, none in the clean twin"
#include "rt.h"
#include <sys/file.h>

static int of_control, of_logger;
static pthread_mutex_t mutex;
static long locks;

static void *logger(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
#ifdef CLEAN
		pthread_mutex_lock(&mutex);
		work(2 * MS);
		pthread_mutex_unlock(&mutex);
#else
		MUST(flock(of_logger, LOCK_EX)); // MISTAKE: file-lock
		work(2 * MS);
		MUST(flock(of_logger, LOCK_UN)); // MISTAKE: file-lock
#endif
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
#ifdef CLEAN
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
#else
		MUST(flock(of_control, LOCK_EX)); // MISTAKE: file-lock
		locks++;
		MUST(flock(of_control, LOCK_UN)); // MISTAKE: file-lock
#endif
	}
	return NULL;
}

int main(void)
{
	char name[] = "/tmp/mistake-lock-XXXXXX";
	MUST(of_control = mkstemp(name));
	MUST(of_logger = open(name, O_RDWR));
	unlink(name);
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	init_mutex(&mutex, PTHREAD_PRIO_INHERIT);
	pthread_t low = start_thread("logger", SCHED_FIFO, 20, logger, NULL);
	join(start_control(control));
	join(low);
	return report("locks of a file", locks);
}
