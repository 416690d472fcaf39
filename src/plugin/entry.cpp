// SPDX-License-Identifier: Apache-2.0
//
// The entry: clang and lld hand a plugin a C++ PassBuilder.  This file takes
// the options, registers the pass at the ends of the optimizer where it has
// work, and calls C: plugin.c.  Its neighbours shim.cpp and sections.cpp hold
// what else LLVM-C cannot do.
#include "plugin/shim.hpp"

extern "C" {
#include "base/text.h"
}

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Transforms/Utils/AddDiscriminators.h"

#include <cstdlib>
#include <string>

using namespace llvm;

static cl::opt<std::string> OptMode("cairn-mode", cl::Hidden,
                                    cl::desc("Cairn: what to record"));
static cl::opt<std::string> OptFeedback("cairn-feedback", cl::Hidden,
                                        cl::desc("Cairn: measured weights"));
static cl::opt<std::string> OptInterest("cairn-interest", cl::Hidden,
                                        cl::desc("Cairn: paths of a profile"));
static cl::opt<std::string> OptUse("cairn-use", cl::Hidden,
                                   cl::desc("Cairn: counts to optimize by"));
static cl::opt<std::string> OptStage("cairn-stage", cl::Hidden,
                                     cl::init("late"),
                                     cl::desc("Cairn: late or source"));
static cl::opt<bool> OptLto("cairn-lto", cl::Hidden,
                            cl::desc("Cairn: marks go in at link time"));

static cl::opt<bool> OptVerify("cairn-verify", cl::Hidden,
                               cl::desc("Cairn: check the marked module"));

namespace
{

// What a profile or a list says may be in a message: terminals just show it.
static std::string shown(StringRef Text)
{
	char *Escaped = text_escape(Text.data(), Text.size());
	std::string Result = Escaped;

	free(Escaped);
	return Result;
}

class CairnPass : public PassInfoMixin<CairnPass>
{
	plugin_moment Moment;
	bool AtLink;

      public:
	CairnPass(plugin_moment Moment, bool AtLink)
	    : Moment(Moment), AtLink(AtLink)
	{
	}

	static bool isRequired()
	{
		return true;
	}

	// Options of this compilation, or those that travelled in bitcode.
	static plugin_options options(Module &M)
	{
		if (!OptMode.empty())
			return {OptMode.c_str(), OptFeedback.c_str(),
			        OptStage.c_str(), OptInterest.c_str()};
		auto *List = M.getNamedMetadata(PLUGIN_OPTIONS);
		if (!List || !List->getNumOperands())
			return {nullptr, "", "", ""};
		const MDNode *Node = List->getOperand(0);
		auto text = [&](unsigned I) {
			return cast<MDString>(Node->getOperand(I))
			        ->getString()
			        .data();
		};
		return {text(0), text(1), text(2), text(3)};
	}

	// Link-time optimization: marks go in there; leave word in the module.
	static void leaveWord(Module &M)
	{
		LLVMContext &C = M.getContext();
		auto *List = M.getOrInsertNamedMetadata(PLUGIN_OPTIONS);

		if (List->getNumOperands())
			return;
		auto text = [&](const std::string &S) {
			return MDString::get(
			        C, StringRef(S.c_str(), S.size() + 1));
		};
		List->addOperand(
		        MDNode::get(C, {text(OptMode), text(OptFeedback),
		                        text(OptStage), text(OptInterest)}));
	}

	PreservedAnalyses run(Module &M, ModuleAnalysisManager &Manager)
	{
		// Of a fat object the bitcode waits, the code is made now.
		if (OptLto && !AtLink && Moment == PLUGIN_LATE &&
		    !M.getNamedGlobal("llvm.embedded.object")) {
			leaveWord(M);
			shim_thaw(wrap(&M));
			return PreservedAnalyses::all();
		}
		plugin_options Options = options(M);
		if (!Options.mode)
			return PreservedAnalyses::all();
		auto &Functions =
		        Manager.getResult<FunctionAnalysisManagerModuleProxy>(M)
		                .getManager();
		struct shim Shim = {Functions};
		char Message[1024] = "";
		// what clang shows if it crashes here
		PrettyStackTraceString Trace(
		        "cairn puts marks into it: compile it with clang "
		        "instead of cairn-cc, and report this as a mistake of "
		        "Cairn");
		bool Changed =
		        cairn_plugin_run(wrap(&M), &Shim, &Options, Moment,
		                         Message, sizeof(Message));
		if (!Message[0] && Changed && OptVerify &&
		    verifyModule(M, &errs()))
			snprintf(Message, sizeof(Message),
			         "cairn: the marked module is not valid");
		if (Message[0])
			M.getContext().emitError(shown(Message));
		return Changed ? PreservedAnalyses::none()
		               : PreservedAnalyses::all();
	}
};

class CairnUse : public PassInfoMixin<CairnUse>
{
      public:
	static bool isRequired()
	{
		return true;
	}

	PreservedAnalyses run(Module &M, ModuleAnalysisManager &Manager)
	{
		if (OptUse.empty())
			return PreservedAnalyses::all();
		auto &Functions =
		        Manager.getResult<FunctionAnalysisManagerModuleProxy>(M)
		                .getManager();
		struct shim Shim = {Functions};
		char Message[1024] = "";
		bool Changed = cairn_plugin_use(wrap(&M), &Shim, OptUse.c_str(),
		                                Message, sizeof(Message));
		if (Message[0])
			M.getContext().emitError(shown(Message));
		return Changed ? PreservedAnalyses::none()
		               : PreservedAnalyses::all();
	}
};

// A sentence of ours among those of the compiler.
class CairnDiagnostic : public DiagnosticInfo
{
	StringRef Text;

      public:
	CairnDiagnostic(DiagnosticSeverity Severity, StringRef Text)
	    : DiagnosticInfo(getKindID(), Severity), Text(Text)
	{
	}

	void print(DiagnosticPrinter &Printer) const override
	{
		Printer << shown(Text);
	}

	static int getKindID()
	{
		static int Kind = getNextAvailablePluginDiagnosticKind();
		return Kind;
	}
};

} // namespace

void shim_say(LLVMModuleRef Module, bool IsWarning, const char *Text)
{
	unwrap(Module)->getContext().diagnose(
	        CairnDiagnostic(IsWarning ? DS_Warning : DS_Remark, Text));
}

// The path register of a frame stays where it is at a call, instead of being
// stored on the stack for us to find.
static void keepRegisters()
{
	auto &Options = cl::getRegisteredOptions();
	auto Found = Options.find("use-registers-for-deopt-values");

	if (Found != Options.end())
		static_cast<cl::opt<bool> *>(Found->second)->setValue(true);
}

// Clang puts its own pass that follows assignments before those of plugins.
static void addBefore(ModulePassManager &Passes, CairnPass Pass)
{
	ModulePassManager All;

	All.addPass(std::move(Pass));
	All.addPass(std::move(Passes));
	Passes = std::move(All);
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	keepRegisters();
	auto Register = [](PassBuilder &Builder) {
		Builder.registerPipelineStartEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        addBefore(Passes,
			                  CairnPass(PLUGIN_BEGIN, false));
			        Passes.addPass(CairnUse());
			        // of which block of the source code is:
			        // places.c
			        Passes.addPass(
			                createModuleToFunctionPassAdaptor(
			                        AddDiscriminatorsPass()));
			        Passes.addPass(CairnPass(PLUGIN_EARLY, false));
		        });
		Builder.registerOptimizerLastEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        Passes.addPass(CairnPass(PLUGIN_LATE, false));
		        });
		Builder.registerFullLinkTimeOptimizationLastEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        Passes.addPass(CairnPass(PLUGIN_LATE, true));
		        });
	};
	return {LLVM_PLUGIN_API_VERSION, "cairn", CAIRN_VERSION, Register};
}
