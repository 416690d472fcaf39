/* SPDX-License-Identifier: Apache-2.0 */
// Streams of the library: their tables of virtual tables, in COMDAT groups.
// defect: 3
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

int main()
{
	std::ostringstream out;
	std::istringstream in("12 3.5 word 0x1f");
	int i;
	double d;
	std::string s;
	unsigned h;

	in >> i >> d >> s >> std::hex >> h;
	out << std::setw(8) << std::setfill('.') << i * 2 << ' ' << std::fixed
	    << std::setprecision(2) << d << ' ' << s << ' ' << h;
	in.clear();
	in >> i;
	std::cout << out.str() << (in.fail() ? " fail" : " fine") << std::endl;
}
