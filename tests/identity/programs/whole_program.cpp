/* SPDX-License-Identifier: Apache-2.0 */
// Optimized as a whole when it is linked.
// cc: -flto=full -fuse-ld=lld
// levels: -O2 -O3
#include <cstdio>
#include <string>
#include <vector>

struct shape {
	virtual int area() const = 0;
	virtual ~shape() = default;
};
struct box : shape {
	int a, b;
	box(int x, int y) : a(x), b(y)
	{
	}
	int area() const override
	{
		return a * b;
	}
};
struct line : box {
	explicit line(int x) : box(x, 1)
	{
	}
	int area() const override
	{
		if (a > 3)
			throw a;
		return 0;
	}
};

int main()
{
	int sum = 0, bad = 0;

	for (int i = 0; i < 8; i++) {
		box b(i, 3);
		line l(i);
		for (const shape *s : {(const shape *)&b, (const shape *)&l})
			try {
				sum += s->area();
			} catch (int n) {
				bad += n;
			}
	}
	std::printf("%d %d\n", sum, bad);
}
