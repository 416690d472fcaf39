// What two files of a program have in common, of which the linker takes one.
#include <sstream>
#include <string>

template <class T> struct Box {
	T value{};

	virtual ~Box() = default;
	virtual void set(T x)
	{
		for (T i = 0; i < 3; i++)
			if (x > i)
				value = x - i;
	}
};

inline int shared(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += i % 3 ? 1 : 2;
	return sum;
}

inline std::string text_of(int x)
{
	std::ostringstream out;

	out << x;
	return out.str();
}

Box<int> *make(int x);
__attribute__((weak)) int weakling(int x);
