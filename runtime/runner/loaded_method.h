// SPDX-License-Identifier: BSD-3-Clause
// A method in memory that the platform gave for exactly its needs.
#pragma once

#include "runtime/executor/method.h"
#include "runtime/runner/case_stream.h"

namespace rushlight {

class LoadedMethod {
 public:
  // Memory is claimed and never given back: neither it nor the method goes away. Fills in what of `report`
  // is about loading. Errors: what Method::load returns, MemoryAllocationFailed.
  [[nodiscard]] static Result<LoadedMethod*> load(const Program& program, const char* name,
                                                  const MethodOptions& options, Report* report);

  Method& method() { return *std::launder(reinterpret_cast<Method*>(&method_storage_)); }
  [[nodiscard]] size_t temporary_peak() const { return temporary_.peak(); }

 private:
  static constexpr size_t kMaxPlannedBuffers = 16;

  explicit LoadedMethod(Span<uint8_t> arena);
  Error claim_planned(const MethodMeta& meta, Report* report);
  // Outputs that the program left to its caller.
  Error claim_outputs();

  Arena arena_;
  Arena temporary_;
  Span<uint8_t> planned_[kMaxPlannedBuffers];
  MemoryManager memory_;
  alignas(Method) uint8_t method_storage_[sizeof(Method)];
};

}  // namespace rushlight
