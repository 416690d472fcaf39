// SPDX-License-Identifier: Apache-2.0
// Names with qualifiers, and values that are no words.
namespace ns
{
struct P {
	static int cnt;
	static int other;
};
int P::cnt = 1;
int P::other = 1;
namespace
{
int hidden;
}
} // namespace ns

template <typename T, int N> struct Box {
	static T last;
};
template <typename T, int N> T Box<T, N>::last;

int cnt;
__int128 wide = -5;
unsigned __int128 high;
long double precise = 1.5L;

struct flags {
	char before;
	unsigned a : 3;
	int b : 5;
	unsigned c : 11;
};
flags one;
flags many[3];

int main()
{
	volatile int n = 4;

	ns::P::cnt = n;
	ns::P::other = n + 1;
	ns::hidden = n + 2;
	cnt = n + 3;
	Box<int, 2>::last = 2 * n;
	Box<int, 3>::last = 3 * n;
	wide = -(static_cast<__int128>(n) << 100);
	high = ~static_cast<unsigned __int128>(0) - static_cast<unsigned>(n);
	precise = 1.0L / (n - 1);
	one.a = static_cast<unsigned>(n) & 7;
	one.b = -n;
	one.c = 1000;
	many[2].b = n - 5;
	return ns::P::cnt + ns::P::other + ns::hidden + cnt == 0;
}
