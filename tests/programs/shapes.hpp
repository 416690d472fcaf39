/* SPDX-License-Identifier: Apache-2.0 */
/* Templates, inline functions and classes that several files use. */
#ifndef CAIRN_TESTS_SHAPES_HPP
#define CAIRN_TESTS_SHAPES_HPP

#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const
	{
		return "shape";
	}
};

inline int limit(int x)
{
	if (x > 100)
		throw std::out_of_range("limit " + std::to_string(x));
	return x < 0 ? -x : x;
}

template <typename T> T largest(const std::vector<T> &all)
{
	T best = all.at(0);

	for (const T &one : all)
		if (best < one)
			best = one;
	return best;
}

template <typename T, int N> struct ring {
	T items[N] = {};
	int at = 0;

	void push(T x)
	{
		items[at] = x;
		at = (at + 1) % N;
	}
	T sum() const
	{
		T s = T();

		for (const T &x : items)
			s = s + x;
		return s;
	}
};

shape *make(const std::string &kind, double size);
int use_templates(int n);

#endif /* CAIRN_TESTS_SHAPES_HPP */
