// SPDX-License-Identifier: Apache-2.0
// As returns.c, where calls may throw, and in virtual functions.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

static unsigned long Sum;

// As many turns as a number says: a replay that has another one diverges.
static __attribute__((noinline)) void spin(unsigned long N)
{
	for (unsigned long I = 0; I < N % 13; I++)
		__asm__ volatile("");
}

struct Guard {
	unsigned long *Count;

	~Guard()
	{
		Sum += *Count % 5;
	}
};

struct Node {
	unsigned Number;
	unsigned long Use; // never set: whatever was there
	std::unique_ptr<Node> Next, Other;

	explicit Node(unsigned N) : Number(N)
	{
	}
	virtual ~Node()
	{
		Sum += Use % 2;
	}

	__attribute__((noinline)) virtual unsigned visit(unsigned Depth)
	{
		Guard G = {&Use};
		unsigned N = 0;

		if (Depth > 40)
			throw std::runtime_error("too deep");
		if (Next)
			N = Next->visit(Depth + 1);
		if (Other && N % 3)
			N += Other->visit(Depth + 2);
		Use += Number;
		return N + 1;
	}
};

struct Careful : Node {
	using Node::Node;

	unsigned visit(unsigned Depth) override
	{
		unsigned N = 7;

		try {
			N = Node::visit(Depth);
		} catch (const std::runtime_error &) {
			Sum++;
		}
		Use++;
		return N;
	}
};

static std::unique_ptr<Node> make(unsigned N)
{
	if (!N)
		return nullptr;
	std::unique_ptr<Node> P(N % 4 ? new Node(N) : new Careful(N));
	P->Next = make(N - 1);
	if (N % 9 == 0)
		P->Other = make(N / 3);
	return P;
}

int main()
{
	std::vector<std::unique_ptr<char[]>> Dirt;

	for (unsigned I = 1; I < 2000; I++) {
		size_t Size = I % 60 + 8;

		Dirt.emplace_back(new char[Size]);
		for (size_t K = 0; K < Size; K++)
			Dirt.back()[K] = char(I * K);
	}
	Dirt.clear();
	Sum = 0;
	for (unsigned I = 0; I < 40; I++)
		try {
			auto Root = make(20 + I);

			Sum += Root->visit(0);
			spin(Sum);
			Sum += Root->visit(I % 3);
			spin(Sum);
			for (Node *N = Root.get(); N; N = N->Next.get())
				spin(N->Use);
		} catch (const std::exception &E) {
			std::puts(E.what());
		}
	std::puts("done");
}
