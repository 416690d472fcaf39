/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_RUNTIME_MARKS_H
#define CAIRN_TESTS_RUNTIME_MARKS_H

/*
 * What the plugin generates, written by hand: a counter per use of COUNT, in
 * the NOBITS section that is only a layout, and the entry sequence.
 */
#include <stdint.h>

__attribute__((visibility("hidden"), preserve_most)) int64_t
__cairn_link_with_cairn_cc(void);

/*
 * ENTER is for a function that anybody may call, ENTER_LOCAL for one that only
 * such functions call: their delta is there, so it does not look.
 */
#ifdef SHARED_MARKS
extern __thread char *__cairn_thread __attribute__((tls_model("initial-exec")));
extern int64_t __cairn_module_offset __attribute__((visibility("hidden")));
#define ENTER_LOCAL() \
	int64_t delta_ = *(int64_t *)(__cairn_thread + __cairn_module_offset)
#define ENTER()                           \
	ENTER_LOCAL();                    \
	if (__builtin_expect(!delta_, 0)) \
	delta_ = __cairn_link_with_cairn_cc()
#else
extern __thread int64_t __cairn_delta
        __attribute__((visibility("hidden"), tls_model("local-exec")));
#define ENTER_LOCAL() int64_t delta_ = __cairn_delta
#define ENTER()                           \
	ENTER_LOCAL();                    \
	if (__builtin_expect(!delta_, 0)) \
	delta_ = __cairn_link_with_cairn_cc()
#endif

#define COUNTER(name)                                                        \
	extern uint64_t cnt_##name[1] __attribute__((visibility("hidden"))); \
	__asm__(".pushsection cairn_cnts,\"aw\",@nobits\n"                   \
	        ".balign 8\n.globl cnt_" #name "\n.hidden cnt_" #name "\n"   \
	        "cnt_" #name ":\n.zero 8\n.popsection\n")
#define COUNT(name)                                                   \
	__asm__ volatile("addq $1, %0"                                \
	                 : "+m"(*(uint64_t *)((uintptr_t)cnt_##name + \
	                                      (uint64_t)delta_)))

/*
 * A function that counts its paths in a table: the words, and what looks at one
 * slot.  slow_calls counts the calls.
 */
extern uint64_t slow_calls __attribute__((visibility("hidden")));
#define TABLE(name)                                                          \
	extern uint64_t cnt_##name[5] __attribute__((visibility("hidden"))); \
	__asm__(".pushsection cairn_cnts,\"aw\",@nobits\n"                   \
	        ".balign 8\n.globl cnt_" #name "\n.hidden cnt_" #name "\n"   \
	        "cnt_" #name ":\n.zero 40\n.popsection\n")
#define WORDS(name) ((uint64_t *)((uintptr_t)cnt_##name + (uint64_t)delta_))
#define COUNT_PATH(name, path)                                                 \
	do {                                                                   \
		uint64_t at_;                                                  \
		__asm__ volatile("movq (%1), %0\n\t"                           \
		                 "imulq %2, %0\n\t"                            \
		                 "shrq $36, %0\n\t"                            \
		                 "andq 8(%1), %0\n\t"                          \
		                 "addq 16(%1), %0\n\t"                         \
		                 "cmpq %2, 24(%1, %0)\n\t"                     \
		                 "je 1f\n\t"                                   \
		                 "incq slow_calls(%%rip)\n\t"                  \
		                 "leaq -128(%%rsp), %%rsp\n\t"                 \
		                 "call __cairn_count_path\n\t"                 \
		                 "leaq 128(%%rsp), %%rsp\n\t"                  \
		                 "jmp 2f\n"                                    \
		                 "1:\tincq 32(%1, %0)\n"                       \
		                 "2:"                                          \
		                 : "=&r"(at_)                                  \
		                 : "D"(WORDS(name)), "S"((uint64_t)(path) + 1) \
		                 : "memory", "cc");                            \
	} while (0)

#endif /* CAIRN_TESTS_RUNTIME_MARKS_H */
