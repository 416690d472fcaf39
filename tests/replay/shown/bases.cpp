// SPDX-License-Identifier: Apache-2.0
// Bases that are not the first one, virtual ones, and casts between them.
#include "saw.h"

#include <pthread.h>

struct First {
	long f = 1;
	virtual ~First()
	{
	}
};

struct Second {
	int s = 2, both = 20;
};

struct Third : First, Second {
	int t = 3, both = 30;
	static int many;
};

int Third::many = 7;

struct Root {
	int r = 4;
	virtual int id() const
	{
		return r;
	}
	virtual ~Root()
	{
	}
};

struct Left : virtual Root {
	int l = 5;
};

struct Right : virtual Root {
	int q = 6;
};

struct Whole : Left, Right, Second {
	int w = 8;

	__attribute__((noinline)) int sum(int n)
	{
		SAW("r, l, q, s, w, this->r + n, Right::q",
		    "%d|%d|%d|%d|%d|%d|%d", r, l, q, s, w, r + n, q);
		return r + l + q + s + w + n;
	}
};

namespace one
{
template <typename T> struct Box {
	T value;
	T more;
};
struct Same {
	int x, y;
};
} // namespace one

namespace two
{
struct Same {
	int y, x;
};

__attribute__((noinline)) static int look(void *p)
{
	SAW("((Same *)p)->x, ((one::Same *)p)->x", "%d|%d", ((Same *)p)->x,
	    ((one::Same *)p)->x);
	SAW("((one::Box<int> *)p)->more, static_cast<one::Box< int "
	    ">*>(p)->value",
	    "%d|%d", ((one::Box<int> *)p)->more, ((one::Box<int> *)p)->value);
	return 0;
}
} // namespace two

__attribute__((noinline)) static long pointers(Third *p, Second *b, Third &r,
                                               void *end)
{
	Third *none = nullptr;
	long n = r.many;

	SAW("((Second *)p)->s, static_cast<Second *>(p)->both, (long)p == "
	    "(long)b,"
	    " p == b, (Second *)none == nullptr",
	    "%d|%d|0|1|1", ((Second *)p)->s, static_cast<Second *>(p)->both);
	SAW("((Third *)b)->t, static_cast<Third *>(b)->f, b + 1 == end, "
	    "((Third *)b) == p",
	    "%d|%ld|%d|1", ((Third *)b)->t, static_cast<Third *>(b)->f,
	    (void *)(b + 1) == end);
	SAW("static_cast<Second &>(r).both, ((Second &)r).s, ((Second)r).s, "
	    "r.both, r.Second::both, r.s, r.many, p->many",
	    "%d|%d|%d|%d|%d|%d|7|7", static_cast<Second &>(r).both,
	    ((Second &)r).s, ((Second)r).s, r.both, r.Second::both, r.s);
	SAW("&r == p, (Second *)&r == b, (1 ? b : p) == b, "
	    "reinterpret_cast<Second *>(p) == (void *)p, r.Third::both",
	    "1|1|1|1|%d", r.both);
	return p->t + b->s + r.f + n;
}

__attribute__((noinline)) static long virtuals(Whole *p, Root *root, Left *l)
{
	SAW("p->r, l->r, ((Root *)p)->r, static_cast<Root *>(l)->r, "
	    "(Root *)p == root, (Root *)l == root, p == root",
	    "%d|%d|%d|%d|1|1|1", p->r, l->r, ((Root *)p)->r,
	    static_cast<Root *>(l)->r);
	root->r += 10;
	SAW("p->r, ((Right &)*p).r, ((Whole *)l)->w, ((Second *)p)->s",
	    "%d|%d|%d|%d", p->r, ((Right &)*p).r, ((Whole *)l)->w,
	    ((Second *)p)->s);
	return p->sum(1) + root->id();
}

static void *work(void *)
{
	Third t;
	Whole w;
	one::Same same = {11, 12};

	t.s = 200;
	long n = pointers(&t, &t, t, &t.t);
	n += virtuals(&w, &w, &w);
	two::look(&same);
	return (void *)n;
}

int main()
{
	pthread_t thread;

	work(nullptr);
	pthread_create(&thread, nullptr, work, nullptr);
	pthread_join(thread, nullptr);
	return 0;
}
