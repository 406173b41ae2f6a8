// SPDX-License-Identifier: BSD-3-Clause
// A running median: sorts each window of `width` samples by insertion, O(width^2) per sample, in scratch
// memory of one window.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace example {

using namespace rushlight;

namespace {

// Writes the median of `width` neighbours for each sample of a row; `window` holds `width` elements. A NaN
// sorts before all numbers, so that it becomes the median, as in PyTorch.
template <class T>
void filter_row(const T* row, T* out, int64_t length, int64_t width, T* window) {
  const auto before = [](T a, T b) { return a < b || (a != a && b == b); };
  const int64_t half = width / 2;
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < width; ++k) {
      const T value = row[std::clamp<int64_t>(i + k - half, 0, length - 1)];
      int64_t slot = k;
      for (; slot > 0 && before(value, window[slot - 1]); --slot) window[slot] = window[slot - 1];
      window[slot] = value;
    }
    out[i] = window[0] != window[0] ? window[0] : window[half];
  }
}

}  // namespace

Error median_filter_out(KernelContext& context, const Tensor& x, int64_t width, Tensor& out) {
  constexpr TypeSet kTypes = kernels::selected_types("example::median_filter.out");
  RL_CHECK(width > 0 && width % 2 == 1, Error::InvalidArgument, "width: expected an odd number, got %ld",
           static_cast<long>(width));
  RL_CHECK(x.dim() > 0 && is_contiguous_dim_order(x.dim_order()), Error::InvalidArgument,
           "x: expected rows in row-major order");
  RL_TRY(kernels::check_same_dtype(x, out, "x and out"));
  RL_TRY(kernels::resize_out(out, x.sizes()));
  if (x.numel() == 0) return Error::Ok;
  return dispatch<kTypes>(x.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    auto* window = static_cast<T*>(context.allocate_temp(static_cast<size_t>(width) * sizeof(T)));
    RL_CHECK(window != nullptr, Error::MemoryAllocationFailed, "out of scratch memory: need %ld elements",
             static_cast<long>(width));
    const int64_t length = x.sizes()[x.dim() - 1];
    const T* row = x.const_data_ptr<T>();
    const T* end = row + x.numel();
    for (T* results = out.mutable_data_ptr<T>(); row != end; row += length, results += length) {
      filter_row(row, results, length, width, window);
    }
    return Error::Ok;
  });
}

}  // namespace example
