// SPDX-License-Identifier: BSD-3-Clause
// The payload of a delegate lowered to XNNPACK: read, lowered for its own sizes and for smaller ones, loaded
// and executed. Every name has data. Invariants: a payload that can be lowered for smaller sizes can be
// lowered for its own, and the result is a well-formed program. Results are not compared.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backends/xnnpack/delegate.h"
#include "runtime/base/checked.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/program.h"
#include "runtime/program/schema.h"
#include "runtime/program/xnn_tables.inc"
#include "tests/fuzz/copying_loader.h"
#include "tests/fuzz/heap.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kMostArguments = 64;
constexpr size_t kMostBytes = size_t{1} << 16;  // the limit for one tensor: larger ones are only slow
constexpr int kExecutions = 3;

// The same bytes under every name: 0.0115 as float32 and as bfloat16, 60 as int8.
class AnyData final : public NamedDataMap {
 public:
  AnyData() { bytes_.fill(0x3c); }

  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view) const override {
    return Error::NotFound;
  }
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view) const override {
    return FreeableBuffer(bytes_.data(), bytes_.size());
  }
  Error load_into(std::string_view, void*, size_t) const override { return Error::NotFound; }
  [[nodiscard]] Result<uint32_t> num_keys() const override { return 0u; }
  [[nodiscard]] Result<const char*> key(uint32_t) const override { return Error::InvalidArgument; }

 private:
  alignas(16) std::array<uint8_t, kMostBytes> bytes_;
};

bool is_small(const Result<TensorInfo>& info) {
  size_t numel = 0;
  return info.ok() && checked_numel(info->sizes, &numel) && numel <= kMostBytes / sizeof(int64_t);
}

// True if the method executes quickly.
bool is_small(const MethodMeta& meta) {
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    if (!is_small(meta.input_tensor(i))) return false;
  }
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    if (!is_small(meta.output_tensor(i))) return false;
  }
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    const auto size = meta.planned_buffer_size(i);
    if (!size.ok() || *size > 16 * kMostBytes) return false;
  }
  return true;
}

class DelegateCase {
 public:
  DelegateCase(const xnnpack::Ends& ends, const MethodMeta& meta, Choices& choices)
      : ends_(ends), meta_(meta), choices_(choices), inputs_(heap_, choices) {}

  Error execute(xnnpack::LoadedDelegate& delegate) {
    std::vector<EValue> values(kMostArguments);
    for (size_t i = 0; i < ends_.inputs.size(); ++i) {
      if (ends_.inputs[i] >= kMostArguments || !make_input(i, &values[ends_.inputs[i]]))
        return Error::InvalidArgument;
    }
    for (size_t i = 0; i < ends_.outputs.size(); ++i) {
      const auto info = meta_.output_tensor(i);
      if (ends_.outputs[i] >= kMostArguments || !info.ok() ||
          !inputs_.make_tensor(info->scalar_type, info->sizes, info->dim_order,
                               TensorShapeDynamism::DYNAMIC_BOUND, &values[ends_.outputs[i]]))
        return Error::InvalidArgument;
    }
    std::vector<EValue*> arguments;
    for (EValue& value : values) arguments.push_back(&value);
    return delegate.execute({arguments.data(), arguments.size()}, nullptr);
  }

 private:
  // An input with the payload's shape, or a smaller one.
  bool make_input(size_t index, EValue* value) {
    if (choices_.one_in(2)) return inputs_.make(meta_, index, value);
    const auto info = meta_.input_tensor(index);
    if (!info.ok()) return false;
    std::vector<SizesType> sizes(info->sizes.begin(), info->sizes.end());
    if (!sizes.empty()) {
      SizesType& size = sizes[choices_.below(sizes.size())];
      size = static_cast<SizesType>(choices_.below(static_cast<size_t>(size) + 1));
    }
    return inputs_.make_tensor(info->scalar_type, {sizes.data(), sizes.size()}, info->dim_order,
                               TensorShapeDynamism::STATIC, value);
  }

  const xnnpack::Ends& ends_;
  const MethodMeta& meta_;
  Choices& choices_;
  Heap heap_;
  Inputs inputs_;
};

// Finds the graph in a payload.
Span<uint8_t> graph_in(uint8_t* data, size_t size) {
  constexpr size_t kHeaderBytes = 30, kGraphAt = 10;
  if (size < kHeaderBytes || std::memcmp(data + 4, "XH00", 4) != 0) return {data, size};
  uint32_t section[2];  // offset, size
  std::memcpy(section, data + kGraphAt, sizeof section);
  if (section[0] > size || section[1] > size - section[0]) return {data, size};
  return {data + section[0], section[1]};
}

}  // namespace

Outcome run_input(Span<const uint8_t> input) {
  static const AnyData named;
  CopyingLoader copies(input);
  const auto bytes = copies.load(0, input.size());
  require(bytes.ok(), "no memory for an input");
  auto payload = xnnpack::Payload::read(bytes->bytes(), &named);
  if (!payload.ok()) return {Stage::Refused, payload.error()};
  const auto smaller = xnnpack::lower_to_program(*payload, true);
  const auto lowered = xnnpack::lower_to_program(*payload, false);
  require(lowered.ok() || !smaller.ok(), "it is lowered for smaller sizes only");
  if (!lowered.ok()) return {Stage::Refused, lowered.error()};
  CopyingLoader loader({lowered->program.data(), lowered->program.size()});
  const auto program = Program::load(loader);
  require(program.ok(), "the program of a payload is not well-formed");
  const auto meta = program->method_meta("forward");
  require(meta.ok(), "the program of a payload has no method");
  if (!is_small(*meta)) return {Stage::Refused, Error::OutOfResources};
  FreeableBuffer processed(bytes->data(), bytes->size());
  auto delegate = xnnpack::LoadedDelegate::load(BackendInitContext(nullptr, "forward", &named), &processed);
  if (!delegate.ok()) return {Stage::Refused, delegate.error()};
  Outcome outcome{Stage::Loaded, Error::Ok};
  Choices choices(Choices::hash(input));
  for (int i = 0; i < kExecutions; ++i) {
    const Error error = DelegateCase(lowered->ends, *meta, choices).execute(**delegate);
    if (error == Error::Ok) outcome.stage = Stage::Executed;
    if (outcome.error == Error::Ok) outcome.error = error;
  }
  return outcome;
}

size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  const Span<uint8_t> graph = graph_in(data, size);
  Mutator mutator(schema::kXnnpackGraphTables, choices);
  if (choices.one_in(8)) return mutator.mutate(data, size, capacity);
  mutator.mutate(graph.data(), graph.size(), graph.size());  // bytes after the graph stay
  return size;
}

}  // namespace rushlight::fuzz
