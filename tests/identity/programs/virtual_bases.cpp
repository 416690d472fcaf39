/* SPDX-License-Identifier: Apache-2.0 */
// Virtual bases, thunks, covariant results, casts across, virtual calls in
// constructors and destructors.
#include <cstdio>
#include <memory>
#include <vector>

static int trace_;

struct root {
	int r = 1;
	root()
	{
		trace_ = trace_ * 3 + 1;
	}
	virtual root *copy() const = 0;
	virtual int id() const
	{
		return r;
	}
	virtual ~root()
	{
		trace_ = trace_ * 5 % 100003;
	}
};

struct left : virtual root {
	int l = 2;
	left()
	{
		trace_ += id();
	}
	left *copy() const override
	{
		return nullptr;
	}
	int id() const override
	{
		return 10 + l;
	}
	~left() override
	{
		trace_ += id();
	}
};

struct right : virtual root {
	int x = 3;
	virtual int only() const
	{
		return x;
	}
	int id() const override = 0;
};

struct both final : left, right {
	both *copy() const override
	{
		return new both(*this);
	}
	int id() const override
	{
		return left::id() + only();
	}
	int only() const override
	{
		return right::only() * 2;
	}
};

int main()
{
	int sum = 0;
	std::vector<std::unique_ptr<root>> all;

	all.push_back(std::make_unique<both>());
	for (int i = 0; i < 5; i++) {
		all.emplace_back(all.back()->copy());
		if (auto *r = dynamic_cast<right *>(all.back().get()))
			sum += r->only() + r->id();
		int (right::*m)() const = i & 1 ? &right::only : &right::id;
		sum += (dynamic_cast<right *>(all[0].get())->*m)();
	}
	all.clear();
	std::printf("%d %d\n", sum, trace_);
}
