/* SPDX-License-Identifier: Apache-2.0 */
// Many instances of the same source line, of all depths and types.
// cc: -std=c++17
#include <array>
#include <cstdio>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

template <int N, class T> struct deep {
	static T sum(T x)
	{
		if (x > N)
			return deep<N - 1, T>::sum(x - 1) + N;
		return deep<N - 2, T>::sum(x + 2);
	}
};

template <class T> struct deep<0, T> {
	static T sum(T x)
	{
		return x;
	}
};

template <class T> struct deep<-1, T> {
	static T sum(T x)
	{
		return -x;
	}
};

template <class... A> static int count(const A &...all)
{
	return (0 + ... + static_cast<int>(sizeof(all)));
}

template <class... F> struct either : F... {
	using F::operator()...;
};
template <class... F> either(F...) -> either<F...>;

int main()
{
	std::vector<std::variant<int, double, std::string>> all = {
	        1, 2.5, "three", 4, std::string("five")};
	int sum = 0;

	for (auto &v : all)
		sum += std::visit(either{[](int i) { return i; },
		                         [](double d) { return int(d * 2); },
		                         [](const std::string &s) {
			                         return int(s.size());
		                         }},
		                  v);
	sum += deep<30, int>::sum(12) + int(deep<17, long>::sum(40));
	sum += int(deep<9, short>::sum(3));
	std::apply([&](auto... x) { sum += count(x...); },
	           std::make_tuple(1, 'c', 2.0));
	std::printf("%d\n", sum);
}
