// title = "the loop sleeps until times of std::chrono::system_clock"
// code = "realtime-clock"
// flags = ["-O2", "-g"]
// also = ["relative-sleep"]
// verified = "strace -f: clock_nanosleep(CLOCK_REALTIME, 0, ...) in each cycle, as libstdc++ sleeps for what is left; clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME) in the clean twin"
#include "rt.h"
#include <chrono>
#include <thread>

static long sleeps;

static void *control(void *)
{
#ifdef CLEAN
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		work(100 * US);
	}
#else
	auto next = std::chrono::system_clock::now();
	for (int cycle = 0; cycle < 300; cycle++) {
		next += std::chrono::milliseconds(5);
		std::this_thread::sleep_until(next); // MISTAKE: realtime-clock
		sleeps++;
		work(100 * US);
	}
#endif
	return nullptr;
}

int main()
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("sleeps by the system's clock", sleeps);
}
