/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where IR that somebody sent is read.  LLVM's reader checks what
 * it needs itself; its verifier, the rest.  The reader would call that on its
 * own, to upgrade debug information of older versions, and print what is wrong,
 * or end the process: it is told not to.  IR that was made to do harm may crash
 * the reader all the same, which is told as IR that cannot be read.
 */
#include "replay/bitcode.h"

#include "replay/fatal.h"

#include <stdbool.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>

static void leave_debug_info(void)
{
	static const char *const options[] = {
	        "cairn-replay", "-disable-auto-upgrade-debug-info"};
	static bool is_told;

	if (!is_told)
		LLVMParseCommandLineOptions(2, options, "");
	is_told = true;
}

LLVMModuleRef bitcode_parse(LLVMContextRef context,
                            const unsigned char *bitcode, size_t n)
{
	LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRange(
	        (const char *)bitcode, n, "", 0);
	LLVMModuleRef m = NULL;
	bool is_bad;

	leave_debug_info();
	fatal_read(true);
	is_bad = LLVMParseBitcodeInContext2(context, bytes, &m);
	LLVMDisposeMemoryBuffer(bytes);
	if (!is_bad && LLVMVerifyModule(m, LLVMReturnStatusAction, NULL)) {
		LLVMDisposeModule(m);
		is_bad = true;
	}
	fatal_read(false);
	return is_bad ? NULL : m;
}
