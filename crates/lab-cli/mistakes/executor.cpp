// title = "an executor of callbacks: two timers and a subscription, whose messages another real-time thread publishes"
// clean = true
// flags = ["-O2", "-g"]
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct Message {
    std::uint64_t stamp;
    std::array<double, 16> values;
};

// The latest message; PI, as both sides are real-time.
class Mailbox {
public:
    Mailbox()
    {
        pthread_mutexattr_t attr;
        pthread_mutexattr_init(&attr);
        pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&mutex, &attr);
        event = eventfd(0, EFD_NONBLOCK);
    }
    void publish(const Message &message)
    {
        pthread_mutex_lock(&mutex);
        latest = message;
        pthread_mutex_unlock(&mutex);
        std::uint64_t one = 1;
        (void)!write(event, &one, sizeof one);
    }
    Message take()
    {
        pthread_mutex_lock(&mutex);
        Message message = latest;
        pthread_mutex_unlock(&mutex);
        return message;
    }
    int event;

private:
    pthread_mutex_t mutex;
    Message latest{};
};

class Executor {
public:
    Executor() : epoll(epoll_create1(EPOLL_CLOEXEC)) { callbacks.reserve(8); }
    void add(int fd, std::function<void()> callback)
    {
        callbacks.push_back({fd, std::move(callback)});
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = callbacks.size() - 1;
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
    void timer(long ns, std::function<void()> callback)
    {
        int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        itimerspec period{{0, ns}, {0, ns}};
        timerfd_settime(fd, 0, &period, nullptr);
        add(fd, std::move(callback));
    }
    void spin()
    {
        epoll_event events[8];
        while (!stopped) {
            int count = epoll_wait(epoll, events, 8, -1);
            for (int i = 0; i < count; i++) {
                auto &entry = callbacks[events[i].data.u64];
                std::uint64_t value;
                if (read(entry.fd, &value, sizeof value) > 0)
                    entry.callback();
            }
        }
    }
    bool stopped = false;

private:
    struct Entry {
        int fd;
        std::function<void()> callback;
    };
    int epoll;
    std::vector<Entry> callbacks;
};

static Mailbox mailbox;
static Executor executor;
static std::atomic<bool> over{false};

static void *driver(void *)
{
    timespec next;
    Message message{};
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!over) {
        next.tv_nsec += 4000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
        message.stamp++;
        message.values[message.stamp % 16] += 0.5;
        mailbox.publish(message);
    }
    return nullptr;
}

static void *spin(void *)
{
    executor.spin();
    over = true;
    return nullptr;
}

static bool start(pthread_t *thread, const char *name, int priority, void *(*body)(void *), char *stack, size_t size)
{
    pthread_attr_t attr;
    sched_param param{};
    param.sched_priority = priority;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, size);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    return pthread_create(thread, &attr, body, nullptr) == 0 && pthread_setname_np(*thread, name) == 0;
}

int main()
{
    static char stacks[2][256 * 1024] __attribute__((aligned(4096)));
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return 3;
    int control = 0, status = 0, messages = 0;
    double sum = 0;
    executor.timer(10000000, [&] {
        if (++control == 150)
            executor.stopped = true;
    });
    executor.timer(100000000, [&] { status++; });
    executor.add(mailbox.event, [&] {
        sum += mailbox.take().values[3];
        messages++;
    });
    pthread_t a, b;
    if (!start(&a, "driver", 60, driver, stacks[0], sizeof stacks[0]) ||
        !start(&b, "executor", 50, spin, stacks[1], sizeof stacks[1]))
        return 3;
    pthread_join(b, nullptr);
    pthread_join(a, nullptr);
    std::printf("%d control cycles, %d status, %d messages, %f\n", control, status, messages, sum);
    return messages > 200 ? 0 : 3;
}
