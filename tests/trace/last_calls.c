/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose last block but one begins with a tail call, and whose last is
 * nothing but the return behind it: of a function that is not ours (free, in a
 * recursion), and of one that is, through a pointer.
 */
#include <stdlib.h>

struct tree {
	struct tree *left, *right;
	void (*end)(void *);
};

static void end_odd(void *t)
{
	free(t);
}

static void drop(struct tree *t)
{
	if (!t)
		return;
	drop(t->left);
	drop(t->right);
	free(t);
}

static void drop_by(struct tree *t)
{
	if (!t)
		return;
	drop_by(t->right);
	drop_by(t->left);
	t->end(t);
}

__attribute__((noinline)) static struct tree *grow(int depth)
{
	struct tree *t;

	if (!depth)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	t->left = grow(depth - 1);
	t->right = depth % 2 ? grow(depth - 1) : NULL;
	t->end = depth % 2 ? end_odd : free;
	return t;
}

int main(void)
{
	drop(grow(2));
	drop(grow(9));
	drop_by(grow(7));
	return 0;
}
