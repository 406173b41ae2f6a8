// SPDX-License-Identifier: BSD-3-Clause
// One delegate that was lowered to XNNPACK, as a program of plain calls that the module layer runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/lowering.h"
#include "backends/xnnpack/payload.h"
#include "runtime/kernel/thread_pool.h"
#include "runtime/module/module.h"

namespace rushlight::xnnpack {

// A payload as a program in memory.
struct Lowered {
  std::unique_ptr<CallList> calls;  // has the constants
  Ends ends;
  std::vector<uint8_t> program;  // a .pte
};

// With `is_dynamic`, for tensors smaller than the payload's, too. The payload outlives it. Errors: as
// lower().
[[nodiscard]] Result<Lowered> lower_to_program(const Payload& payload, bool is_dynamic);

class LoadedDelegate {
 public:
  // Errors: InvalidProgram, NotSupported, NotFound (an operator that this build does not have), or
  // MemoryAllocationFailed.
  [[nodiscard]] static Result<std::unique_ptr<LoadedDelegate>> load(Span<const uint8_t> bytes,
                                                                    const NamedDataMap* named,
                                                                    ThreadPool* threads);

  // The delegate's arguments; outputs take the sizes of the results.
  Error execute(Span<EValue* const> arguments);

 private:
  explicit LoadedDelegate(Payload payload, ThreadPool* threads)
      : payload_(std::move(payload)), threads_(threads) {}

  Error load_program(bool is_dynamic);
  Error set_inputs(Span<EValue* const> arguments);
  Error set_outputs(Span<EValue* const> arguments);
  Error resize_outputs(Span<EValue* const> arguments);
  [[nodiscard]] bool fits(Span<EValue* const> arguments) const;

  Payload payload_;
  ThreadPool* threads_;
  bool is_dynamic_ = false;
  Lowered lowered_;
  std::unique_ptr<Module> module_;
  ModuleMethod* method_ = nullptr;
};

}  // namespace rushlight::xnnpack
