// SPDX-License-Identifier: BSD-3-Clause
// A recorded call with its tensors in memory: each in a block of exactly its size, or several in one. Hostile
// plans overlap tensors, so kernels are called with all layouts of plans_of() (call_edits.h).
#pragma once

#include <deque>
#include <vector>

#include "tests/fuzz/heap.h"
#include "tests/fuzz/list_storage.h"
#include "tests/fuzz/recorded_call.h"

namespace rushlight::fuzz {

// The tensors of a call that share a block, as in a program's memory plan, and their offsets in it.
struct MemoryPlan {
  struct Slot {
    size_t tensor;
    size_t offset;
  };
  std::vector<Slot> shared;  // all others have separate blocks
};

// Owns the call, the tensors and the values that arguments() lists.
class BuiltCall {
 public:
  // Dynamic tensors that the kernel writes may shrink.
  BuiltCall(RecordedCall call, const KernelEntry& kernel, const MemoryPlan& plan, bool is_dynamic);

  // False if the call needs too much memory, or has sizes that no tensor has.
  [[nodiscard]] bool is_built() const { return is_built_; }
  [[nodiscard]] Span<EValue* const> arguments() const { return {arguments_.data(), arguments_.size()}; }

  // The tensors in the order of RecordedCall::tensors(), so a plan's index fits.
  struct Built {
    TensorImpl* impl;
    bool is_written;
  };
  [[nodiscard]] const std::vector<Built>& tensors() const { return tensors_; }

 private:
  // Creates a value for a signature character. Tensors are taken in order, so arguments must be created in
  // order.
  EValue make(CallValue& value, char code);
  EValue make_list(CallValue& value, char code);
  EValue* keep(const EValue& value) { return &values_.emplace_back(value); }

  RecordedCall call_;
  Heap heap_;
  std::deque<TensorImpl> impls_;
  std::deque<std::vector<StridesType>> strides_;
  std::vector<Built> tensors_;
  std::deque<EValue> values_;
  std::deque<ListStorage> lists_;
  std::vector<EValue*> arguments_;
  size_t next_tensor_ = 0;
  bool is_built_ = false;
};

}  // namespace rushlight::fuzz
