// SPDX-License-Identifier: Apache-2.0
// Exceptions through frames with and without destructors, rethrown, caught
// where they are not thrown; virtual calls; templates of the library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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

static void deep(int N)
{
	Noisy D(N);

	if (N == 0)
		throw std::runtime_error("boom");
	deep(N - 1);
}

static int passes(int N)
{
	try {
		deep(N);
	} catch (const std::logic_error &) {
		return 1;
	}
	return 0;
}

struct Base {
	virtual ~Base() = default;
	virtual int f(int X) = 0;
};

struct One : Base {
	int f(int X) override
	{
		return X + 1;
	}
};

struct Two : Base {
	int K;
	explicit Two(int I) : K(I)
	{
	}
	int f(int X) override
	{
		if (X == K)
			throw X;
		return X * 2;
	}
};

static int rethrows(Base &B, int X)
{
	try {
		return B.f(X);
	} catch (int K) {
		try {
			throw;
		} catch (...) {
			return 1000 * K;
		}
	}
}

extern "C" int compare(const void *A, const void *B)
{
	static int Calls;

	if (++Calls == 20)
		throw std::string("enough");
	return *static_cast<const int *>(A) - *static_cast<const int *>(B);
}

// Through code that is not ours.
static void sorts()
{
	int V[50];

	for (int I = 0; I < 50; I++)
		V[I] = I * 7919 % 101;
	try {
		qsort(V, 50, sizeof(*V), compare);
	} catch (const std::string &S) {
		printf("%s\n", S.c_str());
	}
}

int main(int argc, char **)
{
	std::vector<std::unique_ptr<Base>> V;
	std::map<std::string, int> M;
	int S = 0;

	try {
		passes(3);
	} catch (const std::exception &E) {
		printf("caught %s\n", E.what());
	}
	V.emplace_back(new One);
	V.emplace_back(new Two(argc + 4));
	for (int I = 0; I < 10; I++)
		for (auto &P : V)
			S += rethrows(*P, I);
	for (int I = 0; I < 20; I++)
		M[std::to_string(I * I % 7)] += I;
	for (auto &[K, X] : M)
		S += int(K.size()) * X;
	printf("%d\n", S);
	sorts();
	try {
		V.at(5);
	} catch (const std::exception &E) {
		printf("%s\n", E.what());
	}
	return 0;
}
