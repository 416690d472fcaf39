/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same place again without a tick: on the way out of frames that call each
 * other.  Only some of these times it finds what the program could not know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDE __attribute__((noinline))
#define NNODES 200

struct node {
	unsigned long use; /* never set: whatever malloc left there */
	struct node *left, *right;
	unsigned number, turns;
	unsigned long after[5];
};

static struct node *nodes[NNODES];
static unsigned long sum;
static char names[] = "some numbers 7 1 9 4 8 2 6 3 5 11 0 13";

/* As many turns as a number says: a replay that has another one diverges. */
HIDE static void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n % 13; i++)
		__asm__ volatile("");
}

static void spin_all(void)
{
	for (unsigned i = 0; i < NNODES; i++)
		spin(nodes[i]->use);
}

/* Memory that others wrote. */
static void leave_dirt(void)
{
	static void *held[3000];

	for (unsigned i = 0; i < 3000; i++) {
		size_t n = 8 * (i % 40 + 1);

		held[i] = malloc(n);
		for (size_t k = 0; k < n / 8; k++)
			((unsigned long *)held[i])[k] = i * 2654435761u + k;
	}
	for (unsigned i = 0; i < 3000; i++)
		free(held[i]);
}

static struct node *insert(struct node *to, struct node *n)
{
	if (!to)
		return n;
	if (n->number < to->number)
		to->left = insert(to->left, n);
	else
		to->right = insert(to->right, n);
	return to;
}

static struct node *make_tree(void)
{
	struct node *root = NULL;

	for (unsigned i = 0; i < NNODES; i++)
		free(nodes[i]);

	for (unsigned i = 0; i < NNODES; i++) {
		struct node *n = malloc(sizeof(*n));

		n->left = n->right = NULL;
		n->number = i * 2654435761u >> 7;
		n->turns = i % 3;
		memset(n->after, (int)i, sizeof(n->after));
		nodes[i] = n;
		root = insert(root, n);
	}
	return root;
}

/* Calls itself, and then looks. */
HIDE static void visit(struct node *n)
{
	if (n->right)
		visit(n->right);
	if (n->left && n->turns)
		visit(n->left);
	n->use++;
	sum += n->number ^ n->after[n->turns];
}

/* By way of another one, and of any. */
HIDE static void visit_other(struct node *n, void (*f)(struct node *));

HIDE void visit_both(struct node *n)
{
	visit_other(n, visit_both);
	sum += (n->use >> 8) % 3;
}

HIDE static void visit_other(struct node *n, void (*f)(struct node *))
{
	if (n->left)
		f(n->left);
	n->use += n->turns;
	if (n->right)
		f(n->right);
}

/* Copies whole structures. */
HIDE static struct node copy_last(struct node *n)
{
	struct node all = *n;

	if (n->right)
		all = copy_last(n->right);
	else if (n->left)
		all = copy_last(n->left);
	all.turns += n->turns;
	*n = all.turns % 2 ? *n : *nodes[all.turns % NNODES];
	return all;
}

/* Functions of libc that only read. */
HIDE static unsigned long read_name(const char *s, unsigned depth)
{
	unsigned long n = 0;

	if (depth)
		n = read_name(s + 1, depth - 1);
	if (strchr("13579", *s))
		n += strlen(s);
	return n * 3 + (memcmp(s, names, 2) > 0);
}

/* Inline assembly, whose result nobody knows. */
HIDE static unsigned tell_time(unsigned depth)
{
	unsigned below = depth ? tell_time(depth - 1) : 0, time;

	__asm__ volatile("rdtsc" : "=a"(time) : : "edx");
	return below * 2 + (time >> 4) % 2;
}

HIDE static unsigned add_up(int *counter, unsigned depth)
{
	unsigned n = depth ? add_up(counter + depth % 4, depth - 1) : 0;

	return n + (unsigned)__atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

int main(void)
{
	struct node last;
	int *counters;

	leave_dirt();
	counters = malloc(64 * sizeof(int));
	sprintf(names + 13, "%d %d %d", 75, 31, 99);
	for (unsigned i = 0; i < 30; i++) {
		visit(make_tree());
		spin_all();
		visit_both(make_tree());
		spin_all();
		spin(read_name(names, 5 + i % 20));
		snprintf(names + 13 + i % 5, 4, "%u", i);
		spin(tell_time(i));
		spin(add_up(counters, 10));
		for (unsigned k = 0; k < 40; k++)
			spin((unsigned)counters[k]);
		last = copy_last(make_tree());
		spin(last.use);
		spin(sum);
	}
	free(counters);
	puts("done");
	return 0;
}
