/* SPDX-License-Identifier: Apache-2.0 */
/* MD5: the test suite of RFC 1321, and all lengths around a block. */
#include "base/md5.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void assert_md5(const char *text, size_t n, const char *want)
{
	unsigned char digest[MD5_SIZE];
	char hex[2 * MD5_SIZE + 1];

	md5(text, n, digest);
	for (size_t i = 0; i < MD5_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(hex, want);
}

static void test_rfc(void **state)
{
	static const char *const texts[][2] = {
	        {"", "d41d8cd98f00b204e9800998ecf8427e"},
	        {"a", "0cc175b9c0f1b6a831c399e269772661"},
	        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
	        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
	        {"abcdefghijklmnopqrstuvwxyz",
	         "c3fcd3d76192e4007dfb496cca67e13b"},
	        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456"
	         "789",
	         "d174ab98d277d9f5a5611c2c9f419d9f"},
	        {"1234567890123456789012345678901234567890123456789012345678"
	         "9012345678901234567890",
	         "57edf4a22be3c955ac49da2e2107b67a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_md5(texts[i][0], strlen(texts[i][0]), texts[i][1]);
}

/* Zeros, of lengths where the padding changes. */
static void test_lengths(void **state)
{
	static const char zeros[129];

	(void)state;
	assert_md5(zeros, 55, "c9ea3314b91c9fd4e38f9432064fd1f2");
	assert_md5(zeros, 56, "e3c4dd21a9171fd39d208efa09bf7883");
	assert_md5(zeros, 64, "3b5d3c7d207e37dceeedd301e35e2e58");
	assert_md5(zeros, 128, "f09f35a5637839458e462e6350ecbce4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_rfc),
	        cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
