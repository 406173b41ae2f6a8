// SPDX-License-Identifier: BSD-3-Clause
// A method in memory that was claimed from the platform in the exact sizes that it needs.
#pragma once

#include "runtime/executor/method.h"
#include "runtime/runner/case_stream.h"
#include "runtime/runner/memory_options.h"
#include "runtime/runner/operators_for.h"

namespace rushlight {

// Options of a method in a runner.
struct RunOptions : MethodOptions {
  MemoryOptions memory;
};

// Lives in memory of platform::claim_memory(), which is never returned: a runner loads its methods once.
class LoadedMethod {
 public:
  // Loads a method. Its memory stays claimed until the program ends, and so does the method. Fills in the
  // parts of `report` that concern loading. Errors: as Method::load(), MemoryAllocationFailed.
  [[nodiscard]] static Result<LoadedMethod*> load(const Program& program, const char* name,
                                                  const RunOptions& options, Report* report);

  // The loaded method.
  Method& method() { return *std::launder(reinterpret_cast<Method*>(&method_storage_)); }
  LoadedMethod* next = nullptr;  // for a list of loaded methods
  // Peak use of scratch memory, in bytes.
  [[nodiscard]] size_t temporary_peak() const { return temporary_.peak(); }

 private:
  LoadedMethod(Span<uint8_t> arena, Span<uint8_t> temporary);
  Error claim_planned(const MethodMeta& meta, const MemoryOptions& memory, Report* report);
  // Claims scratch and memory for prepared constants as the kernels request, unless `memory` sets their
  // sizes.
  Error prepare(const MemoryOptions& memory, Report* report);
  // Claims memory for outputs that the program left unplanned.
  Error claim_outputs();

  Arena arena_;
  Arena temporary_;
  PreparedWeights weights_;
  Span<uint8_t> planned_[MemoryOptions::kMaxPlannedBuffers];
  MemoryManager memory_;
  size_t left_ = SIZE_MAX;  // bytes left of the limit
  alignas(Method) uint8_t method_storage_[sizeof(Method)];
};

}  // namespace rushlight
