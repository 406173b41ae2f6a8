// SPDX-License-Identifier: BSD-3-Clause
// Tensors from a program's tables, for code that walks them itself; methods do not use this. Each tensor is
// checked as it is parsed, so the program needs no other verification than that of its structure.
#include <algorithm>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/executor/tensor_parser.h>

#include "compat/detail/device.h"
#include "compat/detail/method_state.h"

namespace executorch::ET_RUNTIME_NAMESPACE::deserialization {

using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

// The planned memory of a tensor. Memory ids in the file start at 1.
Result<void*> planned_address(const executorch_flatbuffer::AllocationDetails& address, size_t nbytes,
                              HierarchicalAllocator* allocator) {
  ET_CHECK_OR_RETURN_ERROR(allocator != nullptr, InvalidState, "tensor: no planned memory");
  ET_CHECK_OR_RETURN_ERROR(address.memory_id() >= 1, InvalidProgram,
                           "tensor: memory id: expected at least 1, got 0");
  const uint64_t offset = uint64_t{address.memory_offset_high()} << 32 | address.memory_offset_low();
  ET_CHECK_OR_RETURN_ERROR(offset <= SIZE_MAX, NotSupported, "tensor: planned at byte %" PRIu64, offset);
  return allocator->get_offset_address(address.memory_id() - 1, static_cast<size_t>(offset), nbytes);
}

// The CPU by default; empty for a device that a tensor cannot represent. Devices other than the CPU are
// numbered from 0.
std::optional<etensor::Device> device_of(const executorch_flatbuffer::Tensor& tensor) {
  const auto* extra = tensor.extra_tensor_info();
  if (extra == nullptr) return etensor::Device(etensor::DeviceType::CPU);
  using Kind = executorch_flatbuffer::DeviceType;
  const int index = extra->device_index();
  const int lowest = extra->device_type() == Kind::CPU ? -rushlight::compat::kSignOfIndex : 0;
  if (extra->device_type() < Kind::MIN || extra->device_type() > Kind::MAX || index < lowest ||
      index >= rushlight::compat::kSignOfIndex)
    return std::nullopt;
  return etensor::Device(static_cast<etensor::DeviceType>(extra->device_type()), extra->device_index());
}

// External data: a constant that the caller has loaded, or an initial state that is copied into planned
// memory.
Result<void*> external_data(const executorch_flatbuffer::Tensor& tensor, size_t nbytes,
                            HierarchicalAllocator* allocator, const NamedDataMap* named_data,
                            Span<NamedData> constants) {
  const auto* name = tensor.extra_tensor_info()->fully_qualified_name();
  ET_CHECK_OR_RETURN_ERROR(name != nullptr, InvalidExternalData, "tensor: external data without a name");
  if (tensor.allocation_info() == nullptr) {
    const NamedData* found = get_data_by_key(name->c_str(), constants);
    ET_CHECK_OR_RETURN_ERROR(found != nullptr, NotFound, "external data: %s not found among %zu constants",
                             name->c_str(), constants.size());
    ET_CHECK_OR_RETURN_ERROR(found->buffer.size() >= nbytes, InvalidExternalData,
                             "external data %s: expected %zu bytes, got %zu", name->c_str(), nbytes,
                             found->buffer.size());
    return const_cast<void*>(found->buffer.data());
  }
  ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidExternalData,
                           "external data: %s requires a data file", name->c_str());
  // Data of another shape or dtype would give wrong elements.
  auto layout = named_data->get_tensor_layout(name->c_str());
  if (!layout.ok()) return layout.error();
  ET_CHECK_OK_OR_RETURN_ERROR(validateTensorLayout(&tensor, *layout));
  auto address = planned_address(*tensor.allocation_info(), nbytes, allocator);
  if (!address.ok()) return address.error();
  ET_CHECK_OK_OR_RETURN_ERROR(named_data->load_data_into(name->c_str(), *address, nbytes));
  return *address;
}

}  // namespace

NamedData* get_data_by_key(const char* key, Span<NamedData> entries) {
  auto* const end = entries.data() + entries.size();
  auto* const found = std::find_if(
      entries.data(), end, [key](const NamedData& entry) { return std::strcmp(entry.key, key) == 0; });
  return found == end ? nullptr : found;
}

Result<void*> getTensorDataPtr(const executorch_flatbuffer::Tensor* s_tensor, const Program* program,
                               size_t nbytes, HierarchicalAllocator* allocator,
                               const NamedDataMap* named_data_map, Span<NamedData> external_constants) {
  const auto* extra = s_tensor->extra_tensor_info();
  if (extra != nullptr && extra->location() == executorch_flatbuffer::TensorDataLocation::EXTERNAL)
    return external_data(*s_tensor, nbytes, allocator, named_data_map, external_constants);
  // Index 0 of the constants means none.
  const uint32_t index = s_tensor->data_buffer_idx();
  if (s_tensor->allocation_info() != nullptr) {
    auto address = planned_address(*s_tensor->allocation_info(), nbytes, allocator);
    if (!address.ok() || index == 0) return address;
    // A mutable tensor: planned memory with an initial state in a segment.
    const uint64_t segment = extra == nullptr ? 0 : extra->mutable_data_segments_idx();
    ET_CHECK_OK_OR_RETURN_ERROR(rushlight::compat::official(
        rushlight::compat::ProgramAccess::program(*program).load_mutable(segment, index, *address, nbytes)));
    return address;
  }
  if (index == 0) return nullptr;
  auto constant = program->get_constant_buffer_data(index, nbytes);
  if (!constant.ok()) return constant.error();
  return const_cast<void*>(*constant);
}

Result<Tensor> parseTensor(const Program* program, MemoryManager* memory_manager,
                           const executorch_flatbuffer::Tensor* s_tensor, const NamedDataMap* named_data_map,
                           Span<NamedData> external_constants) {
  ET_CHECK_OR_RETURN_ERROR(s_tensor->storage_offset() == 0, NotSupported,
                           "tensor: expected storage offset 0, got %" PRId32, s_tensor->storage_offset());
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::validate_tensor(s_tensor));
  const auto* sizes = s_tensor->sizes();
  const auto* dim_order = s_tensor->dim_order();
  const size_t rank = sizes->size();
  // validate_tensor() has proven dtype, sizes, dim order and that the bytes do not overflow, so the layout
  // exists.
  const auto dtype = static_cast<ScalarType>(s_tensor->scalar_type());
  const auto layout = TensorLayout::create({sizes->data(), rank}, {dim_order->data(), rank}, dtype);
  ET_CHECK_OR_RETURN_ERROR(rank <= rushlight::kTensorDimensionLimit, InvalidProgram,
                           "tensor: got %zu dimensions, expected at most %zu", rank,
                           size_t{rushlight::kTensorDimensionLimit});
  using Dynamism = executorch_flatbuffer::TensorShapeDynamism;
  const auto dynamism = s_tensor->shape_dynamism();
  ET_CHECK_OR_RETURN_ERROR(dynamism >= Dynamism::MIN && dynamism <= Dynamism::MAX, InvalidProgram,
                           "tensor: unknown shape dynamism %d", static_cast<int>(dynamism));
  const auto device = device_of(*s_tensor);
  ET_CHECK_OR_RETURN_ERROR(device.has_value(), InvalidProgram, "tensor: unknown device");
  auto data = getTensorDataPtr(s_tensor, program, layout->nbytes(), memory_manager->planned_memory(),
                               named_data_map, external_constants);
  if (!data.ok()) return data.error();

#ifdef USE_ATEN_LIB
  // PyTorch's tensors own their description. The memory is the program's or planned.
  ET_CHECK_OR_RETURN_ERROR(device->is_cpu(), NotSupported, "tensor: expected memory of the CPU");
  std::vector<SizesType> own_sizes(sizes->begin(), sizes->end());
  std::vector<executorch::aten::StridesType> strides(rank);
  runtime::dim_order_to_stride_nocheck(own_sizes.data(), dim_order->data(), rank, strides.data());
  static_cast<void>(dynamism);
  return at::from_blob(*data, own_sizes, strides, at::TensorOptions(dtype));
#else
  MemoryAllocator* allocator = memory_manager->method_allocator();
  // malloc may return null for 0 bytes.
  const size_t capacity = std::max<size_t>(rank, 1);
  auto* own_sizes = allocator->allocateList<SizesType>(capacity);
  auto* own_order = allocator->allocateList<DimOrderType>(capacity);
  auto* address = allocator->allocateInstance<TensorImpl>();
  if (own_sizes == nullptr || own_order == nullptr || address == nullptr)
    return Error::MemoryAllocationFailed;
  // Copied, because resizing writes to them and the file may be in read-only memory.
  std::copy_n(sizes->data(), rank, own_sizes);
  std::copy_n(dim_order->data(), rank, own_order);
  auto* impl = new (address) TensorImpl(dtype, static_cast<ssize_t>(rank), own_sizes, *data, own_order,
                                        nullptr, static_cast<executorch::aten::TensorShapeDynamism>(dynamism),
                                        device->type(), device->index());
  const bool is_constant = s_tensor->allocation_info() == nullptr && *data != nullptr;
  if (is_constant) impl->rushlight::TensorImpl::set_data(*data, rushlight::Storage::Constant);
  return Tensor(impl);
#endif
}

Error validateTensorLayout(const executorch_flatbuffer::Tensor* s_tensor,
                           const TensorLayout& expected_layout) {
  const auto dtype = static_cast<ScalarType>(s_tensor->scalar_type());
  ET_CHECK_OR_RETURN_ERROR(dtype == expected_layout.scalar_type(), InvalidExternalData,
                           "external data: expected dtype %d, got %d", static_cast<int>(dtype),
                           static_cast<int>(expected_layout.scalar_type()));
  const auto same = [](const auto* own, const auto& other) {
    return own != nullptr && own->size() == other.size() &&
           std::equal(other.begin(), other.end(), own->data());
  };
  ET_CHECK_OR_RETURN_ERROR(same(s_tensor->sizes(), expected_layout.sizes()), InvalidExternalData,
                           "external data: sizes differ from the program's");
  ET_CHECK_OR_RETURN_ERROR(same(s_tensor->dim_order(), expected_layout.dim_order()), InvalidExternalData,
                           "external data: dim order differs from the program's");
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::deserialization
