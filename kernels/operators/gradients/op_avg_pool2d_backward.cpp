// SPDX-License-Identifier: BSD-3-Clause
// Gradient of average pooling: adds each output gradient, divided by the divisor of its window, to the
// elements of that window. Shares the walk over windows with the forward operator. Cost: one addition for
// each element of each window. Where windows overlap, 16-bit floats are rounded after each addition.
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/geometry/region.h"
#include "kernels/matmul/accumulator.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::avg_pool2d_backward.grad_input") |
                           selected_types("aten::_adaptive_avg_pool2d_backward.out");
constexpr size_t kSpatial = 2;

// Adds gradient / divisor to every element of a window. Dividing integers by -1 is a wrapping negation,
// because the least integer has no opposite.
template <class T>
void spread(const Pool& pool, const Region& region, char* pooled, char*) {
  using Sum = Accumulator<T>;
  if (region.size() == 0) return;
  const int64_t counted = pool.counts_padding ? region.padded : region.size();
  const int64_t by = pool.divisor != 0 ? pool.divisor : counted;
  const T gradient = *reinterpret_cast<const T*>(pooled);
  T share = T(0);
  if constexpr (std::is_integral_v<T>) {
    share = by == -1 ? narrow<T>(0 - widen(gradient)) : static_cast<T>(gradient / by);
  } else {
    share = narrow<T>(widen(gradient) / static_cast<Sum>(by));
  }
  for (ptrdiff_t j = 0; j < region.count[1]; ++j) {
    for (ptrdiff_t k = 0; k < region.count[2]; ++k) {
      T& sum = *reinterpret_cast<T*>(region.data + j * region.stride[1] + k * region.stride[2]);
      sum = narrow<T>(widen(sum) + widen(share));
    }
  }
}

// Windows may overlap and may leave elements out, so all sums start from 0.
Error spread_all(const Pool& pool, const Tensor& grad_input) {
  if (grad_input.nbytes() > 0) std::memset(grad_input.mutable_data_ptr(), 0, grad_input.nbytes());
  return dispatch<kTypes>(pool.volume.type, [&](auto type) {
    for_each_region(pool, spread<typename decltype(type)::Element>);
    return Error::Ok;
  });
}

Error check_dtypes(const Tensor& grad_output, const Tensor& self, const Tensor& grad_input) {
  RL_TRY(check_same_dtype(grad_output, self, "grad_output and self"));
  return check_same_dtype(self, grad_input, "self and grad_input");
}

}  // namespace

// The divisor of a window is divisor_override or its size, with or without the padding. plan_windows() and
// check_shape() prove that every window of grad_output lies over `self`.
Error avg_pool2d_backward_grad_input(KernelContext&, const Tensor& grad_output, const Tensor& self,
                                     Span<const int64_t> kernel_size, Span<const int64_t> stride,
                                     Span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                                     std::optional<int64_t> divisor_override, Tensor& grad_input) {
  RL_TRY(check_dtypes(grad_output, self, grad_input));
  RL_CHECK(divisor_override.value_or(1) != 0, Error::InvalidArgument, "divisor_override: must not be 0");
  const int64_t dilation = 1;
  Window windows[kSpatial];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, {&dilation, 1}, ceil_mode}, kSpatial, windows));
  RL_TRY(check_shape(grad_output, pooled_shape(self, windows).span(), "grad_output"));
  RL_TRY(resize_out(grad_input, self.sizes()));
  Pool pool = make_pool(window_tiling, kSpatial, windows, grad_input, grad_output);
  pool.divisor = divisor_override.value_or(0);
  pool.counts_padding = count_include_pad;
  return spread_all(pool, grad_input);
}

// The sizes of grad_output define the adaptive windows, as the forward operator made it.
Error _adaptive_avg_pool2d_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& self,
                                        Tensor& out) {
  RL_TRY(check_dtypes(grad_output, self, out));
  const ptrdiff_t rank = grad_output.dim();
  RL_CHECK(rank == self.dim() && rank >= 3, Error::InvalidArgument,
           "grad_output and self: expected equal ranks of 3 or 4, got %d and %d", static_cast<int>(rank),
           static_cast<int>(self.dim()));
  const int64_t sizes[] = {grad_output.size(rank - 2), grad_output.size(rank - 1)};
  Window windows[kSpatial];
  RL_TRY(plan_adaptive(self, sizes, kSpatial, windows));
  RL_TRY(check_shape(grad_output, pooled_shape(self, windows).span(), "grad_output"));
  RL_TRY(resize_out(out, self.sizes()));
  return spread_all(make_pool(adaptive_tiling, kSpatial, windows, out, grad_output), out);
}

}  // namespace rushlight::kernels
