// title = "the loop sleeps with std::this_thread::sleep_for"
// code = "relative-sleep"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f: clock_nanosleep(CLOCK_REALTIME, 0, 5 ms) in each cycle; TIMER_ABSTIME with CLOCK_MONOTONIC in the clean twin"
#include "rt.h"
#include <chrono>
#include <thread>

static long sleeps;

static void *control(void *)
{
	auto next = std::chrono::steady_clock::now();
	for (int cycle = 0; cycle < 250; cycle++) {
#ifdef CLEAN
		struct timespec time;
		next += std::chrono::milliseconds(5);
		long ns = std::chrono::nanoseconds(next.time_since_epoch()).count();
		time.tv_sec = ns / 1000000000L;
		time.tv_nsec = ns % 1000000000L;
		sleep_until(&time);
#else
		std::this_thread::sleep_for(std::chrono::milliseconds(5)); // MISTAKE: relative-sleep
		sleeps++;
#endif
		work(200 * US);
	}
	(void)next;
	return nullptr;
}

int main()
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("relative sleeps", sleeps);
}
