/* Two threads hand a byte to each other as fast as they can; prints how often this process left a CPU. */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROUNDS = 40000 };
static int there[2], back[2];

static void *echo(void *unused)
{
	char byte;
	for (int i = 0; i < ROUNDS; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			break;
	return unused;
}

int main(void)
{
	char byte;
	pthread_t thread;
	struct rusage usage;
	if (read(0, &byte, 1) != 1 || pipe(there) || pipe(back) || pthread_create(&thread, 0, echo, 0))
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) /* line: hand */
			return 1;
	pthread_join(thread, 0);
	getrusage(RUSAGE_SELF, &usage);
	FILE *out = fopen(COUNTED, "w");
	fprintf(out, "%ld", usage.ru_nvcsw + usage.ru_nivcsw);
	return fclose(out);
}
