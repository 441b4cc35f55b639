// title = "a std::vector grows to 4 MB in each cycle"
// code = "heap-in-loop"
// flags = ["-O2", "-g"]
// verified = "strace -f: four mmap and four munmap by the control thread in each cycle; none in the clean twin, which reserves"
#include "rt.h"
#include <vector>

static long grown;
static double sum;
static std::vector<double> *kept;

__attribute__((noinline)) static void collect(int cycle)
{
#ifdef CLEAN
	std::vector<double> &samples = *kept;
	samples.clear();
#else
	std::vector<double> samples;
#endif
	size_t before = samples.capacity();
	for (int i = 0; i < 100000; i++)
		samples.push_back(cycle); // MISTAKE: heap-in-loop
	grown += samples.capacity() != before;
	sum += samples.back();
} // MISTAKE: heap-in-loop

static void *control(void *)
{
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		collect(cycle);
	}
	return nullptr;
}

int main()
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	kept = new std::vector<double>;
	kept->reserve(100000);
#ifndef CLEAN
	mallopt(M_MMAP_MAX, 65536);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
	join(start_control(control));
	return report("growths", grown);
}
