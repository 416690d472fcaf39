/* SPDX-License-Identifier: Apache-2.0 */
// std::regex: much code that nobody else instantiates.
// defect: 3
// levels: -O1 -O2
#include <iostream>
#include <regex>
#include <string>

int main()
{
	const std::regex word("([a-z]+)-([0-9]{2,3})(x?)");
	const std::string text = "ab-12 cd-1 ef-345x -99 gh-77xx";
	std::smatch m;
	auto from = text.cbegin();

	while (std::regex_search(from, text.cend(), m, word)) {
		std::cout << m[1] << '=' << m[2] << m[3].length() << '\n';
		from = m.suffix().first;
	}
	try {
		std::regex bad("(a");
	} catch (const std::regex_error &e) {
		std::cout << "refused\n";
	}
	std::cout << std::regex_replace(text, std::regex("-"), "+") << '\n';
}
