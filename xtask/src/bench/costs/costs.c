/* The programs of a reference guide, written anew: what `cargo xtask bench costs` holds whylate's figures against.
 *
 * costs clock COUNT: mean time of reading CLOCK_MONOTONIC and CLOCK_MONOTONIC_COARSE.
 * costs socket plain|nodelay|cork COUNT: median time of a message of 15 writes of 2 bytes and a reply of 2 bytes over
 * loopback, from the first write to the reply. As whylate's, the measuring thread has the last CPU and the receiver another.
 *
 * Prints NAME=NANOSECONDS.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static double reading(clockid_t clock, long count)
{
    struct timespec t;
    double start = now();
    for (long i = 0; i < count; i++)
        clock_gettime(clock, &t);
    return (now() - start) / count;
}

static void must(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(2);
    }
}

static void set(int socket, int option, int value)
{
    must(setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value), "setsockopt");
}

static void pin(long cpu)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu < 0 ? 0 : cpu, &cpus);
    must(sched_setaffinity(0, sizeof cpus, &cpus), "sched_setaffinity");
}

/* Reads as it comes, in parts: MSG_WAITALL would wake the thread only once. */
static int all_of(int socket, char *to, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t more = read(socket, to + have, size - have);
        if (more <= 0)
            return 0;
        have += more;
    }
    return 1;
}

static void *answer(void *arg)
{
    /* Beside the client: the way out of an idle state would be most of a round trip, and differs from run to run. */
    pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
    int server = *(int *)arg, client = accept(server, NULL, NULL);
    must(client, "accept");
    set(client, TCP_NODELAY, 1);
    char message[30];
    while (all_of(client, message, sizeof message))
        must(write(client, "ok", 2), "write");
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

static double message(const char *way, long count)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    must(bind(server, (struct sockaddr *)&address, size), "bind");
    must(listen(server, 1), "listen");
    must(getsockname(server, (struct sockaddr *)&address, &size), "getsockname");
    pthread_t thread;
    pthread_create(&thread, NULL, answer, &server);
    must(connect(client, (struct sockaddr *)&address, size), "connect");
    if (!strcmp(way, "nodelay"))
        set(client, TCP_NODELAY, 1);
    double *times = calloc(count, sizeof *times);
    for (long i = 0; i < count; i++) {
        char reply[2];
        double start = now();
        if (!strcmp(way, "cork"))
            set(client, TCP_CORK, 1);
        for (int part = 0; part < 15; part++)
            must(write(client, "ab", 2), "write");
        if (!strcmp(way, "cork"))
            set(client, TCP_CORK, 0);
        must(all_of(client, reply, sizeof reply) ? 0 : -1, "read");
        times[i] = now() - start;
    }
    qsort(times, count, sizeof *times, ascending);
    return times[count / 2];
}

int main(int argc, char **argv)
{
    pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
    if (argc == 3 && !strcmp(argv[1], "clock")) {
        printf("monotonic=%.3f\n", reading(CLOCK_MONOTONIC, atol(argv[2])));
        printf("coarse=%.3f\n", reading(CLOCK_MONOTONIC_COARSE, atol(argv[2])));
    } else if (argc == 4 && !strcmp(argv[1], "socket")) {
        printf("%s=%.0f\n", argv[2], message(argv[2], atol(argv[3])));
    } else {
        fprintf(stderr, "usage: costs clock COUNT | costs socket plain|nodelay|cork COUNT\n");
        return 2;
    }
    return 0;
}
