/* Lets threads starve on CPU 1 behind a busy loop, and prints what became of them while a guard was there.
 *
 * starve HOG_PRIORITY VICTIM COUNT SECONDS GUARD
 *
 * VICTIM: other (SCHED_OTHER), fifo (SCHED_FIFO, one priority below the hog's) or kworker (a work item on CPU 1, by
 * /proc/sys/vm/stat_refresh). GUARD is the name of the guard's program, whose CPU time is printed.
 *
 * One line of key=value: first_s, when the first victim first ran after the hog began (none: never); last_s, when the
 * last one did; helped, how many victims ran; share, the part of CPU 1 that all victims had; hog_gap_ms, the longest time
 * that the hog was without its CPU; hog_lost_ms, all such times; guard_ms, CPU time of the guard; changed, how many victims
 * have another policy or priority 5 s to 20 s after the end.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256 };

struct victim {
    pthread_t thread;
    pid_t tid;
    int policy, priority;
    atomic_llong first, ran;
};

static struct victim victims[MOST];
static atomic_int stop, leave, ready;
static atomic_llong began;
static long long hog_gap, hog_lost;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void become(int policy, int priority, int cpu)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    struct sched_param param = { .sched_priority = priority };
    if (sched_setscheduler(0, policy, &param) || sched_setaffinity(0, sizeof cpus, &cpus)) {
        perror("starve: scheduling");
        exit(2);
    }
}

/* Time between two looks at the clock that are further apart than 20 us is time without a CPU. */
static void *hog(void *arg)
{
    become(SCHED_FIFO, (int)(long)arg, 1);
    long long last = now();
    atomic_store(&began, last);
    while (!atomic_load(&stop)) {
        long long at = now(), gap = at - last;
        if (gap > 20000) {
            hog_lost += gap;
            if (gap > hog_gap)
                hog_gap = gap;
        }
        last = at;
    }
    return NULL;
}

static void *busy(void *arg)
{
    struct victim *v = arg;
    v->tid = syscall(SYS_gettid);
    atomic_fetch_add(&ready, 1);
    become(v->policy, v->priority, 1);
    long long last = now();
    while (!atomic_load(&stop)) {
        long long at = now(), start = atomic_load(&began);
        if (start && at > start) {
            if (at - last < 20000)
                atomic_fetch_add(&v->ran, at - last);
            if (!atomic_load(&v->first))
                atomic_store(&v->first, at);
        }
        last = at;
    }
    while (!atomic_load(&leave))
        usleep(10000);
    return NULL;
}

/* The file's read returns when a work item has run on every CPU. */
static void *work(void *arg)
{
    struct victim *v = arg;
    char text[64];
    v->tid = syscall(SYS_gettid);
    become(SCHED_FIFO, 98, 0);
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&began))
        usleep(1000);
    int file = open("/proc/sys/vm/stat_refresh", O_RDONLY);
    if (file < 0 || read(file, text, sizeof text) < 0) {
        perror("starve: /proc/sys/vm/stat_refresh");
        exit(2);
    }
    if (!atomic_load(&stop))
        atomic_store(&v->first, now());
    return NULL;
}

struct thread_time {
    int tid;
    long long ran;
};

/* How long each thread of the processes with a program of that name has run (/proc/PID/task/TID/schedstat); returns their number. */
static int thread_times(const char *name, struct thread_time *times)
{
    int found = 0;
    char path[600], program[600];
    DIR *processes = opendir("/proc");
    for (struct dirent *p; processes && (p = readdir(processes));) {
        snprintf(path, sizeof path, "/proc/%s/exe", p->d_name);
        ssize_t length = readlink(path, program, sizeof program - 1);
        program[length < 0 ? 0 : length] = 0;
        if (length < 0 || strcmp(strrchr(program, '/') + 1, name))
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", p->d_name);
        DIR *tasks = opendir(path);
        for (struct dirent *t; tasks && (t = readdir(tasks));) {
            char stat[900];
            snprintf(stat, sizeof stat, "%s/%s/schedstat", path, t->d_name);
            FILE *file = t->d_name[0] == '.' || found == MOST ? NULL : fopen(stat, "r");
            if (!file)
                continue;
            times[found].tid = atoi(t->d_name);
            found += fscanf(file, "%lld", &times[found].ran) == 1;
            fclose(file);
        }
        if (tasks)
            closedir(tasks);
    }
    if (processes)
        closedir(processes);
    return found;
}

/* What the threads have run since; a thread that ended meanwhile is not counted. */
static long long ran_since(const char *name, const struct thread_time *before, int count)
{
    struct thread_time after[MOST];
    long long sum = 0;
    for (int found = thread_times(name, after); found-- > 0;) {
        sum += after[found].ran;
        for (int i = 0; i < count; i++)
            if (before[i].tid == after[found].tid)
                sum -= before[i].ran;
    }
    return sum;
}

/* Victims that have another policy or priority than their own. */
static int changed_of(int count)
{
    int changed = 0;
    for (int i = 0; i < count; i++) {
        struct sched_param param = { 0 };
        int policy = sched_getscheduler(victims[i].tid);
        sched_getparam(victims[i].tid, &param);
        changed += policy != victims[i].policy || param.sched_priority != victims[i].priority;
    }
    return changed;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return fprintf(stderr, "usage: starve HOG_PRIORITY other|fifo|kworker COUNT SECONDS GUARD\n"), 2;
    int priority = atoi(argv[1]), count = atoi(argv[3]), seconds = atoi(argv[4]);
    int is_fifo = !strcmp(argv[2], "fifo"), is_work = !strcmp(argv[2], "kworker");
    if (count < 1 || count > MOST || (is_work && count != 1) || (is_fifo && priority < 2))
        return fprintf(stderr, "starve: these victims cannot be\n"), 2;
    become(SCHED_FIFO, 98, 0);
    for (int i = 0; i < count; i++) {
        struct victim *v = &victims[i];
        v->policy = is_fifo ? SCHED_FIFO : SCHED_OTHER;
        v->priority = is_fifo ? priority - 1 : 0;
        pthread_create(&v->thread, NULL, is_work ? work : busy, v);
    }
    while (atomic_load(&ready) < count)
        usleep(1000);
    /* The guard is started at the same time, and must not starve while it starts. */
    sleep(4);
    pthread_t loop;
    pthread_create(&loop, NULL, hog, (void *)(long)priority);
    while (!atomic_load(&began))
        usleep(1000);
    struct thread_time before[MOST];
    int threads = thread_times(argv[5], before);
    long long start = now();
    sleep(seconds);
    long long guard = ran_since(argv[5], before, threads), took = now() - start;
    atomic_store(&stop, 1);
    pthread_join(loop, NULL);
    long long first = 0, last = 0, ran = 0;
    int helped = 0, changed = 0;
    /* What is still lent is given back when its time is over, or when the guard sees the thread sleep. */
    for (int wait = 0; wait < 20 && (wait < 5 || changed); wait++) {
        sleep(1);
        changed = is_work ? 0 : changed_of(count);
    }
    for (int i = 0; i < count; i++) {
        struct victim *v = &victims[i];
        long long at = atomic_load(&v->first);
        ran += atomic_load(&v->ran);
        if (!at || at > start + took)
            continue;
        helped++;
        if (!first || at < first)
            first = at;
        if (at > last)
            last = at;
    }
    atomic_store(&leave, 1);
    printf("hog=%d victim=%s count=%d", priority, argv[2], count);
    if (helped)
        printf(" first_s=%.2f last_s=%.2f", (first - began) / 1e9, (last - began) / 1e9);
    else
        printf(" first_s=none last_s=none");
    printf(" helped=%d share=%.4f hog_gap_ms=%.2f hog_lost_ms=%.1f guard_ms=%.1f changed=%d\n", helped,
           (double)ran / took, hog_gap / 1e6, hog_lost / 1e6, guard / 1e6, changed);
    return 0;
}
