// title = "each cycle allocates 1 MB, which malloc maps and unmaps"
// code = "heap-in-loop"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f: mmap and munmap by the control thread in each cycle, neither in the clean twin"
#include "rt.h"

#define SIZE (1024 * 1024)

static long mapped;
static char *arena;

__attribute__((noinline)) static void transform(int cycle)
{
#ifdef CLEAN
	char *block = arena;
#else
	char *block = malloc(SIZE); // MISTAKE: heap-in-loop
	if (!block)
		give_up("malloc");
#endif
	for (long at = 0; at < SIZE; at += PAGE)
		((volatile char *)block)[at] = (char)cycle;
#ifndef CLEAN
	free(block); // MISTAKE: heap-in-loop
	mapped++;
#endif
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		transform(cycle);
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	arena = resident(SIZE);
#ifndef CLEAN
	mallopt(M_MMAP_MAX, 65536);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
	join(start_control(control));
	return report("mappings", mapped);
}
