// SPDX-License-Identifier: BSD-3-Clause
// A method in memory that the platform gave for exactly its needs.
#pragma once

#include "runtime/executor/method.h"
#include "runtime/runner/case_stream.h"
#include "runtime/runner/memory_options.h"

namespace rushlight {

struct RunOptions : MethodOptions {
  MemoryOptions memory;
};

class LoadedMethod {
 public:
  // Memory is claimed and never given back: neither it nor the method goes away. Fills in what of `report`
  // is about loading. Errors: what Method::load returns, MemoryAllocationFailed.
  [[nodiscard]] static Result<LoadedMethod*> load(const Program& program, const char* name,
                                                  const RunOptions& options, Report* report);

  Method& method() { return *std::launder(reinterpret_cast<Method*>(&method_storage_)); }
  LoadedMethod* next = nullptr;  // for whoever keeps several
  [[nodiscard]] size_t temporary_peak() const { return temporary_.peak(); }

 private:
  LoadedMethod(Span<uint8_t> arena, Span<uint8_t> temporary);
  Error claim_planned(const MethodMeta& meta, const MemoryOptions& memory, Report* report);
  // Scratch and prepared weights as the kernels ask for them, unless `memory` says something else.
  Error prepare(const MemoryOptions& memory, Report* report);
  // Outputs that the program left to its caller.
  Error claim_outputs();

  Arena arena_;
  Arena temporary_;
  PreparedWeights weights_;
  Span<uint8_t> planned_[MemoryOptions::kMaxPlannedBuffers];
  MemoryManager memory_;
  size_t left_ = SIZE_MAX;  // of the memory that it may take
  alignas(Method) uint8_t method_storage_[sizeof(Method)];
};

}  // namespace rushlight
