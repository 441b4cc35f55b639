/*
 * Makes code at run time, names it in a perf map, and computes in a function that this code calls. The first argument is
 * the code in hexadecimal digits: a function that calls its first argument.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

volatile unsigned long sum;

__attribute__((noinline)) static void compute(void)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum = sum * 31 + i; /* line: compute */
	sum++;
}

int main(int argc, char **argv)
{
	char name[64], byte;
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t length = argc > 1 ? strlen(argv[1]) / 2 : 0;
	if (code == MAP_FAILED || read(0, &byte, 1) != 1)
		return 1;
	for (size_t i = 0; i < length; i++)
		sscanf(argv[1] + 2 * i, "%2hhx", &code[i]);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(name, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx py::control_loop:/srv/control.py\n", (unsigned long)code, length);
	fclose(map);
	((void (*)(void (*)(void)))code)(compute); /* line: main */
	sum++;
	return 0;
}
