/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, eight bytes at a time where the processor can.
 *
 * Sealing runs over every shard at exit, while the user waits: SSE 4.2 has an
 * instruction for exactly this polynomial.  The table of abi/crc32c.h is the
 * definition and the way for older processors.
 *
 * Cost: measured, per 8 bytes: 1.5 ns with the instruction, 60 ns without
 * (2-core VM, busy).
 */
#include "runtime/crc.h"

#include "abi/crc32c.h"
#include "runtime/sys.h"

#define CPUID_SSE42 (1u << 20)

static bool has_instruction(void)
{
	uint32_t a = 1, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (c & CPUID_SSE42) != 0;
}

static uint32_t by_instruction(const unsigned char *p, size_t n)
{
	uint64_t crc = 0xffffffffu;

	for (; n >= 8; p += 8, n -= 8)
		__asm__("crc32q %1, %0"
		        : "+r"(crc)
		        : "m"(*(const uint64_t *)p));
	for (; n > 0; p++, n--)
		__asm__("crc32b %1, %0" : "+r"(crc) : "m"(*p));
	return ~(uint32_t)crc;
}

uint32_t crc_of(const void *data, size_t n)
{
	return has_instruction() ? by_instruction(data, n) : crc32c(0, data, n);
}
