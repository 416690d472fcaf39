/* SPDX-License-Identifier: Apache-2.0 */
/* The other half of shapes_main.cpp. */
#include "shapes.hpp"

namespace
{
struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
	std::string name() const override
	{
		return "square";
	}
};

struct circle : shape {
	double radius;
	explicit circle(double r) : radius(r)
	{
	}
	double area() const override
	{
		return 3 * radius * radius;
	}
};
} // namespace

shape *make(const std::string &kind, double size)
{
	if (kind == "square")
		return new square(size);
	if (kind == "circle")
		return new circle(size);
	throw std::invalid_argument("no shape is called " + kind);
}

int use_templates(int n)
{
	std::vector<int> numbers;
	ring<int, 4> last;

	for (int i = 0; i < n; i++) {
		numbers.push_back(limit(i * 37 % 91));
		last.push(numbers.back());
	}
	return largest(numbers) + last.sum();
}
