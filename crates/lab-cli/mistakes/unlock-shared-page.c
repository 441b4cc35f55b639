// title = "two objects of one page are locked, and one is unlocked: locks do not nest, the page is unlocked"
// code = "unbalanced-lock"
// flags = ["-O2", "-g"]
// also = ["memory-will-fault"]
// verified = "/proc/PID/smaps: the page has no flag `lo` after munlock; strace: mlock, mlock, munlock of the same page"
#include "rt.h"

struct filter {
	char state[1024];
};

static struct filter *left, *right;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		left->state[cycle % 1024] ^= 1;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	left = (struct filter *)resident(PAGE);
	right = left + 1;
	long locked = status_value("VmLck:");
	MUST(mlock(left, sizeof *left));
	MUST(mlock(right, sizeof *right));
	right->state[0] = 1;
#ifndef CLEAN
	MUST(munlock(right, sizeof *right)); // MISTAKE: unbalanced-lock
#endif
	long lost = locked - status_value("VmLck:");
	join(start_control(control));
	return report("kB that lost their lock", lost);
}
