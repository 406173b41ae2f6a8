// SPDX-License-Identifier: BSD-3-Clause
// Parses tensors and lists of values from a program's tables, for code that walks the tables itself, such as
// ExecuTorch's tests. Methods do not use these functions: they verify once and build their values in one
// arena. Here each call verifies its tensor again, and takes memory for it alone.
#pragma once

#include <new>
#include <optional>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE::deserialization {

// Data of a constant that is stored outside of the program: its key, and the bytes that a NamedDataMap
// returned.
struct NamedData {
  const char* key;
  FreeableBuffer buffer;
};

// Returns the first entry with that key, or null. Keys are compared one by one.
NamedData* get_data_by_key(const char* key, Span<NamedData> entries);

// Returns the address of a tensor's data, `nbytes` bytes: constants are in the program or in
// `external_constants`, other tensors in planned memory of `allocator`, with an initial state from the
// program or from `named_data_map`. Null for a tensor that receives its memory later (an unplanned input). A
// constant must not be written, although the pointer is not const.
//
// Errors: InvalidProgram, NotFound (no external data of that name), InvalidExternalData (external data
// without a name, a map or enough bytes, or of another layout), InvalidState (planned memory is required but
// null), or as the map or allocator.
ET_NODISCARD Result<void*> getTensorDataPtr(const executorch_flatbuffer::Tensor* s_tensor,
                                            const Program* program, size_t nbytes,
                                            HierarchicalAllocator* allocator,
                                            const NamedDataMap* named_data_map = nullptr,
                                            Span<NamedData> external_constants = {});

// Creates the tensor in memory of the method's allocator, with the data of getTensorDataPtr(); kernels refuse
// to write a constant. Sizes and dim order are copied, so the tensor can be resized if its shape is dynamic.
// The memory is not returned if a later step fails. Errors: InvalidProgram (invalid shape, dtype, dynamism or
// device), NotSupported (a storage offset), MemoryAllocationFailed, or as getTensorDataPtr().
ET_NODISCARD Result<executorch::aten::Tensor> parseTensor(const Program* program,
                                                          MemoryManager* memory_manager,
                                                          const executorch_flatbuffer::Tensor* s_tensor,
                                                          const NamedDataMap* named_data_map = nullptr,
                                                          Span<NamedData> external_constants = {});

// Checks that a tensor of the program and one of a data file have the same dtype, sizes and dim order. Dim
// orders are compared literally, even where a size of 1 makes them the same layout. Error:
// InvalidExternalData (logs the difference).
ET_NODISCARD Error validateTensorLayout(const executorch_flatbuffer::Tensor* s_tensor,
                                        const TensorLayout& expected_layout);

// Converts a value to an item of a list. An optional item accepts None as an absent one; another kind of
// value is InvalidType.
template <class T>
struct ListItem {
  static constexpr bool kOptional = false;
  static Result<T> of(const EValue& value) { return value.tryTo<T>(); }
};
template <class T>
struct ListItem<std::optional<T>> {
  static constexpr bool kOptional = true;
  static Result<std::optional<T>> of(const EValue& value) { return value.tryToOptional<T>(); }
};

// Creates a list of the values at `indices` in memory of the method's allocator: an array of pointers, which
// BoxedEvalueList reads again at each access, and an array for the items. `values` has `values_len` entries
// and must outlive the list. For optional items, index -1 is an absent one. Errors: InvalidProgram (an
// index), InvalidType, MemoryAllocationFailed.
template <class Item>
ET_NODISCARD Result<BoxedEvalueList<Item>> parse_list(Span<const int32_t> indices, EValue* values,
                                                      size_t values_len, MemoryManager* memory_manager) {
  // An empty list has an address too.
  const size_t capacity = indices.empty() ? 1 : indices.size();
  auto** referred = memory_manager->method_allocator()->allocateList<EValue*>(capacity);
  auto* items = memory_manager->method_allocator()->allocateList<Item>(capacity);
  if (referred == nullptr || items == nullptr) return Error::MemoryAllocationFailed;
  const EValue none;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int32_t index = indices[i];
    const bool is_none = ListItem<Item>::kOptional && index == -1;
    ET_CHECK_OR_RETURN_ERROR(is_none || (index >= 0 && static_cast<size_t>(index) < values_len),
                             InvalidProgram, "list: value %" PRId32 " of %zu", index, values_len);
    referred[i] = is_none ? nullptr : &values[index];
    auto item = ListItem<Item>::of(is_none ? none : values[index]);
    if (!item.ok()) return item.error();
    new (&items[i]) Item(*item);
  }
  return BoxedEvalueList<Item>(referred, items, static_cast<int>(indices.size()));
}

// A vector of a program as a span into the program; empty for null.
inline Span<const int32_t> indices_of(const flatbuffers::Vector<int32_t>* vector) {
  if (vector == nullptr) return {};
  return {vector->data(), vector->size()};
}

// parse_list() under the official names, for tensors and for optional items (T is Tensor or another type of
// EValue).
ET_NODISCARD inline Result<BoxedEvalueList<executorch::aten::Tensor>> parseTensorList(
    const flatbuffers::Vector<int32_t>* tensor_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager) {
  return parse_list<executorch::aten::Tensor>(indices_of(tensor_indices), values, values_len, memory_manager);
}

template <class T>
ET_NODISCARD Result<BoxedEvalueList<std::optional<T>>> parseListOptionalType(
    const flatbuffers::Vector<int32_t>* value_indices, EValue* values, size_t values_len,
    MemoryManager* memory_manager) {
  return parse_list<std::optional<T>>(indices_of(value_indices), values, values_len, memory_manager);
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::deserialization

namespace torch::executor::deserialization {
using ::executorch::ET_RUNTIME_NAMESPACE::deserialization::getTensorDataPtr;
using ::executorch::ET_RUNTIME_NAMESPACE::deserialization::parseListOptionalType;
using ::executorch::ET_RUNTIME_NAMESPACE::deserialization::parseTensor;
using ::executorch::ET_RUNTIME_NAMESPACE::deserialization::parseTensorList;
}  // namespace torch::executor::deserialization
