// SPDX-License-Identifier: BSD-3-Clause
// Reads the verified plan directly; nothing is cached. Indices of values are checked on each access, because
// minimal verification does not cover them.
#include "runtime/program/method_meta.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/program/layout.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;

Result<Table> value_of(Table plan, unsigned slot, size_t index) {
  const auto indices = plan.vector<int32_t>(slot);
  RL_CHECK(index < indices.size(), Error::InvalidArgument, "method %s: %s %lu of %lu",
           plan.string(schema::plan::kName), slot == schema::plan::kInputs ? "input" : "output",
           static_cast<unsigned long>(index), static_cast<unsigned long>(indices.size()));
  const auto values = plan.tables(schema::plan::kValues);
  const auto at = static_cast<uint32_t>(indices[index]);
  RL_CHECK(at < values.size(), Error::InvalidProgram, "method %s: value %lu of %lu",
           plan.string(schema::plan::kName), static_cast<unsigned long>(at),
           static_cast<unsigned long>(values.size()));
  return values[at];
}

Result<Tag> tag_at(Table plan, unsigned slot, size_t index) {
  RL_TRY_ASSIGN(const Table value, value_of(plan, slot, index));
  const auto kind = value.scalar<uint8_t>(schema::evalue::kValType);
  RL_CHECK(kind != 0, Error::InvalidProgram, "method %s: a value has no kind",
           plan.string(schema::plan::kName));
  return tag_of(static_cast<schema::ValueKind>(kind));
}

Result<TensorInfo> tensor_at(Table plan, unsigned slot, size_t index) {
  RL_TRY_ASSIGN(const Table value, value_of(plan, slot, index));
  RL_CHECK(value.scalar<uint8_t>(schema::evalue::kValType) == static_cast<uint8_t>(schema::ValueKind::Tensor),
           Error::InvalidType, "method %s: value is not a tensor", plan.string(schema::plan::kName));
  const Table tensor = value.table(schema::evalue::kVal);
  // The method brings the memory: planned memory, or a constant of the program.
  const bool has_memory = static_cast<bool>(tensor.table(schema::tensor::kAllocationInfo)) ||
                          tensor.scalar<uint32_t>(schema::tensor::kDataBufferIdx) != 0;
  // Sizes and dtype are returned as stored: Method::load() verifies them, a reader of properties may not need
  // to.
  return TensorInfo{static_cast<ScalarType>(tensor.scalar<int8_t>(schema::tensor::kScalarType)),
                    static_cast<TensorShapeDynamism>(tensor.scalar<uint8_t>(schema::tensor::kShapeDynamism)),
                    tensor.vector<int32_t>(schema::tensor::kSizes),
                    tensor.vector<uint8_t>(schema::tensor::kDimOrder), has_memory};
}

}  // namespace

Tag tag_of(schema::ValueKind kind) {
  // In the order of schema::ValueKind, whose first value is 1.
  constexpr Tag kTags[] = {Tag::None,
                           Tag::Int,
                           Tag::Bool,
                           Tag::Double,
                           Tag::Tensor,
                           Tag::String,
                           Tag::ListInt,
                           Tag::ListDouble,
                           Tag::ListBool,
                           Tag::ListTensor,
                           Tag::ListOptionalTensor};
  return kTags[static_cast<uint8_t>(kind) - 1];
}

const char* MethodMeta::name() const { return plan_.string(schema::plan::kName); }
size_t MethodMeta::num_inputs() const { return plan_.vector<int32_t>(schema::plan::kInputs).size(); }
size_t MethodMeta::num_outputs() const { return plan_.vector<int32_t>(schema::plan::kOutputs).size(); }

Result<Tag> MethodMeta::input_tag(size_t index) const { return tag_at(plan_, schema::plan::kInputs, index); }
Result<Tag> MethodMeta::output_tag(size_t index) const {
  return tag_at(plan_, schema::plan::kOutputs, index);
}
Result<TensorInfo> MethodMeta::input_tensor(size_t index) const {
  return tensor_at(plan_, schema::plan::kInputs, index);
}
Result<TensorInfo> MethodMeta::output_tensor(size_t index) const {
  return tensor_at(plan_, schema::plan::kOutputs, index);
}

size_t MethodMeta::num_planned_buffers() const {
  const size_t sizes = plan_.vector<int64_t>(schema::plan::kNonConstBufferSizes).size();
  return sizes == 0 ? 0 : sizes - 1;  // entry 0 is reserved
}

Result<size_t> MethodMeta::planned_buffer_size(size_t index) const {
  const auto sizes = plan_.vector<int64_t>(schema::plan::kNonConstBufferSizes);
  RL_CHECK(index + 1 < sizes.size(), Error::InvalidArgument, "planned buffer %lu of %lu",
           static_cast<unsigned long>(index), static_cast<unsigned long>(num_planned_buffers()));
  const int64_t size = sizes[index + 1];
  // At most half of the address space, so that sums of two sizes fit in size_t.
  RL_CHECK(size >= 0 && static_cast<uint64_t>(size) <= SIZE_MAX / 2, Error::InvalidProgram,
           "planned buffer %lu: a size of %ld bytes", static_cast<unsigned long>(index),
           static_cast<long>(size));
  return static_cast<size_t>(size);
}

// Buffers without an entry in the device table are on the CPU.
Result<Device> MethodMeta::planned_buffer_device(size_t index) const {
  RL_CHECK(index < num_planned_buffers(), Error::InvalidArgument, "planned buffer %lu of %lu",
           log_number(index), log_number(num_planned_buffers()));
  const auto devices = plan_.tables(schema::plan::kNonConstBufferDevice);
  for (size_t i = 0; i < devices.size(); ++i) {
    // The table counts buffers as the sizes do, with entry 0 reserved.
    if (static_cast<uint32_t>(devices[i].scalar<int32_t>(schema::buffer_device::kBufferIdx)) != index + 1)
      continue;
    return Device{devices[i].scalar<uint8_t>(schema::buffer_device::kDeviceType),
                  devices[i].scalar<uint8_t>(schema::buffer_device::kDeviceIndex)};
  }
  return Device{};
}

// `pointer_bytes` need not be the host's: layouts of other targets are computed from counts alone.
Result<uint64_t> MethodMeta::arena_bytes(size_t pointer_bytes) const {
  PlanCounts counts;
  RL_TRY(count_plan(plan_, &counts));
  return lay_out_arena(counts, pointer_bytes).size;
}

Result<size_t> MethodMeta::arena_bytes() const {
  RL_TRY_ASSIGN(const uint64_t size, arena_bytes(sizeof(void*)));
  RL_CHECK(size <= SIZE_MAX, Error::MemoryAllocationFailed, "method %s: needs %lu bytes", name(),
           log_number(size));
  return static_cast<size_t>(size);
}

size_t MethodMeta::num_backends() const { return plan_.tables(schema::plan::kDelegates).size(); }

Result<const char*> MethodMeta::backend_name(size_t index) const {
  RL_CHECK(index < num_backends(), Error::InvalidArgument, "backend %lu of %lu", log_number(index),
           log_number(num_backends()));
  return plan_.tables(schema::plan::kDelegates)[index].string(schema::delegate::kId);
}

bool MethodMeta::uses_backend(const char* name) const {
  const auto delegates = plan_.tables(schema::plan::kDelegates);
  for (size_t i = 0; i < delegates.size(); ++i) {
    if (std::strcmp(delegates[i].string(schema::delegate::kId), name) == 0) return true;
  }
  return false;
}

}  // namespace rushlight
