// SPDX-License-Identifier: Apache-2.0
// Functions with a variable number of arguments, which have one entry, throw
// through it: with and without a destructor, to code with and without marks.
#include <cstdarg>
#include <cstdio>
#include <string>

extern "C" int outside(int (*F)(int, ...), int N);

struct Noisy {
	int Id;
	explicit Noisy(int I) : Id(I)
	{
	}
	~Noisy()
	{
		printf("~%d\n", Id);
	}
};

static int sum(int N, va_list Rest)
{
	int S = 0;

	for (int I = 0; I < N; I++)
		S += va_arg(Rest, int);
	if (S > 8)
		throw std::string("too much");
	return S;
}

extern "C" int loud(int N, ...)
{
	Noisy D(N);
	va_list Rest;
	int S;

	va_start(Rest, N);
	S = sum(N, Rest);
	va_end(Rest);
	return S;
}

extern "C" int quiet(int N, ...)
{
	va_list Rest;
	int S;

	va_start(Rest, N);
	S = sum(N, Rest);
	va_end(Rest);
	return S;
}

int main()
{
	int T = 0;

	for (int I = 0; I < 6; I++) {
		T = T * 7 + outside(loud, I);
		T = T * 7 + outside(quiet, I);
		try {
			T += loud(2, 3 * I, I) + quiet(2, 3 * I, I);
		} catch (const std::string &S) {
			T += int(S.size());
		}
	}
	printf("%d\n", T);
	return 0;
}
