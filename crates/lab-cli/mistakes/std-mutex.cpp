// title = "threads of priority 60 and 20 share a std::mutex, which has no priority inheritance"
// code = "mutex-without-inheritance"
// flags = ["-O2", "-g"]
// also = ["priority-inversion", "priority-inverted-by-role"]
// verified = "strace -f: futex(FUTEX_WAIT_PRIVATE) by the control thread, FUTEX_LOCK_PI_PRIVATE in the clean twin; waits counted by try_lock"
#include "rt.h"
#include <mutex>

static long state, waits;

#ifdef CLEAN
// A PI mutex, with the interface that std::lock_guard needs.
class Mutex {
public:
	Mutex() { init_mutex(&mutex, PTHREAD_PRIO_INHERIT); }
	void lock() { pthread_mutex_lock(&mutex); }
	bool try_lock() { return pthread_mutex_trylock(&mutex) == 0; }
	void unlock() { pthread_mutex_unlock(&mutex); }

private:
	pthread_mutex_t mutex;
};
#else
using Mutex = std::mutex;
#endif

static Mutex mutex;

static void *logger(void *)
{
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		std::lock_guard<Mutex> guard(mutex); // MISTAKE: mutex-without-inheritance
		work(3 * MS);
		state++;
	}
	return nullptr;
}

static void *control(void *)
{
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
		if (!mutex.try_lock()) {
			waits++;
			mutex.lock(); // MISTAKE: mutex-without-inheritance
		}
		state++;
		mutex.unlock();
	}
	return nullptr;
}

int main()
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t low = start_thread("logger", SCHED_FIFO, 20, logger, nullptr);
	join(start_control(control));
	join(low);
#ifdef CLEAN
	waits = 0;
#endif
	return report("waits for the mutex", waits);
}
