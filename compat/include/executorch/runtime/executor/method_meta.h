// SPDX-License-Identifier: BSD-3-Clause
// Properties of a method before it is loaded: rushlight::MethodMeta with the official members. An application
// reads them to provide memory of the right size:
//
//   auto meta = program->method_meta("forward");
//   for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i)
//     buffers.emplace_back(*meta->memory_planned_buffer_size(i));
#pragma once

#include <string_view>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>

#include "runtime/program/method_meta.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace testing {
class TensorInfoTestFriend;
}

// A tensor of a program. Cheap to copy; the spans and the name point into the program and are valid as long
// as it.
class TensorInfo final {
 public:
  TensorInfo() = delete;

  Span<const int32_t> sizes() const { return facts_.sizes; }  // upper bounds if the shape is dynamic
  // The dimensions from outermost to innermost in memory, one entry per size.
  Span<const uint8_t> dim_order() const { return facts_.order; }
  executorch::aten::ScalarType scalar_type() const { return facts_.dtype; }
  // True if the program planned the memory. False for a tensor whose memory the caller provides by
  // set_input() or set_output_data_ptr(), and for a constant.
  bool is_memory_planned() const { return facts_.planned; }
  // Bytes of the elements; for a dynamic shape, at its upper bounds.
  size_t nbytes() const { return facts_.bytes; }
  // The fully qualified name of a parameter, buffer or constant; otherwise empty.
  std::string_view name() const { return facts_.name; }

 private:
  friend class MethodMeta;
  friend class testing::TensorInfoTestFriend;

  // Computes nbytes(). Errors: InvalidArgument (a negative size, an unknown dtype, a size in bytes that
  // overflows).
  static Result<TensorInfo> create(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
                                   executorch::aten::ScalarType scalar_type, const bool is_memory_planned,
                                   std::string_view name);
  static Result<TensorInfo> create(rushlight::flatbuffer::Table tensor);

  // Verified by create().
  struct Facts {
    size_t bytes;
    executorch::aten::ScalarType dtype;
    bool planned;
    std::string_view name;
    Span<const int32_t> sizes;
    Span<const uint8_t> order;
  };
  explicit TensorInfo(const Facts& facts) : facts_(facts) {}

  Facts facts_;
};

// A view of one method in a program, which must outlive it. Cheap to copy; nothing is cached, so each query
// reads the tables again.
class MethodMeta final {
 public:
  MethodMeta() = delete;
  explicit MethodMeta(rushlight::MethodMeta meta) : meta_(meta) {}

  // The name by which load_method() finds the method.
  const char* name() const { return meta_.name(); }

  // Inputs and outputs in the order of the exported signature. The tag tells the kind; only for Tag::Tensor
  // is there a tensor description. Errors: InvalidArgument (index), InvalidType (not a tensor),
  // InvalidProgram (the value is missing or has no kind).
  size_t num_inputs() const { return meta_.num_inputs(); }
  Result<Tag> input_tag(size_t index) const;
  Result<TensorInfo> input_tensor_meta(size_t index) const;
  size_t num_outputs() const { return meta_.num_outputs(); }
  Result<Tag> output_tag(size_t index) const;
  Result<TensorInfo> output_tensor_meta(size_t index) const;

  // Mutable buffers: tensors in planned memory that have a name. Finding one searches all values of the
  // method. Error: InvalidArgument (index).
  size_t num_attributes() const;
  Result<TensorInfo> attribute_tensor_meta(size_t index) const;

  // Planned buffers, counted from 0: buffer 0 has memory id 1 in the file. Sizes are in bytes. A buffer
  // without an entry in the program's table of devices is on the CPU. Errors: InvalidArgument (index),
  // InvalidProgram (a negative or excessive size).
  size_t num_memory_planned_buffers() const { return meta_.num_planned_buffers(); }
  Result<int64_t> memory_planned_buffer_size(size_t index) const;
  Result<etensor::Device> memory_planned_buffer_device(size_t index) const;
  ET_DEPRECATED size_t num_non_const_buffers() const { return num_memory_planned_buffers(); }
  Result<int64_t> non_const_buffer_size(size_t index) const { return memory_planned_buffer_size(index); }

  // Backends of the method's delegates, without repetition. Names are valid as long as the program;
  // `backend_name` is not null. Error: InvalidArgument (index).
  bool uses_backend(const char* backend_name) const { return meta_.uses_backend(backend_name); }
  size_t num_backends() const;
  Result<const char*> get_backend_name(size_t index) const;

  // The number of instructions in all chains; a measure of the method's length, not of its time.
  ET_EXPERIMENTAL size_t num_instructions() const;

  // rushlight's object, which also computes arena sizes.
  const rushlight::MethodMeta& rushlight_meta() const { return meta_; }

 private:
  rushlight::MethodMeta meta_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::MethodMeta;
using ::executorch::ET_RUNTIME_NAMESPACE::TensorInfo;
}  // namespace torch::executor
