// SPDX-License-Identifier: BSD-3-Clause
// Fuses an integer clamp into the quantized layer that produced its input. The official quantizer leaves a
// ReLU6 as a separate node, which reads and writes a whole image again. The result is exact, because the
// layer's output bounds apply to the same integers.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backends/calls/call_list.h"

namespace rushlight {

namespace {

// Operators whose last arguments are the lower bound, the upper bound and the output.
bool has_integer_bounds(const std::string& name) {
  return name == "rushlight::quantized_convolution.out" || name == "rushlight::quantized_linear.out" ||
         name == "rushlight::quantized_add.out" || name == "rushlight::quantized_mul.out";
}

}  // namespace

// Number of call arguments that refer to each storage.
std::vector<size_t> CallList::count_uses() const {
  std::vector<size_t> uses(storages_.size());
  const auto count = [&](ValueId id) {
    if (value(id).kind == Kind::Tensor) ++uses[static_cast<size_t>(value(id).storage)];
  };
  for (const Call& call : calls_) {
    for (const ValueId id : call.arguments) {
      count(id);
      if (value(id).kind != Kind::TensorList) continue;
      for (const int64_t item : value(id).integers) count(static_cast<ValueId>(item));
    }
  }
  return uses;
}

// Fuses `clamp` into `layer`. Precondition: `layer` writes the clamp's input, and no other call uses it.
bool CallList::fuse_clamp(Call* layer, const Call& clamp) {
  // The bounds of clamp.out are its arguments 1 and 2; a layer has its own before the output.
  const Value &low = value(clamp.arguments[1]), &high = value(clamp.arguments[2]);
  const ValueId wrote = layer->arguments.back(), read = clamp.arguments.front();
  const ValueId made = clamp.arguments.back();
  const int32_t from = value(wrote).storage, to = value(made).storage;
  const Storage &before = storages_[static_cast<size_t>(from)], &behind = storages_[static_cast<size_t>(to)];
  if (low.kind != Kind::Int || high.kind != Kind::Int || value(wrote).dtype != value(made).dtype)
    return false;
  // The caller's memory belongs to one tensor only.
  if (from == to || before.is_external || behind.is_external || before.bytes != behind.bytes) return false;
  const bool same = value(wrote).sizes == value(made).sizes && value(wrote).order == value(made).order;
  if (is_dynamic_ && !same) return false;
  ValueId& least = layer->arguments[layer->arguments.size() - 3];
  ValueId& most = layer->arguments[layer->arguments.size() - 2];
  // Both clamps apply to the layer's result, so the intersection of the ranges does.
  const int64_t first = std::max(value(least).number, low.number);
  const int64_t last = std::min(value(most).number, high.number);
  // Disjoint ranges are left to the two operators.
  if (first > last) return false;
  least = integer(first);
  most = integer(last);
  // The layer writes the clamp's result directly; for another shape it writes an alias of it.
  if (same) layer->arguments.back() = made;
  for (const ValueId each : {wrote, read}) values_[static_cast<size_t>(each)].storage = to;
  return true;
}

// One pass over the calls. A storage with exactly two uses has one writer and one reader; if these are a
// layer and a clamp, they are fused. Lifetimes are recomputed at the end.
void CallList::fuse_clamps() {
  const std::vector<size_t> uses = count_uses();
  std::vector<Call*> writers(storages_.size());
  std::vector<Call> kept;
  kept.reserve(calls_.size());  // no reallocation: pointers into it are kept
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const bool has_result = !call.arguments.empty() && value(call.arguments.back()).kind == Kind::Tensor;
    const auto storage_of = [&](ValueId id) { return static_cast<size_t>(value(id).storage); };
    if (has_result && operator_name(i) == "aten::clamp.out") {
      const size_t read = storage_of(call.arguments.front()), made = storage_of(call.arguments.back());
      Call* layer = uses[read] == 2 ? writers[read] : nullptr;
      if (layer != nullptr && fuse_clamp(layer, call)) {
        // The layer is now the writer of the clamp's result, so a chain of clamps fuses into it.
        writers[made] = layer;
        continue;
      }
    }
    const bool is_layer = has_integer_bounds(operator_name(i));
    kept.push_back(call);
    if (has_result) writers[storage_of(call.arguments.back())] = is_layer ? &kept.back() : nullptr;
  }
  calls_ = std::move(kept);
  // Indices of calls have changed.
  find_lifetimes();
}

}  // namespace rushlight
