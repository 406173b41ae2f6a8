// SPDX-License-Identifier: BSD-3-Clause
// Dtype, sizes and dim order of a tensor in a data file. Sizes and dim order refer to the file, which must
// outlive the object. The runtime compares a layout with the program's tensor before it uses the data.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Valid by construction; cheap to copy.
class TensorLayout final {
 public:
  TensorLayout() = delete;
  // `dim_order` has as many entries as `sizes`, at most 16, and both must outlive the layout. Error:
  // InvalidArgument (different lengths, a negative size, a dim order that is not a permutation, an unknown
  // dtype, a size in bytes that overflows).
  static executorch::runtime::Result<const TensorLayout> create(Span<const int32_t> sizes,
                                                                Span<const uint8_t> dim_order,
                                                                executorch::aten::ScalarType scalar_type);

  executorch::aten::ScalarType scalar_type() const { return dtype_; }
  // Bytes of all elements, without padding.
  size_t nbytes() const { return bytes_; }
  // The sizes by dimension, and the dimensions from outermost to innermost in memory.
  Span<const int32_t> sizes() const { return {first_size_, rank_}; }
  Span<const uint8_t> dim_order() const { return {outermost_, rank_}; }

 private:
  TensorLayout(executorch::aten::ScalarType dtype, size_t bytes, size_t rank, const int32_t* first_size,
               const uint8_t* outermost)
      : dtype_(dtype), bytes_(bytes), rank_(rank), first_size_(first_size), outermost_(outermost) {}

  executorch::aten::ScalarType dtype_;
  size_t bytes_;
  size_t rank_;
  const int32_t* first_size_;
  const uint8_t* outermost_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE
