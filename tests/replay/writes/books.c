/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps books of what it writes: "NAME LINE OLD NEW", on stdout. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	short key;
	double weight;
	char name[16];
	union {
		int number;
		float real;
	} u;
};

struct list {
	int n;
	struct item items[4];
	struct list *next;
	unsigned flag : 3, other : 5;
};

int counter;
long begun = 1000;
unsigned char grid[3][4];
struct list list = {2, {{1, 0.5, "first", {7}}}, &list, 1, 2};
double real = 1.5;
float single;
_Bool is_true;
enum color { RED, GREEN = 5, BLUE } color;
char text[32] = "as it began";
unsigned long long large;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long shared;
static jmp_buf env;

#define BOOK(name, line, old, format, new) \
	printf("%s %d " format " " format "\n", name, line, old, new)
#define SET(what, format, value)                         \
	do {                                             \
		__typeof__(what) v_ = (value);           \
                                                         \
		BOOK(#what, __LINE__, what, format, v_); \
		what = v_;                               \
	} while (0)

static void scalars(int n)
{
	for (int i = 0; i < n; i++)
		SET(counter, "%d", counter - i);
	SET(begun, "%ld", begun * n);
	SET(real, "%.17g", real / 3);
	SET(single, "%.9g", 0.1f);
	SET(large, "%llu", ~0ull);
	SET(color, "%d", BLUE);
	SET(color, "%d", BLUE); /* the same again */
	BOOK("is_true", __LINE__ + 1, "false", "%s", "true");
	is_true = n;
}

static void parts(int n)
{
	SET(grid[2][1], "%d", 9);
	SET(grid[0][3], "%d", (unsigned char)n);
	SET(list.items[1].key, "%d", -5);
	SET(list.items[0].weight, "%.17g", 2.25);
	SET(list.items[0].u.number, "%d", 70000);
	SET(list.items[3].name[5], "%d", 'x');
	SET(list.n, "%d", list.n + 1);
}

static void atomics(void)
{
	long old;

	BOOK("begun", __LINE__ + 1, begun, "%ld", begun + 5);
	__atomic_fetch_add(&begun, 5, __ATOMIC_SEQ_CST);
	old = begun + 1; /* does not write */
	__atomic_compare_exchange_n(&begun, &old, 1, 0, 5, 5);
	BOOK("begun", __LINE__ + 2, begun, "%ld", 77l);
	old = begun;
	__atomic_compare_exchange_n(&begun, &old, 77, 0, 5, 5);
	BOOK("begun", __LINE__ + 1, begun, "%ld", 78l);
	__atomic_exchange_n(&begun, 78, __ATOMIC_SEQ_CST);
}

/* The line is that where the program sees it. */
static void outside(const char *number)
{
	int old = counter;

	sscanf(number, "%d", &counter);
	printf("counter %d %d %s outside\n", __LINE__ + 1, old, number);
	if (counter < 0)
		exit(1);
}

static void jumps(void)
{
	if (setjmp(env))
		SET(counter, "%d", 5);
	else {
		SET(counter, "%d", 4);
		longjmp(env, 1);
	}
}

static void *work(void *arg)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		SET(shared, "%ld", shared + 1);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int *heap = malloc(4 * sizeof(*heap));

	(void)argv;
	scalars(5 + argc - 1);
	parts(argc);
	atomics();
	outside("4711");
	jumps();
	for (int i = 0; i < 4; i++)
		heap[i] = -1;
	printf("heap %p\n", (void *)heap);
	SET(heap[2], "%d", argc);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	strcpy(text, "another text");
	memset(text + 20, 'm', 8);
	return heap[2] != argc;
}
