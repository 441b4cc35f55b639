/*
 * After a byte of input: touches pages, computes, sleeps; each at a line of its own, many times.
 * Ends by itself, and waits for more input before, so that no thread is missed.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

volatile unsigned long sum;

__attribute__((noinline)) static void touch(volatile char *page)
{
	*page = 1; /* line: touch */
	sum++;
}

__attribute__((noinline)) static void compute(void)
{
	for (unsigned long i = 0; i < 3000000; i++)
		sum = sum * 31 + i; /* line: compute */
	sum++;
}

__attribute__((noinline)) static void rest(void)
{
	struct timespec time = { 0, 2000000 };
	nanosleep(&time, NULL); /* line: rest */
	sum++;
}

int main(void)
{
	enum { ROUNDS = 60, PAGE = 65536 };
	char byte;
	char *memory = mmap(NULL, ROUNDS * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		touch(memory + i * (size_t)PAGE);
		compute();
		rest();
	}
	return 0;
}
