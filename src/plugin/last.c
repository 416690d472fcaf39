/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record,last=SIZE: how much of its log a program keeps, and which program
 * helps it (runtime/record_follow.c): cairn-replay, which is installed beside
 * this plugin.
 */
#include "plugin/last.h"

#include <dlfcn.h>
#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/alloc.h"
#include "plugin/function.h"

#define TOOL "cairn-replay"

static char *find_tool(void)
{
	static const char here;
	Dl_info info;
	const char *slash;
	char *whole, *tool;

	if (!dladdr(&here, &info) || !info.dli_fname)
		return xstrdup(TOOL);
	whole = realpath(info.dli_fname, NULL);
	slash = whole ? strrchr(whole, '/') : NULL;
	tool = slash ? xasprintf("%.*s" TOOL, (int)(slash + 1 - whole), whole)
	             : xstrdup(TOOL);
	free(whole);
	return tool;
}

static void say_text(LLVMModuleRef module, const char *name, const char *text)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef v =
	        LLVMConstStringInContext2(context, text, strlen(text), false);
	LLVMValueRef g;

	if (LLVMGetNamedGlobal(module, name))
		return;
	g = LLVMAddGlobal(module, LLVMTypeOf(v), name);
	LLVMSetInitializer(g, v);
	LLVMSetGlobalConstant(g, true);
	LLVMSetVisibility(g, LLVMHiddenVisibility);
	LLVMSetComdat(g, LLVMGetOrInsertComdat(module, name));
}

void last_say(LLVMModuleRef module, uint64_t size)
{
	char *tool = find_tool();

	trace_say(module, CAIRN_RT_RECORD_LAST, size);
	say_text(module, CAIRN_RT_RECORD_TOOL, tool);
	free(tool);
}
