// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_PLUGIN_PROBES_HPP
#define CAIRN_PLUGIN_PROBES_HPP

#include <cstdint>
#include <functional>
#include <memory>

namespace llvm
{
class AsmPrinter;
class DebugHandlerBase;
} // namespace llvm

/*
 * Hears of every machine instruction that is printed, and calls `Say` wherever
 * what an address says about its block (abi/map.h) changes.
 */
std::unique_ptr<llvm::DebugHandlerBase>
makeProbes(llvm::AsmPrinter &Printer, std::function<void(uint32_t)> Say);

#endif // CAIRN_PLUGIN_PROBES_HPP
