/* SPDX-License-Identifier: Apache-2.0 */
/* The types that C has by itself, as they are on x86-64. */
#include "replay/type.h"

#define WHOLE(name_, bytes, is_signed_)                                 \
	{                                                               \
		.kind = TYPE_INTEGER, .name = (name_), .size = (bytes), \
		.is_signed = (is_signed_)                               \
	}

#define REAL(name_, bytes)                                           \
	{                                                            \
		.kind = TYPE_REAL, .name = (name_), .size = (bytes), \
		.is_signed = true                                    \
	}

const struct type type_void = {.kind = TYPE_VOID, .name = "void"};
const struct type type_bool = {.kind = TYPE_BOOL, .name = "bool", .size = 1};
const struct type type_char = {.kind = TYPE_INTEGER,
                               .name = "char",
                               .size = 1,
                               .is_signed = true,
                               .is_char = true};
const struct type type_schar = {.kind = TYPE_INTEGER,
                                .name = "signed char",
                                .size = 1,
                                .is_signed = true,
                                .is_char = true};
const struct type type_uchar = {.kind = TYPE_INTEGER,
                                .name = "unsigned char",
                                .size = 1,
                                .is_char = true};
const struct type type_short = WHOLE("short", 2, true);
const struct type type_ushort = WHOLE("unsigned short", 2, false);
const struct type type_int = WHOLE("int", 4, true);
const struct type type_uint = WHOLE("unsigned int", 4, false);
const struct type type_long = WHOLE("long", 8, true);
const struct type type_ulong = WHOLE("unsigned long", 8, false);
const struct type type_llong = WHOLE("long long", 8, true);
const struct type type_ullong = WHOLE("unsigned long long", 8, false);
const struct type type_int128 = WHOLE("__int128", 16, true);
const struct type type_uint128 = WHOLE("unsigned __int128", 16, false);
const struct type type_float = REAL("float", 4);
const struct type type_double = REAL("double", 8);
const struct type type_long_double = REAL("long double", 16);
