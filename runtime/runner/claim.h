// SPDX-License-Identifier: BSD-3-Clause
// Claims memory for a runner.
#pragma once

#include "runtime/base/log.h"
#include "runtime/base/result.h"
#include "runtime/platform/platform.h"

namespace rushlight {

// Claims `size` bytes; `what` names them in the error. Error: MemoryAllocationFailed.
inline Result<Span<uint8_t>> claim(size_t size, const char* what,
                                   platform::Bank bank = platform::Bank::Large) {
  const Span<uint8_t> memory = platform::claim_memory(size, bank);
  RL_CHECK(memory.size() == size, Error::MemoryAllocationFailed, "%s: no memory for %lu bytes", what,
           log_number(size));
  return Span<uint8_t>(memory);
}

}  // namespace rushlight
