/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the library in its argument where the low 32 bits of its addresses are
 * those of this program. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define AT ((uintptr_t)0x7000 << 32)

int main(int argc, char **argv)
{
	uintptr_t end = AT + (uint32_t)(uintptr_t)main + 0x120000;
	int (*f)(int);
	void *library;

	end &= ~(uintptr_t)0xfff;
	for (size_t n = (size_t)1 << 34; n >= 4096;) {
		void *p = mmap(NULL, n, PROT_NONE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		               0);

		if (p != MAP_FAILED && (uintptr_t)p >= end)
			continue;
		if (p != MAP_FAILED)
			munmap(p, n);
		n /= 2;
	}
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library)
		return 2;
	*(void **)&f = dlsym(library, "in_library");
	if (((uintptr_t)f ^ AT) >> 32)
		return 3;
	return f(3) != 4;
}
