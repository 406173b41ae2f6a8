// SPDX-License-Identifier: BSD-3-Clause
// Properties of a method, read from the verified tables of the program on each call; nothing is cached.
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/executor/method_meta.h>

#include "compat/detail/convert.h"
#include "compat/detail/plan.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

using rushlight::compat::official;
using rushlight::flatbuffer::Table;
namespace schema = rushlight::schema;

namespace {

template <class T>
Result<T> official_result(rushlight::Result<T> result) {
  if (!result.ok()) return official(result.error());
  return std::move(*result);
}

}  // namespace

Result<TensorInfo> TensorInfo::create(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
                                      executorch::aten::ScalarType scalar_type, const bool is_memory_planned,
                                      std::string_view name) {
  ET_CHECK_OR_RETURN_ERROR(runtime::isValid(scalar_type), InvalidArgument, "unknown dtype %d",
                           static_cast<int>(scalar_type));
  // A file's sizes are not trusted: their product may overflow.
  size_t bytes = runtime::elementSize(scalar_type);
  for (const int32_t size : sizes) {
    ET_CHECK_OR_RETURN_ERROR(size >= 0, InvalidArgument, "size: expected at least 0, got %d",
                             static_cast<int>(size));
    ET_CHECK_OR_RETURN_ERROR(!c10::mul_overflows(bytes, static_cast<size_t>(size), &bytes), InvalidArgument,
                             "tensor: size in bytes overflows");
  }
  return TensorInfo(Facts{bytes, scalar_type, is_memory_planned, name, sizes, dim_order});
}

Result<TensorInfo> TensorInfo::create(Table tensor) {
  const auto type = tensor.scalar<int8_t>(schema::tensor::kScalarType);
  return create(
      tensor.vector<int32_t>(schema::tensor::kSizes), tensor.vector<uint8_t>(schema::tensor::kDimOrder),
      static_cast<executorch::aten::ScalarType>(type),
      static_cast<bool>(tensor.table(schema::tensor::kAllocationInfo)), rushlight::compat::name_of(tensor));
}

Result<Tag> MethodMeta::input_tag(size_t index) const { return official_result(meta_.input_tag(index)); }
Result<Tag> MethodMeta::output_tag(size_t index) const { return official_result(meta_.output_tag(index)); }

Result<TensorInfo> MethodMeta::input_tensor_meta(size_t index) const {
  // Checks the index and the kind; the official description also has the tensor's name, from its table.
  auto tensor = meta_.input_tensor(index);
  if (!tensor.ok()) return official(tensor.error());
  const auto values = meta_.plan().vector<int32_t>(schema::plan::kInputs);
  return TensorInfo::create(rushlight::compat::tensor_of(meta_.plan(), static_cast<size_t>(values[index])));
}
Result<TensorInfo> MethodMeta::output_tensor_meta(size_t index) const {
  auto tensor = meta_.output_tensor(index);
  if (!tensor.ok()) return official(tensor.error());
  const auto values = meta_.plan().vector<int32_t>(schema::plan::kOutputs);
  return TensorInfo::create(rushlight::compat::tensor_of(meta_.plan(), static_cast<size_t>(values[index])));
}

size_t MethodMeta::num_attributes() const {
  size_t count = 0;
  const size_t values = meta_.plan().tables(schema::plan::kValues).size();
  for (size_t i = 0; i < values; ++i) count += rushlight::compat::is_attribute(meta_.plan(), i) ? 1 : 0;
  return count;
}

Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t index) const {
  size_t left = index;
  const size_t values = meta_.plan().tables(schema::plan::kValues).size();
  for (size_t i = 0; i < values; ++i) {
    if (!rushlight::compat::is_attribute(meta_.plan(), i)) continue;
    if (left-- == 0) return TensorInfo::create(rushlight::compat::tensor_of(meta_.plan(), i));
  }
  ET_LOG(Error, "attribute %zu: expected an index below %zu", index, num_attributes());
  return Error::InvalidArgument;
}

Result<int64_t> MethodMeta::memory_planned_buffer_size(size_t index) const {
  auto size = meta_.planned_buffer_size(index);
  if (!size.ok()) return official(size.error());
  return static_cast<int64_t>(*size);
}

Result<etensor::Device> MethodMeta::memory_planned_buffer_device(size_t index) const {
  auto device = meta_.planned_buffer_device(index);
  if (!device.ok()) return official(device.error());
  return etensor::Device(static_cast<etensor::DeviceType>(device->type),
                         static_cast<etensor::DeviceIndex>(device->index));
}

// Counts distinct names: a method has one delegate per lowered part, often of one backend. Cubic in the
// delegates, which are few, and without memory.
size_t MethodMeta::num_backends() const {
  size_t count = 0;
  while (get_backend_name(count).ok()) ++count;
  return count;
}

Result<const char*> MethodMeta::get_backend_name(size_t index) const {
  size_t left = index;
  for (size_t i = 0; i < meta_.num_backends(); ++i) {
    const char* name = *meta_.backend_name(i);
    bool seen = false;
    for (size_t k = 0; k < i; ++k) seen = seen || std::strcmp(*meta_.backend_name(k), name) == 0;
    if (!seen && left-- == 0) return name;
  }
  return Error::InvalidArgument;
}

size_t MethodMeta::num_instructions() const {
  size_t count = 0;
  const auto chains = meta_.plan().tables(schema::plan::kChains);
  for (size_t i = 0; i < chains.size(); ++i) count += chains[i].tables(schema::chain::kInstructions).size();
  return count;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
