// title = "waits for an atomic flag of a slower thread with std::this_thread::yield()"
// code = "sched-yield"
// flags = ["-O2", "-g"]
// also = ["helper-not-realtime"]
// verified = "strace -c: thousands of sched_yield; none in the clean twin, which waits on an eventfd"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static std::atomic<int> ready{0};
static int event;
static long yields;

static bool start(pthread_t *thread, int priority, void *(*body)(void *), char *stack, size_t size)
{
    pthread_attr_t attr;
    sched_param param{};
    param.sched_priority = priority;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, size);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    return pthread_create(thread, &attr, body, nullptr) == 0;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *sensor(void *)
{
    pin(0);
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < 150; i++) {
        next.tv_nsec += 10000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
        ready++;
#ifdef CLEAN
        std::uint64_t one = 1;
        if (write(event, &one, sizeof one) < 0)
            return nullptr;
#endif
    }
    return nullptr;
}

static void *fusion(void *)
{
    pin(1);
    for (int i = 1; i <= 150; i++) {
#ifdef CLEAN
        std::uint64_t count;
        while (ready < i)
            if (read(event, &count, sizeof count) < 0)
                return nullptr;
#else
        while (ready < i) {
            std::this_thread::yield(); // MISTAKE: sched-yield
            yields++;
        }
#endif
        // The rest of its period: it does not wait all the time.
        timespec pause = {0, 0};
        clock_gettime(CLOCK_MONOTONIC, &pause);
        pause.tv_nsec += 8000000;
        if (pause.tv_nsec >= 1000000000) {
            pause.tv_nsec -= 1000000000;
            pause.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, nullptr);
    }
    return nullptr;
}

int main()
{
    static char stacks[2][128 * 1024] __attribute__((aligned(4096)));
    event = eventfd(0, 0);
    if (event < 0 || mlockall(MCL_CURRENT | MCL_FUTURE))
        return 3;
    pthread_t a, b;
    if (!start(&a, 50, sensor, stacks[0], sizeof stacks[0]) || !start(&b, 40, fusion, stacks[1], sizeof stacks[1]))
        return 3;
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    std::printf("yields: %ld\n", yields);
#ifdef CLEAN
    return yields == 0 ? 0 : 3;
#else
    return yields > 1000 ? 0 : 3;
#endif
}
