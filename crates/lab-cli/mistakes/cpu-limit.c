// title = "the thread computes 17 ms without a wait, and RLIMIT_RTTIME is 20 ms: a little more, and SIGXCPU ends it"
// code = "rttime-near-limit"
// without-line = true
// flags = ["-O2", "-g"]
// verified = "/proc/PID/limits: 20000 us; the time that a cycle computes, printed: over 15 ms, in the clean twin 1 ms"
#include "rt.h"

#ifdef CLEAN
#define COMPUTES (1 * MS)
#else
#define COMPUTES (17 * MS)
#endif

static long longest;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 30; cycle++) {
		wait_period(&next, 50 * MS);
		struct timespec start, end;
		clock_gettime(CLOCK_MONOTONIC, &start);
		work(COMPUTES);
		end = now();
		long took = (end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec;
		longest = took > longest ? took : longest;
	}
	return NULL;
}

int main(void)
{
	struct rlimit limit = {20000, 200000};
	MUST(setrlimit(RLIMIT_RTTIME, &limit));
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("cycles over 15 ms", COMPUTES > MS && longest > 15 * MS);
}
