// title = "a new image of 600 kB in each cycle"
// code = "heap-in-loop"
// flags = ["-O2", "-g", "-fno-omit-frame-pointer"]
// also = ["fault-first-touch", "fault-heap", "memory-will-fault"]
// verified = "strace: mmap and munmap in each cycle; neither in the loop of the clean twin"
#include <cstdio>
#include <cstring>
#include <memory>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

struct Frame {
    unsigned char pixels[640 * 960];
};

static long checksum;

static void grab(Frame &frame, int number)
{
    std::memset(frame.pixels, number, sizeof frame.pixels);
}

static void *camera(void *)
{
#ifdef CLEAN
    auto frame = std::make_unique<Frame>();
    grab(*frame, 0);
#endif
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int number = 0; number < 200; number++) {
        next.tv_nsec += 8000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
#ifndef CLEAN
        auto frame = std::make_unique<Frame>(); // MISTAKE: heap-in-loop
#endif
        grab(*frame, number);
        checksum += frame->pixels[number * 17];
#ifndef CLEAN
        frame.reset(); // MISTAKE: heap-in-loop
#endif
    }
    return nullptr;
}

int main()
{
    static char stack[256 * 1024] __attribute__((aligned(4096)));
    // Images shall not break the heap into pieces.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return 3;
    pthread_attr_t attr;
    sched_param param{};
    param.sched_priority = 35;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, sizeof stack);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_t thread;
    if (pthread_create(&thread, &attr, camera, nullptr))
        return 3;
    pthread_join(thread, nullptr);
    std::printf("%ld\n", checksum);
    return 0;
}
