// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/shared/pooling.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The part of a window that lies on elements, and how many it covers including padding.
struct Covered {
  ptrdiff_t begin;
  ptrdiff_t end;
  int64_t padded;
};

Covered covered(const Window& window, ptrdiff_t index) {
  const int64_t start = index * window.step - window.pad;
  // Beyond the padding there is nothing, which a window made by ceil_mode reaches into.
  const int64_t end = std::min(start + window.kernel, window.in + window.pad);
  return {static_cast<ptrdiff_t>(std::max<int64_t>(start, 0)),
          static_cast<ptrdiff_t>(std::min(end, window.in)), end - start};
}

struct Divisor {
  bool counts_padding;
  int64_t fixed;  // 0: the number of elements
};

// Sums are made in Sum; `in` and `out` are planes with strides in bytes.
template <class T, class Sum>
void pool_plane(const Window* windows, const Divisor& divisor, const char* in, const ptrdiff_t* in_strides,
                char* out, const ptrdiff_t* out_strides) {
  for (ptrdiff_t y = 0; y < windows[0].out; ++y) {
    const Covered rows = covered(windows[0], y);
    for (ptrdiff_t x = 0; x < windows[1].out; ++x) {
      const Covered columns = covered(windows[1], x);
      Sum sum = 0;
      for (ptrdiff_t i = rows.begin; i < rows.end; ++i) {
        const char* element = in + i * in_strides[0] + columns.begin * in_strides[1];
        for (ptrdiff_t j = columns.begin; j < columns.end; ++j, element += in_strides[1]) {
          sum += static_cast<Sum>(*reinterpret_cast<const T*>(element));
        }
      }
      const int64_t elements = static_cast<int64_t>(rows.end - rows.begin) * (columns.end - columns.begin);
      const int64_t counted = divisor.counts_padding ? rows.padded * columns.padded : elements;
      const int64_t by = divisor.fixed != 0 ? divisor.fixed : counted;
      T result = T(0);
      if (rows.begin < rows.end && columns.begin < columns.end) {
        if constexpr (std::is_integral_v<T>) {
          result = by == -1 ? static_cast<T>(0 - sum) : static_cast<T>(static_cast<T>(sum) / by);
        } else {
          result = static_cast<T>(sum / static_cast<Sum>(by));
        }
      }
      *reinterpret_cast<T*>(out + y * out_strides[0] + x * out_strides[1]) = result;
    }
  }
}

}  // namespace

Error avg_pool2d_out(KernelContext&, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::avg_pool2d.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(divisor_override.value_or(1) != 0, Error::InvalidArgument, "divisor_override: must not be 0");
  const int64_t dilation = 1;
  Window windows[2];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, {&dilation, 1}, ceil_mode}, 2, windows));
  View source = View::of(self);
  RL_TRY(resize_out(out, pooled_shape(self, windows).span()));
  View target = View::of(out);
  if (source.dim == 3) {
    source.insert(0, 1, 0);
    target.insert(0, 1, 0);
  }
  const Divisor divisor{count_include_pad, divisor_override.value_or(0)};
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    // Sums of int64 wrap, as unsigned numbers do.
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                   std::conditional_t<std::is_same_v<T, double>, double, float>>;
    for (ptrdiff_t n = 0; n < source.sizes[0]; ++n) {
      for (ptrdiff_t c = 0; c < source.sizes[1]; ++c) {
        pool_plane<T, Sum>(windows, divisor, source.data + n * source.strides[0] + c * source.strides[1],
                           source.strides + 2, target.data + n * target.strides[0] + c * target.strides[1],
                           target.strides + 2);
      }
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
