// SPDX-License-Identifier: BSD-3-Clause
// Each value gets its tensors lazily, in the form that its first reader or writer asks for. In static
// programs both forms are aliases of one storage, so no transpose is executed: [n, height, width, channels]
// row-major has the bytes of [n, channels, height, width] channels-last.
#include "backends/xnnpack/forms.h"

#include <cstring>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

std::vector<uint8_t> channels_last() { return {0, 2, 3, 1}; }

// Converts float32 elements to float16.
std::vector<uint8_t> narrowed(const Value& value) {
  std::vector<uint8_t> narrow(value.data.size() / 2);
  for (size_t i = 0; i < narrow.size() / sizeof(Half); ++i) {
    float number = 0;
    std::memcpy(&number, value.data.data() + i * sizeof number, sizeof number);
    const Half half(number);
    std::memcpy(narrow.data() + i * sizeof half, &half, sizeof half);
  }
  return narrow;
}

// Dequantizes int8 to float32 by channel.
std::vector<uint8_t> dequantized(const Value& value) {
  std::vector<uint8_t> wide(value.data.size() * sizeof(float));
  // inner: elements per index of the channel dimension.
  size_t inner = 1;
  for (size_t d = static_cast<size_t>(value.channel_dim) + 1; d < value.rank(); ++d)
    inner *= static_cast<size_t>(value.dims[d]);
  const size_t channels = value.scales.empty() ? 1 : value.scales.size();
  for (size_t i = 0; i < value.data.size(); ++i) {
    const auto number = static_cast<int8_t>(value.data[i]);
    const float real = static_cast<float>(number - value.zero_point) * value.scale_of(i / inner % channels);
    std::memcpy(wide.data() + i * sizeof real, &real, sizeof real);
  }
  return wide;
}

}  // namespace

std::vector<int32_t> pixel_sizes(const std::vector<int32_t>& dims) {
  return {dims[0], dims[3], dims[1], dims[2]};
}

Forms::Forms(std::vector<Value> values, CallList* list)
    : values_(std::move(values)), states_(values_.size()), list_(*list) {
  for (size_t i = 0; i < values_.size(); ++i) {
    states_[i].dtype = *element_type(values_[i].datatype);
    // Constants count as written; nodes must not write them.
    states_[i].is_written = values_[i].is_constant;
  }
}

Error Forms::check_written(uint32_t id) const {
  RL_CHECK(states_[id].is_written, Error::InvalidProgram, "value %lu: is read before a node writes it",
           log_number(id));
  return Error::Ok;
}

Error Forms::begin_write(uint32_t id) {
  // Each value has one writer (static single assignment).
  RL_CHECK(!states_[id].is_written, Error::InvalidProgram, "value %lu: is written twice", log_number(id));
  states_[id].is_written = true;
  return Error::Ok;
}

ValueId Forms::make(uint32_t id, bool of_pixels) {
  const Value& value = values_[id];
  std::vector<int32_t> sizes = of_pixels ? pixel_sizes(value.dims) : value.dims;
  std::vector<uint8_t> order = of_pixels ? channels_last() : std::vector<uint8_t>();
  if (value.is_constant)
    return list_.constant(states_[id].dtype, std::move(sizes), std::move(order), value.data);
  return list_.tensor(states_[id].dtype, std::move(sizes), std::move(order));
}

// Inputs, outputs and dynamic programs need a transposed copy, because an alias would not follow a resize.
ValueId Forms::other_form(uint32_t id, bool of_pixels) {
  State& state = states_[id];
  // The first form decides the layout in memory.
  if (state.first < 0) return state.first = make(id, of_pixels);
  const bool may_share = !is_outside(state) && !list_.is_dynamic();
  // An alias of a constant is another constant over the same bytes.
  if (may_share || values_[id].is_constant) {
    const std::vector<int32_t>& dims = values_[id].dims;
    if (of_pixels) return list_.alias(state.first, pixel_sizes(dims), channels_last());
    return list_.alias(state.first, dims, {0, 1, 2, 3});
  }
  const ValueId copy = make(id, of_pixels);
  const std::vector<int64_t> order =
      of_pixels ? std::vector<int64_t>{0, 3, 1, 2} : std::vector<int64_t>{0, 2, 3, 1};
  list_.call("aten::permute_copy", "out", {state.first, list_.integers(order), copy});
  return copy;
}

Result<ValueId> Forms::plain(uint32_t id) {
  RL_TRY(check_written(id));
  if (states_[id].plain < 0) states_[id].plain = other_form(id, false);
  return states_[id].plain;
}

Result<ValueId> Forms::pixels(uint32_t id) {
  RL_TRY(check_written(id));
  if (states_[id].pixels < 0) states_[id].pixels = other_form(id, true);
  return states_[id].pixels;
}

// Marks first: the form is then created as for a reader.
Result<ValueId> Forms::new_plain(uint32_t id) {
  RL_TRY(begin_write(id));
  return plain(id);
}

Result<ValueId> Forms::new_pixels(uint32_t id) {
  RL_TRY(begin_write(id));
  return pixels(id);
}

Error Forms::share(uint32_t id, uint32_t of) {
  RL_TRY(check_written(of));
  RL_CHECK(!states_[id].is_output && values_[id].numel() == values_[of].numel(), Error::InvalidProgram,
           "value %lu: expected as many elements as value %lu has", log_number(id), log_number(of));
  // For images, the exporter writes the dimensions from before its layout conversion; XNNPACK uses the
  // dimensions of the source.
  values_[id].dims = values_[of].dims;
  RL_TRY(begin_write(id));
  if (states_[of].first < 0) RL_TRY(plain(of).error());
  // All forms that `of` has now, and its storage.
  states_[id] = states_[of];
  states_[id].is_output = false;
  return Error::Ok;
}

// Only inner values are changed; the number of elements must match.
void Forms::infer_dims(uint32_t id, std::vector<int32_t> dims) {
  const State& state = states_[id];
  if (state.is_written || is_outside(state)) return;
  int64_t elements = 1;  // the product may overflow
  for (const int32_t dim : dims) {
    if (!checked_mul(elements, int64_t{dim}, &elements)) return;
  }
  if (elements == values_[id].numel()) values_[id].dims = std::move(dims);
}

Result<bool> Forms::share_reshaped(uint32_t id, uint32_t of) {
  // An alias would not follow a resize, and the caller's memory belongs to one tensor only.
  if (list_.is_dynamic() || is_outside(states_[of]) || is_outside(states_[id]) || values_[of].is_constant)
    return false;
  if (values_[id].numel() != values_[of].numel()) return false;
  RL_TRY_ASSIGN(const ValueId source, plain(of));
  RL_TRY(begin_write(id));
  std::vector<uint8_t> order(values_[id].rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint8_t>(i);
  states_[id].first = states_[id].plain = list_.alias(source, values_[id].dims, order);
  return true;
}

Result<ValueId> Forms::constant_as(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                                   uint32_t id) {
  std::vector<uint8_t> made;
  RL_TRY_ASSIGN(const Span<const uint8_t> elements, elements_as(dtype, id, &made));
  if (made.empty()) return list_.constant(dtype, std::move(sizes), std::move(order), elements);
  return list_.own_constant(dtype, std::move(sizes), std::move(order), std::move(made));
}

Result<Span<const uint8_t>> Forms::elements_as(ScalarType dtype, uint32_t id,
                                               std::vector<uint8_t>* made) const {
  const Value& value = values_[id];
  const ScalarType own = states_[id].dtype;
  // No conversion: the payload's bytes are used in place.
  if (own == dtype) return Span<const uint8_t>(value.data);
  if (own == ScalarType::Float && dtype == ScalarType::Half) {
    *made = narrowed(value);
  } else {
    RL_CHECK(own == ScalarType::Char && dtype == ScalarType::Float && value.is_quantized(),
             Error::NotSupported, "value %lu: expected %s, got %s", log_number(id),
             rushlight::to_string(dtype), rushlight::to_string(own));
    *made = dequantized(value);
  }
  return Span<const uint8_t>(made->data(), made->size());
}

ValueId Forms::pixels_of(ValueId plain) {
  const CallList::Value value = list_.value(plain);
  if (!list_.is_dynamic()) return list_.alias(plain, pixel_sizes(value.sizes), channels_last());
  const ValueId copy = list_.tensor(value.dtype, pixel_sizes(value.sizes), channels_last());
  list_.call("aten::permute_copy", "out", {plain, list_.integers({0, 3, 1, 2}), copy});
  return copy;
}

bool Forms::prefers_pixels(uint32_t id) const {
  // An inner value of a static program has both forms at no cost.
  const State& state = states_[id];
  return state.pixels >= 0 && state.plain < 0 && (is_outside(state) || list_.is_dynamic());
}

Result<ValueId> Forms::end(uint32_t id) {
  RL_TRY(check_written(id));
  State& state = states_[id];
  if (state.first < 0) return plain(id);
  return state.first;
}

}  // namespace rushlight::xnnpack
