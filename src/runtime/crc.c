/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, eight bytes at a time where the processor can.
 *
 * Sealing runs over every shard at exit, while the user waits: SSE 4.2 has an
 * instruction for exactly this polynomial.  Processors of before 2008 go bit by
 * bit: the table of abi/crc32c.h would be a kilobyte in every program.
 *
 * Pages of zeros need not be looked at.  A CRC is a remainder modulo P, and n
 * more bytes of zeros multiply it by x^(8n) (Peterson and Brown, "Cyclic codes
 * for error detection", 1961); for n pages that power is found by squaring.
 *
 * Cost: measured, per 8 bytes: 0.9 ns with the instruction, 75 to 105 ns
 * without (2-core VM, busy); for n pages of zeros about 150 log2(n)
 * instructions.
 */
#include "runtime/crc.h"

#include "runtime/sys.h"

#define CPUID_SSE42 (1u << 20)
#define POLYNOMIAL 0x82f63b78u /* reflected, as in abi/crc32c.h */

#define ONE_PAGE 0x35d73a62u /* x^(8 * 4096) mod P, reflected */

/* Asked once: cpuid takes microseconds in a virtual machine. */
static bool has_instruction(void)
{
	static uint8_t known; /* 0: not asked, 1: no, 2: yes */
	uint32_t a = 1, b, c = 0, d;

	if (!known) {
		__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		known = c & CPUID_SSE42 ? 2 : 1;
	}
	return known == 2;
}

static uint32_t by_instruction(uint32_t crc32, const unsigned char *p, size_t n)
{
	uint64_t crc = crc32;

	for (; n >= 8; p += 8, n -= 8)
		__asm__("crc32q %1, %0"
		        : "+r"(crc)
		        : "m"(*(const uint64_t *)p));
	for (; n > 0; p++, n--)
		__asm__("crc32b %1, %0" : "+r"(crc) : "m"(*p));
	return (uint32_t)crc;
}

static uint32_t bit_by_bit(uint32_t crc, const unsigned char *p, size_t n)
{
	for (; n > 0; p++, n--) {
		crc ^= *p;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

uint32_t crc_add(uint32_t crc, const void *data, size_t n)
{
	return has_instruction() ? ~by_instruction(~crc, data, n)
	                         : ~bit_by_bit(~crc, data, n);
}

/* a * b mod P: reflected, the highest power is the lowest bit. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a >> 31)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
	}
	return product;
}

uint32_t crc_add_zeros(uint32_t crc, size_t pages)
{
	uint32_t power = ONE_PAGE;

	for (crc = ~crc; pages; pages >>= 1) {
		if (pages & 1)
			crc = multiply(power, crc);
		power = multiply(power, power);
	}
	return ~crc;
}
