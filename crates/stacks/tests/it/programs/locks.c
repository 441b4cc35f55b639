/* Two threads wait for mutexes that the main thread holds for a second: one without priority inheritance, one with. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long entries;
	pthread_mutex_t lock;
} table;

static void *wait_for(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return 0;
}

int main(void)
{
	char byte;
	pthread_t threads[2];
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	if (pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) || read(0, &byte, 1) != 1)
		return 1;
	pthread_mutex_init(&table.lock, &attributes);
	pthread_mutex_lock(&queue_lock);
	pthread_mutex_lock(&table.lock);
	if (pthread_create(&threads[0], 0, wait_for, &queue_lock) || pthread_create(&threads[1], 0, wait_for, &table.lock))
		return 1;
	sleep(1);
	pthread_mutex_unlock(&table.lock);
	pthread_mutex_unlock(&queue_lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
