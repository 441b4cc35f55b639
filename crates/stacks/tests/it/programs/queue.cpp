// Waits in read() in a method of a class template in a namespace, called by a lambda.
#include <unistd.h>

volatile int sum;

namespace plant {
template <typename T> class Queue {
public:
	__attribute__((noinline)) T push(T value, int fd)
	{
		char byte = 0;
		long count = read(fd, &byte, 1); // line: push
		sum = sum + static_cast<int>(count);
		return value + count;
	}
};
} // namespace plant

__attribute__((noinline)) int run(plant::Queue<long> &queue)
{
	auto step = [&](int value) __attribute__((noinline)) {
		long pushed = queue.push(value, 0); // line: step
		sum = sum + 1;
		return pushed;
	};
	long result = step(7); // line: run
	sum = sum + 1;
	return static_cast<int>(result);
}

int main()
{
	plant::Queue<long> queue;
	int result = run(queue); // line: main
	sum = sum + result;
	return sum == 0;
}
