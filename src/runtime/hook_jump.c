/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  longjmp and its family: the frames that it leaves are
 * looked at before it leaves them.
 *
 * On x86-64 glibc keeps the stack pointer and the program counter in slots 6
 * and 7 of a jmp_buf, rotated left by 17 after an exclusive or with the
 * thread's pointer guard.  Behind the slots stand an int, whether the mask of
 * signals was saved, and the mask.
 *
 * siglongjmp restores the mask before it jumps: a signal that waits comes while
 * the thread is still on the stack of the handler that it leaves, and if the
 * next one is there by then, so does that, further down.  A recording takes
 * longer to leave a handler (record.c), and such handlers would fill any stack
 * (measured: 64 KB, a signal every 0.2 ms).  So there the jump is made from
 * just below the frame that it goes to, where each begins anew.
 *
 * Cost: measured over four frames seen before: 60 to 70 ns in all, against 20
 * to 40 ns without us (2-core VM, busy); over nine (Lua) 650 instructions in
 * all, 770 if they have path registers.
 */
#include "runtime/exe.h"

#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/walk.h"

#define SLOT_SP 6
#define SLOT_PC 7
#define GUARD_SHIFT 17
#define ENV_SIZE 200u       /* sizeof(jmp_buf) */
#define ENV_USED (72u + 8u) /* slots, int, what the kernel has of a mask */
#define BELOW 512u          /* that frame: for the copy of the jmp_buf */

void jump_below(const void *env, int value, void (*f)(void *, int), void *to,
                size_t n) __attribute__((visibility("hidden")));

static uintptr_t demangle(uint64_t word)
{
	uint64_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return (word >> GUARD_SHIFT | word << (64 - GUARD_SHIFT)) ^ guard;
}

/* The jmp_buf may lie there, if it is a copy: so it is copied. */
static void leave_from_below(const struct jump *j, void (*f)(void *, int))
{
	const uint64_t *slot = j->env;
	uintptr_t to = (demangle(slot[SLOT_SP]) - BELOW) & ~(uintptr_t)63;
	uint64_t env[ENV_SIZE / 8];

	rt_zero(env, sizeof(env));
	rt_copy(env, j->env, ENV_USED);
	jump_below(env, j->value, f, (void *)to, ENV_SIZE / 8);
}

static void leave_by(const struct jump *j, void (*f)(void *, int))
{
	if (j->is_blocked)
		sys_restore_signals(&j->mask);
	if (process.is_recording)
		leave_from_below(j, f);
	f(j->env, j->value);
}

static void leave(struct jump *j)
{
	leave_by(j, libc.longjmp);
}

static void leave_checked(struct jump *j)
{
	leave_by(j, libc.longjmp_chk);
}

static inline _Noreturn void jump(void *env, int value,
                                  const struct jump_frame *f,
                                  void (*then)(struct jump *))
{
	const uint64_t *slot = env;
	struct jump j;

	j.then = then;
	j.env = env;
	j.value = value;
	jump_leave(&j, f, demangle(slot[SLOT_SP]), demangle(slot[SLOT_PC]));
	__builtin_unreachable();
}

__attribute__((used)) static _Noreturn void
jump_plain(void *env, int value, const struct jump_frame *f)
{
	jump(env, value, f, leave);
}

__attribute__((used)) static _Noreturn void
jump_checked(void *env, int value, const struct jump_frame *f)
{
	jump(env, value, f, leave_checked);
}

/* weak: a program may have its own */
#define SHOWN __attribute__((visibility("default"), weak))
#define NAKED __attribute__((naked))

const char hook_jump_member = 1;

SHOWN _Noreturn void longjmp(void *env, int value);
SHOWN _Noreturn void _longjmp(void *env, int value);
SHOWN _Noreturn void siglongjmp(void *env, int value);
SHOWN _Noreturn void __longjmp_chk(void *env, int value);

NAKED void longjmp(void *env, int value)
{
	__asm__(JUMP_ENTER : : "i"(jump_plain));
}

NAKED void _longjmp(void *env, int value)
{
	__asm__(JUMP_ENTER : : "i"(jump_plain));
}

NAKED void siglongjmp(void *env, int value)
{
	__asm__(JUMP_ENTER : : "i"(jump_plain));
}

NAKED void __longjmp_chk(void *env, int value)
{
	__asm__(JUMP_ENTER : : "i"(jump_checked));
}
