// SPDX-License-Identifier: BSD-3-Clause
// Inputs of a method from its metadata. The list of buffers has an owner from the start, so that an error on
// the way frees what was allocated.
#include <algorithm>
#include <cstring>

#include <executorch/extension/runner_util/inputs.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include "compat/detail/method_state.h"

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::Tag;

namespace {

Error fill_with_ones(void* data, size_t count, ScalarType type) {
#define RUSHLIGHT_FILL(cpp_type, name)                                          \
  case ScalarType::name:                                                        \
    std::fill_n(static_cast<cpp_type*>(data), count, static_cast<cpp_type>(1)); \
    return Error::Ok;
  switch (type) {
    ET_FORALL_REALHBBF16_TYPES(RUSHLIGHT_FILL)
    ET_FORALL_COMPLEX_TYPES(RUSHLIGHT_FILL)
    RUSHLIGHT_FILL(uint16_t, UInt16)
    RUSHLIGHT_FILL(uint32_t, UInt32)
    RUSHLIGHT_FILL(uint64_t, UInt64)
    default:
      ET_LOG(Error, "input: expected a numeric dtype, got %s", runtime::toString(type));
      return Error::InvalidArgument;
  }
#undef RUSHLIGHT_FILL
}

// Converts the bytes of a number to an input's value.
Result<EValue> value_of(Tag tag, const char* bytes, size_t size) {
  // The bytes may be misaligned: copied.
  const auto as = [&](auto zero) -> Result<EValue> {
    ET_CHECK_OR_RETURN_ERROR(size == sizeof zero, InvalidArgument, "input: expected %zu bytes, got %zu",
                             sizeof zero, size);
    std::memcpy(&zero, bytes, size);
    return EValue(zero);
  };
  if (tag == Tag::Int) return as(int64_t{});
  if (tag == Tag::Double) return as(double{});
  if (tag == Tag::Bool) {
    ET_CHECK_OR_RETURN_ERROR(size == 1, InvalidArgument, "input: expected 1 byte, got %zu", size);
    return EValue(*bytes != 0);
  }
  ET_LOG(Error, "input: expected a tensor or a number, the method takes a %s", runtime::tag_to_string(tag));
  return Error::InvalidArgument;
}

}  // namespace

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

Error fill_and_set_input(Method& method, TensorInfo& tensor_meta, size_t input_index, void* data_ptr,
                         bool fill_tensor) {
  const auto sizes = tensor_meta.sizes();
  const auto order = tensor_meta.dim_order();
  // TensorImpl wants writable arrays. The tensor is needed only until set_input() returns, the elements
  // longer.
  std::vector<executorch::aten::SizesType> own_sizes(sizes.begin(), sizes.end());
  std::vector<executorch::aten::DimOrderType> own_order(order.begin(), order.end());
#ifdef USE_ATEN_LIB
  const Tensor tensor =
      *for_blob(data_ptr, own_sizes, tensor_meta.scalar_type()).dim_order(own_order).make_tensor_ptr();
#else
  TensorImpl impl(tensor_meta.scalar_type(), static_cast<ssize_t>(own_sizes.size()), own_sizes.data(),
                  data_ptr, own_order.data());
  const Tensor tensor(&impl);
#endif
  if (fill_tensor) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        fill_with_ones(data_ptr, static_cast<size_t>(tensor.numel()), tensor_meta.scalar_type()));
  }
  return method.set_input(EValue(tensor), input_index);
}

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

Result<BufferCleanup> prepare_input_tensors(Method& method, PrepareInputTensorsOptions options,
                                            const std::vector<std::pair<char*, size_t>>& input_buffers) {
  ET_CHECK_OK_OR_RETURN_ERROR(rushlight::compat::MethodAccess::check_present(method));
  const auto meta = method.method_meta();
  const size_t count = meta.num_inputs();
  ET_CHECK_OR_RETURN_ERROR(count <= options.max_inputs, InvalidProgram,
                           "inputs: expected at most %zu, the method has %zu", options.max_inputs, count);
  ET_CHECK_OR_RETURN_ERROR(input_buffers.empty() || input_buffers.size() == count, InvalidArgument,
                           "input buffers: expected %zu, got %zu", count, input_buffers.size());
  // calloc: entries that are not reached stay null, which free() accepts.
  auto** owned = static_cast<void**>(std::calloc(std::max(count, size_t{1}), sizeof(void*)));
  ET_CHECK_OR_RETURN_ERROR(owned != nullptr, MemoryAllocationFailed, "out of memory: %zu inputs", count);
  BufferCleanup cleanup(Span<void*>(owned, count));
  size_t left = options.max_total_allocation_size;
  for (size_t i = 0; i < count; ++i) {
    auto tag = meta.input_tag(i);
    if (!tag.ok()) return tag.error();
    const bool is_given = !input_buffers.empty();
    // Numbers need no memory: the value holds them.
    if (*tag != Tag::Tensor) {
      if (!is_given) continue;
      auto value = value_of(*tag, input_buffers[i].first, input_buffers[i].second);
      if (!value.ok()) return value.error();
      ET_CHECK_OK_OR_RETURN_ERROR(method.set_input(*value, i));
      continue;
    }
    auto info = meta.input_tensor_meta(i);
    if (!info.ok()) return info.error();
    const size_t bytes = info->nbytes();
    // Compared with the rest, so that a sum cannot overflow.
    ET_CHECK_OR_RETURN_ERROR(bytes <= left, InvalidProgram,
                             "inputs: expected at most %zu bytes in total, input %zu exceeds them",
                             options.max_total_allocation_size, i);
    left -= bytes;
    ET_CHECK_OR_RETURN_ERROR(!is_given || input_buffers[i].second == bytes, InvalidArgument,
                             "input %zu: expected %zu bytes, got %zu", i, bytes, input_buffers[i].second);
    owned[i] = std::malloc(std::max(bytes, size_t{1}));
    ET_CHECK_OR_RETURN_ERROR(owned[i] != nullptr, MemoryAllocationFailed,
                             "out of memory: %zu bytes for input %zu", bytes, i);
    if (is_given && bytes > 0) std::memcpy(owned[i], input_buffers[i].first, bytes);
    ET_CHECK_OK_OR_RETURN_ERROR(internal::fill_and_set_input(method, *info, i, owned[i], !is_given));
  }
  return Result<BufferCleanup>(std::move(cleanup));
}

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
