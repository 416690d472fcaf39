// SPDX-License-Identifier: Apache-2.0
//
// What clang says when the plugin has made a mistake: one sentence of ours,
// instead of LLVM's, which asks to report a mistake of LLVM.
//
// From the moment that marks are in a module, what LLVM cannot do with it may
// be because of them; clang's own handler knows nothing of that.
#include "ir/said.h"
#include "plugin/shim.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <string>
#include <unistd.h>

using namespace llvm;

#define REMEDY                                                     \
	"; compile this file with clang instead of cairn-cc, and " \
	"report this as a mistake of Cairn\n"

static struct {
	std::string Source, Function;
} Now;

void shim_work_on(LLVMModuleRef Module, LLVMValueRef Value)
{
	Now.Source = unwrap(Module)->getSourceFileName();
	Now.Function = Value ? unwrap<Function>(Value)->getName().str() : "";
}

// Without what other threads, or a broken module, could stop.
[[noreturn]] static void giveUp(StringRef What)
{
	errs() << "cairn: " << Now.Source << ": ";
	if (!Now.Function.empty())
		errs() << "function " << Now.Function << ": ";
	errs() << What << REMEDY;
	errs().flush();
	sys::RunInterruptHandlers(); // removes files that are not whole
	_exit(1);
}

static void handleError(void *, const char *Reason, bool)
{
	giveUp(("with marks LLVM cannot compile it: " +
	        StringRef(Reason, ir_said(Reason)))
	               .str());
}

void shim_catch_errors(void)
{
	remove_fatal_error_handler();
	install_fatal_error_handler(handleError);
}

// Of all assertions in the plugin, those in LLVM's headers, too; the symbol is
// the plugin's own.
extern "C" void __assert_fail(const char *Assertion, const char *File,
                              unsigned Line, const char *) noexcept
{
	giveUp(("an assumption of Cairn does not hold (" + Twine(File) + ":" +
	        Twine(Line) + ": " + Assertion + ")")
	               .str());
}
