/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, eight bytes at a time where the processor can.
 *
 * Sealing runs over every shard at exit, while the user waits: SSE 4.2 has an
 * instruction for exactly this polynomial.  Processors of before 2008 go bit by
 * bit: the table of abi/crc32c.h would be a kilobyte in every program.
 *
 * Cost: measured, per 8 bytes: 0.9 ns with the instruction, 75 to 105 ns
 * without (2-core VM, busy).
 */
#include "runtime/crc.h"

#include "runtime/sys.h"

#define CPUID_SSE42 (1u << 20)
#define POLYNOMIAL 0x82f63b78u /* reflected, as in abi/crc32c.h */

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

static uint32_t bit_by_bit(const unsigned char *p, size_t n)
{
	uint32_t crc = 0xffffffffu;

	for (; n > 0; p++, n--) {
		crc ^= *p;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return ~crc;
}

uint32_t crc_of(const void *data, size_t n)
{
	return has_instruction() ? by_instruction(data, n)
	                         : bit_by_bit(data, n);
}
