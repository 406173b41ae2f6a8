// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/reduction/histogram_range.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

// The bound as an element of `type`; one beyond the largest element stays as it is.
double rounded(double bound, ScalarType type) {
  alignas(double) char element[sizeof(double)];
  store_number(element, type, bound);
  const double number = load_number(element, type);
  return std::isfinite(number) ? number : bound;
}

}  // namespace

// Counts the elements in `bins` bins of equal width over [min, max]; the last bin includes its right edge.
// Elements outside, and NaN, are ignored. Bounds are rounded to the dtype of `self`; the bin is computed in
// double. Counts have the dtype of `self` and are rounded to it after each addition: float32 stops counting
// at 2^24.
Error histc_out(KernelContext&, const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max,
                Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::histc.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(bins > 0 && bins <= INT32_MAX, Error::InvalidArgument, "bins: expected 1 at least, got %ld",
           static_cast<long>(bins));
  // Equal bounds mean the range of the data.
  HistogramRange range{min.to<double>(), max.to<double>()};
  if (range.low == range.high) range.cover(self);
  // Data of one value are in the middle of a range around it, in PyTorch 1 on each side.
  const bool is_one_value = range.low == range.high && std::isfinite(range.low);
  if (!is_one_value) RL_TRY(range.widen(0));
  range = {rounded(range.low, type), rounded(range.high, type)};
  // A power of two keeps the products of a wide range finite; in a narrow range it could lose bits.
  const double width = range.high - range.low;
  const double scale = width > 1 ? 0x1p-31 : 1;
  const SizesType size = static_cast<SizesType>(bins);
  RL_TRY(resize_out(out, {&size, 1}));
  char* const counts = out.mutable_data_ptr<char>();
  for (SizesType i = 0; i < size; ++i) store_integer(counts + i * byte_stride(out, 0), type, 0);
  const char* at = self.const_data_ptr<char>();
  for (size_t i = 0; i < self.numel(); ++i, at += self.element_size()) {
    // Comparisons with NaN are false.
    const double number = load_number(at, type);
    if (!(number >= range.low && number <= range.high)) continue;
    // The quotient of an element at the right edge is `bins` itself. Without a width, the middle bin has the
    // one value, and the first one what is equal to bounds that were rounded to the same number.
    ptrdiff_t bin = is_one_value ? size / 2 : 0;
    if (width > 0) bin = static_cast<ptrdiff_t>((number - range.low) * (size * scale) / (width * scale));
    if (bin >= size) bin = size - 1;
    char* const count = counts + bin * byte_stride(out, 0);
    store_number(count, type, load_number(count, type) + 1);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
