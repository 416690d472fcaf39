// SPDX-License-Identifier: Apache-2.0
//
// How IR is known: by a cryptographic hash, which LLVM brings along.
#include "ir/digest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <array>

void digest(const void *data, size_t n, uint8_t out[DIGEST_SIZE])
{
	std::array<uint8_t, 32> hash = llvm::SHA256::hash(
	        llvm::ArrayRef<uint8_t>(static_cast<const uint8_t *>(data), n));

	std::copy(hash.begin(), hash.end(), out);
}

void digest_unit(const void *bitcode, size_t n, uint8_t id[CAIRN_UNIT_ID])
{
	uint8_t whole[DIGEST_SIZE];

	digest(bitcode, n, whole);
	std::copy(whole, whole + CAIRN_UNIT_ID, id);
}
