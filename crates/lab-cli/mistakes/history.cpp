// title = "a history that is reserved, but whose pages are touched in the loop first"
// code = "fault-first-touch"
// flags = ["-O2", "-g"]
// also = ["memory-will-fault", "memory-not-locked"]
// verified = "getrusage(RUSAGE_THREAD) before and after the loop: minor faults grow by the history's pages; none in the clean twin"
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

struct Sample {
    double position, velocity, torque, current;
    double spare[124];
};

static std::vector<Sample> history;
static long faults;

static long minor()
{
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

static void *servo(void *)
{
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    Sample sample{};
    long before = minor();
    for (int i = 0; i < 400; i++) {
        next.tv_nsec += 4000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
        sample.position += 0.5;
        history.push_back(sample); // MISTAKE: fault-first-touch
    }
    faults = minor() - before;
    return nullptr;
}

int main()
{
    static char stack[256 * 1024] __attribute__((aligned(4096)));
    if (mlockall(MCL_CURRENT) != 0)
        return 3;
#ifdef CLEAN
    // The pages of the reserve as well.
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return 3;
#endif
    history.reserve(4096);
    pthread_attr_t attributes;
    sched_param priority{};
    priority.sched_priority = 70;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof stack);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &priority);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, servo, nullptr) != 0)
        return 3;
    pthread_join(thread, nullptr);
    fprintf(stderr, "faults in the loop: %ld\n", faults);
#ifdef CLEAN
    return faults < 10 ? 0 : 3;
#else
    return faults > 50 ? 0 : 3;
#endif
}
