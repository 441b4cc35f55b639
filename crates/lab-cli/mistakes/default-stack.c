// title = "the control thread has a default stack of 8 MB, of which only the first pages are resident"
// code = "stack-not-prefaulted"
// without-line = true
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// also = ["memory-will-fault", "fault-stack"]
// verified = "/proc/PID/smaps: the stack has 8192 kB, Rss below 100 kB, Locked 0 kB; in the clean twin 256 kB and all of it resident"
#include "rt.h"


static long missing;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++)
		wait_period(&next, 5 * MS);
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT);
#ifdef CLEAN
	join(start_control(control));
#else
	pthread_t thread;
	pthread_attr_t attributes;
	struct sched_param param = {.sched_priority = 60};
	size_t size;
	void *lowest;
	unsigned char pages[64];
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &param);
	check(pthread_create(&thread, &attributes, control, NULL), "pthread_create");
	pthread_setname_np(thread, "control");
	pthread_getattr_np(thread, &attributes);
	pthread_attr_getstack(&attributes, &lowest, &size);
	MUST(mincore(lowest, sizeof pages * PAGE, pages));
	for (unsigned long page = 0; page < sizeof pages; page++)
		missing += !(pages[page] & 1);
	join(thread);
#endif
	return report("pages of the stack that are not resident", missing);
}
