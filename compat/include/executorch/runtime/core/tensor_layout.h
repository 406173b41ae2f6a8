// SPDX-License-Identifier: BSD-3-Clause
// What a tensor in a data file looks like; sizes and dim order are pointed at.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

class TensorLayout final {
 public:
  TensorLayout() = delete;
  // Error: InvalidArgument.
  static executorch::runtime::Result<const TensorLayout> create(Span<const int32_t> sizes,
                                                                Span<const uint8_t> dim_order,
                                                                executorch::aten::ScalarType scalar_type);

  Span<const int32_t> sizes() const { return sizes_; }
  Span<const uint8_t> dim_order() const { return dim_order_; }
  executorch::aten::ScalarType scalar_type() const { return scalar_type_; }
  size_t nbytes() const { return nbytes_; }

 private:
  TensorLayout(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
               executorch::aten::ScalarType scalar_type, size_t nbytes)
      : sizes_(sizes), dim_order_(dim_order), scalar_type_(scalar_type), nbytes_(nbytes) {}

  const Span<const int32_t> sizes_;
  const Span<const uint8_t> dim_order_;
  const executorch::aten::ScalarType scalar_type_;
  const size_t nbytes_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE
