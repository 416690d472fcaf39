// SPDX-License-Identifier: Apache-2.0
// Members, references, namespaces, templates and exceptions, in C++.
#include "saw.h"

#include <stdexcept>

namespace geometry
{

int made = 2;

enum class Kind { Small = 1, Large = 9 };

struct Base {
	int id;
	virtual ~Base()
	{
	}
};

class Shape : public Base
{
	int w, h;
	bool flag;

      public:
	static int live;
	double ratio;

	Shape(int a, int b) : w(a), h(b), flag(a > b), ratio(a / 4.0)
	{
		id = a * 10;
		live++;
	}

	~Shape()
	{
		live--;
	}

	__attribute__((noinline)) int area(int scale)
	{
		int r = w * h * scale;
		SAW("r, w, this->h, w * h, id, scale, flag, ratio, live",
		    "%d|%d|%d|%d|%d|%d|%s|%g|%d", r, w, h, w * h, id, scale,
		    flag ? "true" : "false", ratio, live);
		w += scale;
		SAW("w, Shape::live, geometry::Shape::live, made", "%d|%d|%d|2",
		    w, live, live);
		return r;
	}
};

int Shape::live;

__attribute__((noinline)) static int grow(int &ref, const Shape &s, Kind k)
{
	SAW("ref, ref * 2, s.ratio, s.id, k == Kind::Large, (int)k, made",
	    "%d|%d|%g|%d|%d|%d|2", ref, ref * 2, s.ratio, s.id,
	    k == Kind::Large, (int)k);
	ref += s.id;
	SAW("ref, &ref != nullptr, k", "%d|1|%s", ref,
	    k == Kind::Large ? "Large" : "Small");
	return ref;
}

} // namespace geometry

// Static members of templates; their names may have commas and blanks.
template <typename T, int N = 1> struct Tally {
	static int calls;
	static T last;
};

template <typename T, int N> int Tally<T, N>::calls;
template <typename T, int N> T Tally<T, N>::last;

template <typename T> __attribute__((noinline)) T twice(T x)
{
	T y = x + x;
	WAS("y", "%g", double(y));
	Tally<T>::calls++;
	Tally<T, 3>::last = y;
	return y;
}

__attribute__((noinline)) static int risky(int i)
{
	if (i % 2)
		throw std::runtime_error("odd");
	return i * 5;
}

int main()
{
	int sum = 1;

	for (int i = 1; i < 4; i++) {
		geometry::Shape s(i, 5 - i);
		sum += s.area(2);
		WAS("sum", "%d", sum);
		sum = geometry::grow(sum, s,
		                     i == 2 ? geometry::Kind::Large
		                            : geometry::Kind::Small);
		try {
			sum += risky(i);
			SAW("sum, i", "%d|%d", sum, i);
		} catch (const std::exception &) {
			SAW("i, sum", "%d|%d", i, sum);
		}
	}
	sum = twice(21) + (int)twice(1.25);
	WAS("sum", "%d", sum);
	SAW("geometry::made + sum, geometry::Shape::live", "%d|0",
	    geometry::made + sum);
	SAW("Tally<int, 1>::calls, Tally<double,1>::calls * 2, "
	    "Tally<int,3>::last, Tally< double, 3 >::last < sum",
	    "%d|%d|%d|%d", Tally<int>::calls, Tally<double>::calls * 2,
	    Tally<int, 3>::last, Tally<double, 3>::last < sum);
	return 0;
}
