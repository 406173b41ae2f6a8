// SPDX-License-Identifier: BSD-3-Clause
// Columns of sums of products in the conventions of ExecuTorch's Cortex-M backend, as backs take them.
//
// There a column is quantized(bias + sum of (x + input_offset) * w). Backs multiply numbers as they are
// stored: input_offset * (sum of the column's weights) becomes part of the bias, in scratch memory, once a
// call. That reads each weight once. Shifts are int32 there and int8 here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A scale as backs have it: with a shift below the least one every sum is 0, which a multiplier of 0 says,
// too. InvalidArgument.
Error narrow_scale(int64_t multiplier, int64_t shift, int32_t* narrow_multiplier, int8_t* narrow_shift);

// The range of results: the zero point may lie outside of the limits of an activation. InvalidArgument unless
// all three are numbers of int8 and low <= high.
Error check_activation_range(const QuantizedRange& range);

// The input's zero point, which is -offset. InvalidArgument unless that is a number of int8.
Error read_offset(int64_t offset, const char* name, int32_t* zero_point);

// One scale for all sums, with rounding "double".
class SumScale {
 public:
  SumScale() = default;
  SumScale(const SumScale&) = delete;
  SumScale& operator=(const SumScale&) = delete;

  // Proves it, for sums of at most `bound`. InvalidArgument.
  Error set(int64_t multiplier, int64_t shift, int64_t bound, const QuantizedRange& range);

  [[nodiscard]] const ukernel::Requantization& get() const { return to_; }

 private:
  ukernel::Requantization to_;
  int32_t multiplier_ = 0;
  int8_t shift_ = 0;
};

class FoldedColumns {
 public:
  FoldedColumns() = default;
  FoldedColumns(const FoldedColumns&) = delete;
  FoldedColumns& operator=(const FoldedColumns&) = delete;

  // Scratch memory of a call, alignment included.
  [[nodiscard]] static size_t bytes(size_t columns, size_t scales) {
    return columns * sizeof(int32_t) + scales * (sizeof(int32_t) + sizeof(int8_t)) +
           2 * Arena::kDefaultAlignment;
  }

  // Memory for the columns' biases, and for a scale for each of them or for one. MemoryAllocationFailed.
  Error take(KernelContext& context, size_t columns, size_t scales);

  // bias[j] = bias of column j + input_offset * (sum of its weights + added_weights). `weight` is int8 of
  // rank 2 or 4, whose dimension `column` has the columns. InvalidArgument where that has more than 32 bits,
  // or the bias, int32, not one element a column.
  Error fold(const Tensor& weight, size_t column, const std::optional<Tensor>& bias, int32_t input_offset,
             int64_t added_weights);
  // One scale. InvalidArgument.
  Error set_scale(size_t at, int64_t multiplier, int64_t shift) {
    return narrow_scale(multiplier, shift, &multipliers_[at], &shifts_[at]);
  }
  // All scales, of int32 tensors with one for each column. InvalidArgument, InvalidType.
  Error set_scales(const Tensor& multipliers, const Tensor& shifts);

  // Proves what was set, for sums of `depth` products that are at most `largest`, and a bias of `columns`
  // numbers. InvalidArgument.
  Error prove(const int32_t* bias, size_t columns, size_t depth, int64_t largest, const QuantizedRange& range,
              ukernel::Requantization* to) const;

  [[nodiscard]] const std::optional<Tensor>& bias() const { return bias_; }

 private:
  void sum_weights(const Tensor& weight, size_t column);

  size_t columns_ = 0;
  size_t scales_ = 0;
  int32_t* sums_ = nullptr;
  int32_t* multipliers_ = nullptr;
  int8_t* shifts_ = nullptr;
  SizesType size_[1] = {0};
  DimOrderType order_[1] = {0};
  StridesType stride_[1] = {1};
  TensorImpl impl_{ScalarType::Int, 1, size_, nullptr, order_, stride_};
  std::optional<Tensor> bias_;
};

}  // namespace rushlight::kernels
