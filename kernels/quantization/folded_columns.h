// SPDX-License-Identifier: BSD-3-Clause
// Converts the requantization of ExecuTorch's Cortex-M backend to the form that the integer backs take.
//
// There a column is requantize(bias + sum of (x + input_offset) * w). The backs multiply elements as stored,
// so input_offset * (sum of the column's weights) is added to the bias, in scratch memory, once a call. This
// reads each weight once. Shifts are int32 there and int8 here.
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

// Converts a scale. A shift below kLeastShift makes every sum 0, so the multiplier becomes 0.
// InvalidArgument.
Error narrow_scale(int64_t multiplier, int64_t shift, int32_t* narrow_multiplier, int8_t* narrow_shift);

// Checks the range of results; the zero point may be outside [low, high]. InvalidArgument unless all three
// fit in int8 and low <= high.
Error check_activation_range(const QuantizedRange& range);

// The input's zero point, -offset. InvalidArgument unless it fits in int8.
Error read_offset(int64_t offset, const char* name, int32_t* zero_point);

// One scale for all sums, with rounding "double".
class SumScale {
 public:
  SumScale() = default;
  SumScale(const SumScale&) = delete;
  SumScale& operator=(const SumScale&) = delete;

  // Sets the scale and proves that sums of at most `bound` do not overflow. InvalidArgument.
  Error set(int64_t multiplier, int64_t shift, int64_t bound, const QuantizedRange& range);

  [[nodiscard]] const ukernel::Requantization& get() const { return to_; }

 private:
  ukernel::Requantization to_;
  int32_t multiplier_ = 0;
  int8_t shift_ = 0;
};

// Biases and scales of columns in scratch memory. Use in this order: take(), fold(), set_scale() or
// set_scales(), prove(). The memory is valid until the kernel returns; bias() is a tensor on it.
class FoldedColumns {
 public:
  FoldedColumns() = default;
  FoldedColumns(const FoldedColumns&) = delete;
  FoldedColumns& operator=(const FoldedColumns&) = delete;

  // Bytes of scratch memory for a call, including alignment.
  [[nodiscard]] static size_t bytes(size_t columns, size_t scales) {
    return columns * sizeof(int32_t) + scales * (sizeof(int32_t) + sizeof(int8_t)) +
           2 * Arena::kDefaultAlignment;
  }

  // Allocates the biases of `columns` columns, and `scales` scales: one for each column, or one.
  // MemoryAllocationFailed.
  Error take(KernelContext& context, size_t columns, size_t scales);

  // bias[j] = bias of column j + input_offset * (sum of its weights + added_weights). `weight` is int8 of
  // rank 2 or 4; its dimension `column` is the columns. InvalidArgument if a result exceeds 32 bits, or the
  // bias (int32) does not have one element for each column. Cost: reads every weight once.
  Error fold(const Tensor& weight, size_t column, const std::optional<Tensor>& bias, int32_t input_offset,
             int64_t added_weights);
  // Sets scale `at`. InvalidArgument.
  Error set_scale(size_t at, int64_t multiplier, int64_t shift) {
    return narrow_scale(multiplier, shift, &multipliers_[at], &shifts_[at]);
  }
  // Sets all scales from int32 tensors with one element for each column. InvalidArgument, InvalidType.
  Error set_scales(const Tensor& multipliers, const Tensor& shifts);

  // Proves that the scales do not overflow for sums of `depth` products of at most `largest` and a bias of
  // `columns` elements, and sets `to`, which points into this object. The scales were copied, so no write of
  // the call can change them after the proof. InvalidArgument.
  Error prove(const int32_t* bias, size_t columns, size_t depth, int64_t largest, const QuantizedRange& range,
              ukernel::Requantization* to) const;

  [[nodiscard]] const std::optional<Tensor>& bias() const { return bias_; }

 private:
  // Writes the sum of each column's weights to sums_.
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
