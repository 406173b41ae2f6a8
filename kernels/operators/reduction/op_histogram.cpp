// SPDX-License-Identifier: BSD-3-Clause
// Histograms with given or evenly spaced edges. Finds each element's bin by binary search over the edges,
// log2(bins) comparisons, since edges need not be evenly spaced. That they ascend is not checked: in another
// order elements go to some bin, but never outside the histogram.
#include <cstring>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/reduction/histogram_range.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Read and write an element of a vector as double.
double get(const Tensor& vector, ptrdiff_t i) {
  return load_number(vector.const_data_ptr<char>() + i * ptrdiff_t(vector.element_size()),
                     vector.scalar_type());
}
void set(const Tensor& vector, ptrdiff_t i, double value) {
  store_number(vector.mutable_data_ptr<char>() + i * ptrdiff_t(vector.element_size()), vector.scalar_type(),
               value);
}

Error check_bins(int64_t bins) {
  RL_CHECK(bins > 0 && bins < INT32_MAX, Error::InvalidArgument, "bins: expected 1 at least, got %ld",
           static_cast<long>(bins));
  return Error::Ok;
}

// All bits 0 are 0 in every dtype.
void clear(const Tensor& vector) { std::memset(vector.mutable_data_ptr(), 0, vector.nbytes()); }

// A bin includes its left edge, the last one also its right edge. Without weights each element counts 1.
// Elements outside, and NaN, are ignored. Sums have the dtype of `self` and are rounded to it after each
// addition. `density` divides by the total and by the widths, so that the integral is 1.
Error count_in_bins(const Tensor& self, const std::optional<Tensor>& weight, bool density,
                    const Tensor& edges, const Tensor& hist) {
  const ptrdiff_t bins = edges.size(0) - 1;
  RL_TRY(check_bins(bins));
  const auto size = static_cast<SizesType>(bins);
  RL_TRY(resize_out(hist, {&size, 1}));
  clear(hist);
  double total = 0;
  const View views[] = {at_least_1d(self), at_least_1d(weight ? *weight : self)};
  RL_TRY(for_each_fiber(views, views[0].dim - 1, [&](const Fiber* fibers) {
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      const double number = load_number(fibers[0].data + i * fibers[0].stride, self.scalar_type());
      if (!(number >= get(edges, 0) && number <= get(edges, bins))) continue;
      ptrdiff_t bin = 0;
      // Invariant: edges[bin] <= number, and number < edges[above] or above is the last edge.
      for (ptrdiff_t above = bins; above - bin > 1;) {
        const ptrdiff_t middle = bin + (above - bin) / 2;
        (number < get(edges, middle) ? above : bin) = middle;
      }
      const double amount =
          weight ? load_number(fibers[1].data + i * fibers[1].stride, self.scalar_type()) : 1;
      set(hist, bin, get(hist, bin) + amount);
      total += amount;
    }
    return Error::Ok;
  }));
  if (!density) return Error::Ok;
  for (ptrdiff_t bin = 0; bin < bins; ++bin) {
    set(hist, bin, get(hist, bin) / total / (get(edges, bin + 1) - get(edges, bin)));
  }
  return Error::Ok;
}

Error check_histogram(TypeSet types, const Tensor& self, const std::optional<Tensor>& weight,
                      const Tensor& hist, const Tensor& edges) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, hist, "self and hist"));
  RL_TRY(check_same_dtype(self, edges, "self and bin_edges"));
  if (!weight) return Error::Ok;
  RL_TRY(check_same_dtype(self, *weight, "self and weight"));
  bool fits = weight->dim() == self.dim();
  for (ptrdiff_t d = 0; fits && d < self.dim(); ++d) fits = weight->size(d) == self.size(d);
  RL_CHECK(fits, Error::InvalidArgument, "weight: expected the shape of self");
  return Error::Ok;
}

}  // namespace

Error histogram_bins_tensor_out(KernelContext&, const Tensor& self, const Tensor& bins,
                                const std::optional<Tensor>& weight, bool density, Tensor& hist,
                                Tensor& bin_edges) {
  constexpr TypeSet kTypes = selected_types("aten::histogram.bins_tensor_out");
  RL_TRY(check_histogram(kTypes, self, weight, hist, bin_edges));
  RL_TRY(check_same_dtype(self, bins, "self and bins"));
  RL_CHECK(bins.dim() == 1, Error::InvalidArgument, "bins: expected 1 dimension, got %ld",
           static_cast<long>(bins.dim()));
  RL_TRY(copy_to_out(View::of(bins), bin_edges));
  return count_in_bins(self, weight, density, bin_edges, hist);
}

// Default range: the data's minimum and maximum, or [0, 1] if there is no data. A NaN or infinity in the data
// is an error then. Equal bounds are moved apart by 0.5 on each side.
Error histogram_bin_ct_out(KernelContext&, const Tensor& self, int64_t bins,
                           std::optional<Span<const double>> range, const std::optional<Tensor>& weight,
                           bool density, Tensor& hist, Tensor& bin_edges) {
  constexpr TypeSet kTypes = selected_types("aten::histogram.bin_ct_out");
  RL_TRY(check_histogram(kTypes, self, weight, hist, bin_edges));
  RL_TRY(check_bins(bins));
  RL_CHECK(!range || range->size() == 2, Error::InvalidArgument, "range: expected 2 values, got %d",
           static_cast<int>(range->size()));
  HistogramRange covered{0, 1};
  if (range) {
    covered = {(*range)[0], (*range)[1]};
  } else {
    covered.cover(self);
  }
  RL_TRY(covered.widen(0.5));
  const auto last = static_cast<SizesType>(bins);
  const SizesType count = last + 1;
  RL_TRY(resize_out(bin_edges, {&count, 1}));
  const double step = (covered.high - covered.low) / last;
  for (SizesType i = 0; i < last; ++i) set(bin_edges, i, covered.low + i * step);
  // Stored exactly: low + bins * step may be rounded to less.
  set(bin_edges, last, covered.high);
  return count_in_bins(self, weight, density, bin_edges, hist);
}

}  // namespace rushlight::kernels
