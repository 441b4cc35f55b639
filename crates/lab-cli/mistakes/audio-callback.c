// title = "an audio callback: a timer stands for the sound card; a writer without priority saves what was played"
// clean = true
// flags = ["-O2", "-g"]
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define FRAMES 256
#define SLOTS 64

static float ring[SLOTS][FRAMES];
static atomic_uint written, saved;
static atomic_int stopping;
static int card;
static float phase;

static void callback(float *out)
{
	for (int i = 0; i < FRAMES; i++) {
		phase += 0.0576f;
		if (phase > 3.1416f)
			phase -= 6.2832f;
		out[i] = phase * (1.0f - phase * phase / 6.0f);
	}
}

static void *audio(void *arg)
{
	(void)arg;
	for (int block = 0; block < 350; block++) {
		uint64_t expired;
		if (read(card, &expired, sizeof expired) != sizeof expired)
			break;
		unsigned head = atomic_load_explicit(&written, memory_order_relaxed);
		if (head - atomic_load_explicit(&saved, memory_order_acquire) < SLOTS) {
			callback(ring[head % SLOTS]);
			atomic_store_explicit(&written, head + 1, memory_order_release);
		}
	}
	atomic_store(&stopping, 1);
	return NULL;
}

static void *disk(void *arg)
{
	FILE *file = tmpfile();
	(void)arg;
	while (file) {
		unsigned tail = atomic_load_explicit(&saved, memory_order_relaxed);
		if (tail == atomic_load_explicit(&written, memory_order_acquire)) {
			if (stopping)
				break;
			usleep(20000);
			continue;
		}
		fwrite(ring[tail % SLOTS], sizeof(float), FRAMES, file);
		fflush(file);
		atomic_store_explicit(&saved, tail + 1, memory_order_release);
	}
	return file;
}

int main(void)
{
	static char stack[256 * 1024] __attribute__((aligned(4096)));
	struct itimerspec period = { { 0, 5333333 }, { 0, 5333333 } };
	struct sched_param param = { .sched_priority = 70 };
	pthread_attr_t attr;
	pthread_t rt, writer;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 3;
	memset(stack, 0, sizeof stack);
	card = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(card, 0, &period, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof stack);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&rt, &attr, audio, NULL))
		return 3;
	pthread_setname_np(rt, "audio");
	if (pthread_create(&writer, NULL, disk, NULL))
		return 3;
	pthread_join(rt, NULL);
	pthread_join(writer, NULL);
	fprintf(stderr, "%u blocks\n", saved);
	return saved > 300 ? 0 : 3;
}
