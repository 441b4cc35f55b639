// title = "a timed mutex between the control loop and a thread without priority"
// code = "mutex-without-inheritance"
// flags = ["-O2", "-g"]
// also = ["priority-inversion", "helper-not-realtime"]
// verified = "strace: the loop's futex waits are no PI operations, and it counts the locks that took over 1 ms; the clean twin shares an atomic"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

using namespace std::chrono_literals;

struct Setpoint {
    std::timed_mutex mutex;
    double value = 0;
};

static Setpoint setpoint;
static std::atomic<double> shared{0};
static std::atomic<bool> over{false};
static int slow;

static double compute(std::chrono::microseconds length)
{
    double x = 1;
    auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < length)
        x = x * 1.0001 + 0.1;
    return x;
}

static void planner()
{
    while (!over) {
#ifdef CLEAN
        shared = compute(4ms);
#else
        {
            std::lock_guard<std::timed_mutex> guard(setpoint.mutex); // MISTAKE: mutex-without-inheritance
            setpoint.value = compute(4ms);
        }
#endif
        usleep(2500);
    }
}

static void *loop(void *)
{
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    double sum = 0;
    for (int i = 0; i < 200; i++) {
        next.tv_nsec += 7000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
#ifdef CLEAN
        sum += shared;
#else
        auto start = std::chrono::steady_clock::now();
        if (setpoint.mutex.try_lock_for(100ms)) { // MISTAKE: mutex-without-inheritance
            sum += setpoint.value;
            setpoint.mutex.unlock(); // MISTAKE: mutex-without-inheritance
        }
        slow += std::chrono::steady_clock::now() - start > 1ms;
#endif
    }
    shared = sum;
    return nullptr;
}

int main()
{
    static char stack[256 * 1024] __attribute__((aligned(4096)));
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return 3;
    std::thread slow_thread(planner);
    pthread_attr_t attr;
    sched_param param{};
    param.sched_priority = 55;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, sizeof stack);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_t thread;
    if (pthread_create(&thread, &attr, loop, nullptr))
        return 3;
    pthread_join(thread, nullptr);
    over = true;
    slow_thread.join();
    std::printf("slow locks: %d\n", slow);
#ifdef CLEAN
    return 0;
#else
    return slow > 0 ? 0 : 3;
#endif
}
