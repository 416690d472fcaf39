/* SPDX-License-Identifier: Apache-2.0 */
// Throws out of callbacks: of std::sort, and of qsort in C.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int calls;

static int compare(const void *a, const void *b)
{
	if (++calls % 37 == 0)
		throw calls;
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

int main()
{
	int sum = 0, caught = 0;

	for (int n = 2; n < 20; n++) {
		std::vector<int> v(n);
		for (int i = 0; i < n; i++)
			v[i] = i * 7919 % 31;
		try {
			std::sort(v.begin(), v.end(), [](int a, int b) {
				if (++calls % 41 == 0)
					throw 'c';
				return a < b;
			});
			std::qsort(v.data(), v.size(), sizeof(int), compare);
			sum += v[n / 2];
		} catch (int) {
			caught++;
		} catch (char) {
			caught += 100;
		}
	}
	std::printf("%d %d %d\n", sum, caught, calls);
}
