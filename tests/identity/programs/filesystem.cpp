/* SPDX-License-Identifier: Apache-2.0 */
// std::filesystem and file streams, errors as exceptions and as codes.
// cc: -std=c++17
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace fs = std::filesystem;

int main()
{
	fs::path dir = "things.d";
	std::set<std::string> names;
	std::error_code code;

	fs::remove_all(dir);
	fs::create_directories(dir / "a" / "b");
	for (int i = 0; i < 3; i++)
		std::ofstream(dir / ("f" + std::to_string(i))) << i * 11;
	for (auto &entry : fs::recursive_directory_iterator(dir))
		names.insert(entry.path().filename().string());
	for (auto &n : names)
		std::cout << n << ' ';
	int x = 0;
	std::ifstream(dir / "f2") >> x;
	std::cout << x << ' ' << fs::file_size(dir / "f1") << '\n';
	try {
		fs::file_size(dir / "none");
	} catch (const fs::filesystem_error &e) {
		std::cout << e.path1().filename() << '\n';
	}
	std::cout << fs::remove_all(dir) << ' ' << fs::exists(dir, code)
	          << '\n';
}
