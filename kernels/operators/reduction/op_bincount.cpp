// SPDX-License-Identifier: BSD-3-Clause
// Counts, or sums of weights, of each value of a vector of integers. Two passes: the first finds the number
// of bins. Counts are int64. Weights sum in float32 if they are float32, else in double, as in PyTorch; each
// addition is rounded to that dtype.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element_access.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Calls f(numbers, first, n) for pieces of the elements as int64.
template <class F>
void for_numbers(const Tensor& self, F f) {
  for_pieces<int64_t>(self.const_data_ptr<char>(), static_cast<ptrdiff_t>(self.element_size()),
                      self.scalar_type(), self.numel(), f);
}

// The number of bins: the largest element plus 1, but at least `least`. InvalidArgument if an element is
// negative or too large to count: the number of bins must fit in a 32-bit size.
Error count_bins(const Tensor& self, int64_t least, int64_t* bins) {
  int64_t smallest = 0;
  int64_t largest = least - 1;
  for_numbers(self, [&](const int64_t* numbers, size_t, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      smallest = numbers[i] < smallest ? numbers[i] : smallest;
      largest = numbers[i] > largest ? numbers[i] : largest;
    }
  });
  RL_CHECK(smallest >= 0 && largest < INT32_MAX, Error::InvalidArgument,
           "self: expected values in [0, 2^31 - 1), got %ld",
           static_cast<long>(smallest < 0 ? smallest : largest));
  *bins = largest + 1;
  return Error::Ok;
}

}  // namespace

Error bincount_out(KernelContext&, const Tensor& self, const std::optional<Tensor>& weights,
                   int64_t minlength, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::bincount.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes & types::kIntegral, type)) return unsupported_type(type);
  RL_CHECK(self.dim() == 1, Error::InvalidArgument, "self: expected 1 dimension, got %ld",
           static_cast<long>(self.dim()));
  RL_CHECK(minlength >= 0 && minlength <= INT32_MAX, Error::InvalidArgument,
           "minlength: expected 0 at least, got %ld", static_cast<long>(minlength));
  ScalarType sum_type = ScalarType::Long;
  if (weights) {
    RL_CHECK(weights->dim() == 1 && weights->numel() == self.numel(), Error::InvalidArgument,
             "weights: expected 1 dimension of %lu elements, as self has, got %ld of %lu",
             log_number(self.numel()), static_cast<long>(weights->dim()), log_number(weights->numel()));
    if (!contains(kTypes, weights->scalar_type())) return unsupported_type(weights->scalar_type());
    sum_type = weights->scalar_type() == ScalarType::Float ? ScalarType::Float : ScalarType::Double;
  }
  RL_CHECK(out.scalar_type() == sum_type, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(sum_type), to_string(out.scalar_type()));
  if (!contains(kAnySelectedType, sum_type)) return unsupported_type(sum_type);
  int64_t bins = 0;
#ifndef __OPTIMIZE_SIZE__
  // Small numbers take one pass, with four counts of each, so that equal neighbors need not wait for each
  // other. A larger number ends the pass.
  constexpr uint64_t kFewBins = 256;
  uint32_t counts[4][kFewBins] = {};
  uint64_t bits = weights ? kFewBins : 0;  // of all numbers
  for_numbers(self, [&](const int64_t* numbers, size_t, size_t n) {
    if (bits >= kFewBins) return;
    for (size_t i = 0; i < n; ++i) {
      const auto bin = static_cast<uint64_t>(numbers[i]);
      bits |= bin;
      ++counts[i % 4][bin % kFewBins];
    }
  });
  const auto count_of = [&](size_t bin) {
    return int64_t{counts[0][bin]} + counts[1][bin] + counts[2][bin] + counts[3][bin];
  };
  const bool is_counted = bits < kFewBins;
  if (is_counted) {
    for (size_t bin = 0; bin < kFewBins; ++bin)
      bins = count_of(bin) > 0 ? static_cast<int64_t>(bin) + 1 : bins;
    bins = bins < minlength ? minlength : bins;
  }
#else
  constexpr bool is_counted = false;
#endif
  if (!is_counted) RL_TRY(count_bins(self, minlength, &bins));
  const SizesType size = static_cast<SizesType>(bins);
  RL_TRY(resize_out(out, {&size, 1}));

  char* const sums = out.mutable_data_ptr<char>();
  const ptrdiff_t step = byte_stride(out, 0);
  // All dtypes of sums store an integer 0.
  for (SizesType i = 0; i < size; ++i) store_integer(sums + i * step, sum_type, 0);
#ifndef __OPTIMIZE_SIZE__
  if (is_counted) {
    for (size_t bin = 0; bin < kFewBins && static_cast<int64_t>(bin) < bins; ++bin) {
      *reinterpret_cast<int64_t*>(sums + static_cast<ptrdiff_t>(bin) * step) = count_of(bin);
    }
    return Error::Ok;
  }
#endif
  // Bins are tested again: other threads may change the elements after count_bins().
  for_numbers(self, [&](const int64_t* numbers, size_t first, size_t n) {
    if (!weights) {
      for (size_t i = 0; i < n; ++i) {
        const int64_t bin = numbers[i];
        if (bin >= 0 && bin < size) ++*reinterpret_cast<int64_t*>(sums + static_cast<ptrdiff_t>(bin) * step);
      }
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      const int64_t bin = numbers[i];
      if (bin < 0 || bin >= size) continue;
      char* const sum = sums + static_cast<ptrdiff_t>(bin) * step;
      const char* const weight = weights->const_data_ptr<char>() + (first + i) * weights->element_size();
      store_number(sum, sum_type, load_number(sum, sum_type) + load_number(weight, weights->scalar_type()));
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
