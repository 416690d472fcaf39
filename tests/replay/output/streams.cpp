// SPDX-License-Identifier: Apache-2.0
// Streams of C++, with stdio and without.
#include <ctime>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>

struct point {
	double x, y;
};

static std::ostream &operator<<(std::ostream &o, const point &p)
{
	return o << '(' << p.x << ", " << p.y << ')';
}

int main(int argc, char **)
{
	auto p = std::make_unique<int>(7);

	if (argc > 1)
		std::ios::sync_with_stdio(false);
	std::cout << "pid " << getpid() << " time " << std::time(nullptr)
	          << " at " << p.get() << '\n';
	std::cout << "line " << __LINE__ << std::endl;
	std::cout << std::setprecision(17) << point{1 / 3.0, 2e-300} << "\n";
	std::cerr << "error " << std::hex << 255 << std::endl;
	std::clog << "log\n" << std::flush;
	std::cout << std::string(5000, 'x') << std::setw(20) << "right"
	          << std::endl;
	std::cout.put('c').put('\n');
	std::cout.write("written", 7);
	try {
		throw std::string("thrown");
	} catch (const std::string &s) {
		std::cout << s << "\n";
	}
	std::cout << "not flushed";
	return 0;
}
