/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_RECORD_MARKS_H
#define CAIRN_TESTS_RECORD_MARKS_H

/* The marks of a recording, by hand: as src/plugin/record.c makes them. */
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

extern __thread uint64_t __cairn_record[CAIRN_RECORD_WORDS]
        __attribute__((tls_model("initial-exec")));

#define TICK (__cairn_record[CAIRN_RECORD_TICK / 8])
#define EXPECT (__cairn_record[CAIRN_RECORD_EXPECT / 8])
#define STACK (__cairn_record[CAIRN_RECORD_STACK / 8])

/* Cells of this file, in the section whose memory is only a layout. */
#define CELLS(name, n)                                                 \
	extern uint64_t name[n] __attribute__((visibility("hidden"))); \
	__asm__(".pushsection cairn_cnts, \"aw\", @nobits\n\t"         \
	        ".balign 8\n\t"                                        \
	        ".hidden " #name "\n\t"                                \
	        ".globl " #name "\n" #name ":\n\t"                     \
	        ".zero 8 * " STRING(n) "\n\t"                          \
	                               ".popsection")

void __cairn_record_copy(void *cell, void *dst, const void *src, size_t n)
        __attribute__((visibility("hidden")));
void __cairn_record_set(void *dst, int c, size_t n)
        __attribute__((visibility("hidden")));

#define CALL(name)                    \
	"leaq -128(%%rsp), %%rsp\n\t" \
	"call " name "\n\t"           \
	"leaq 128(%%rsp), %%rsp"

/* What is known when it is compiled stands in nops behind the call. */
#define mark_in(cell, p, n)                            \
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" \
	                 "pushq %0\n\t"                \
	                 "call __cairn_record_in\n\t"  \
	                 ".byte 0x0f, 0x1f, 0x80\n\t"  \
	                 ".long %c1 - .\n\t"           \
	                 ".byte 0x0f, 0x1f, 0x80\n\t"  \
	                 ".long %c2\n\t"               \
	                 "leaq 136(%%rsp), %%rsp"      \
	                 :                             \
	                 : "r"(p), "i"(cell), "i"(n)   \
	                 : "memory", "cc")

static inline uint64_t mark_enter(const void *cell)
{
	uint64_t rax = (uint64_t)(uintptr_t)cell;

	__asm__ volatile(CALL("__cairn_record_enter")
	                 : "+a"(rax)
	                 :
	                 : "memory", "cc");
	return rax;
}

static inline void mark_leave(uint64_t expected)
{
	__asm__ volatile(CALL("__cairn_record_leave")
	                 :
	                 : "a"(expected)
	                 : "memory", "cc");
}

static inline void mark_land(const void *cell)
{
	__asm__ volatile(CALL("__cairn_record_land")
	                 :
	                 : "a"(cell)
	                 : "memory", "cc");
}

static inline void mark_again(const void *cell, uint64_t frame)
{
	__asm__ volatile(CALL("__cairn_record_again")
	                 :
	                 : "a"(cell), "d"(frame)
	                 : "memory", "cc");
}

#define GS __attribute__((address_space(256)))
#define SHADOW(p) ((GS __typeof__(*(p)) *)(uintptr_t)(p))

/* v = *p, with its check. */
#define LOAD(cell, p)                                                    \
	({                                                               \
		__typeof__(*(p)) v_ = *(volatile __typeof__(*(p)) *)(p); \
                                                                         \
		if (v_ != *SHADOW(p)) {                                  \
			*SHADOW(p) = v_;                                 \
			mark_in(cell, p, sizeof(v_));                    \
		}                                                        \
		v_;                                                      \
	})

#define STORE(p, v)                        \
	do {                               \
		__typeof__(*(p)) v_ = (v); \
                                           \
		*(p) = v_;                 \
		*SHADOW(p) = v_;           \
	} while (0)

/* A value that is no memory: in its cell. */
#define INPUT(cell, v)                          \
	do {                                    \
		uint64_t v_ = (uint64_t)(v);    \
                                                \
		if (v_ != *SHADOW(cell)) {      \
			*SHADOW(cell) = v_;     \
			mark_in(cell, cell, 8); \
		}                               \
	} while (0)

#endif /* CAIRN_TESTS_RECORD_MARKS_H */
