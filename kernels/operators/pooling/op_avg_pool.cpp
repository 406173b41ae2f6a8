// SPDX-License-Identifier: BSD-3-Clause
// Average pooling in one to three dimensions, with fixed or adaptive windows: one function averages a region,
// for_each_region walks over the windows. Direct sums, kernel size operations for each output; sums of
// overlapping windows are not shared, because the differences of running sums would lose digits.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/region.h"
#include "kernels/matmul/accumulator.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::avg_pool1d.out") | selected_types("aten::avg_pool2d.out") |
    selected_types("aten::avg_pool3d.out") | selected_types("aten::adaptive_avg_pool1d.out") |
    selected_types("aten::_adaptive_avg_pool2d.out") | selected_types("aten::adaptive_avg_pool2d.out") |
    selected_types("aten::_adaptive_avg_pool3d.out") | selected_types("aten::adaptive_avg_pool3d.out");

// PyTorch's divisor: the override, or the elements of the window, with the padding if count_include_pad.
int64_t divisor_of(const Pool& pool, const Region& region) {
  if (pool.divisor != 0) return pool.divisor;
  return pool.counts_padding ? region.padded : region.size();
}

// 16-bit floats sum in float and are rounded once; integers sum modulo 2^32 or 2^64 and their average
// truncates.
template <class T>
void average(const Pool& pool, const Region& region, char* pooled, char*) {
  using Sum = Accumulator<T>;
  Sum sum = 0;
  for (ptrdiff_t i = 0; i < region.count[0]; ++i) {
    for (ptrdiff_t j = 0; j < region.count[1]; ++j) {
      const char* element = region.data + i * region.stride[0] + j * region.stride[1];
      Sum row = 0;  // sums rows separately, for accuracy in large windows
      for (ptrdiff_t k = 0; k < region.count[2]; ++k, element += region.stride[2]) {
        row += widen(*reinterpret_cast<const T*>(element));
      }
      sum += row;
    }
  }
  T result = T(0);
  if (region.size() > 0) {
    const int64_t by = divisor_of(pool, region);
    if constexpr (std::is_integral_v<T>) {
      // Division by -1 is a wrapping negation: the least integer has no opposite.
      result = by == -1 ? narrow<T>(0 - sum) : static_cast<T>(narrow<T>(sum) / by);
    } else {
      result = narrow<T>(sum / static_cast<Sum>(by));
    }
  }
  *reinterpret_cast<T*>(pooled) = result;
}

Error average_all(const Pool& pool) {
  return dispatch<kTypes>(pool.volume.type, [&](auto type) {
    for_each_region(pool, average<typename decltype(type)::Element>);
    return Error::Ok;
  });
}

// The kernel whose back to call. A run-time value, not a template parameter, so that a build without backs
// compiles the planning once for all kernels.
enum class Asker : uint8_t { kNone, kAvgPool2d, kAdaptiveAvgPool2d, kUnderscoreAdaptiveAvgPool2d };

Error compute(KernelContext& context, Asker asker, const Pool& pool) {
  const AveragePoolProblem problem{pool};
  const auto portable = [&] { return average_all(pool); };
  switch (asker) {
    case Asker::kNone:
      break;
    case Asker::kAvgPool2d:
      return backs::avg_pool2d_out(context, problem, portable);
    case Asker::kAdaptiveAvgPool2d:
      return backs::adaptive_avg_pool2d_out(context, problem, portable);
    case Asker::kUnderscoreAdaptiveAvgPool2d:
      return backs::_adaptive_avg_pool2d_out(context, problem, portable);
  }
  return portable();
}

// The arguments of a pool with sliding windows.
struct AverageArguments {
  Asker asker;
  size_t spatial;
  PoolArguments windows;
  bool counts_padding;
  std::optional<int64_t> divisor;
};

// Averages have no dilation, but the arguments of windows need one.
const int64_t kNoDilation = 1;

// Checks everything that for_each_region() relies on, and resizes `out`.
Error avg_pool(KernelContext& context, TypeSet types, const Tensor& self, const AverageArguments& arguments,
               const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(arguments.divisor.value_or(1) != 0, Error::InvalidArgument, "divisor_override: must not be 0");
  Window windows[kVolume] = {};
  RL_TRY(plan_windows(self, arguments.windows, arguments.spatial, windows));
  for (const Window& window : windows) {
    // As in PyTorch, for volumes only: padding may not make up for an input smaller than the window.
    RL_CHECK(arguments.spatial < kVolume || window.in >= window.kernel, Error::InvalidArgument,
             "self: expected at least the size of the window, got %ld for %ld", static_cast<long>(window.in),
             static_cast<long>(window.kernel));
  }
  RL_TRY(resize_out(out, pooled_shape(self, {windows, arguments.spatial}).span()));
  Pool pool = make_pool(window_tiling, arguments.spatial, windows, self, out);
  pool.divisor = arguments.divisor.value_or(0);
  pool.counts_padding = arguments.counts_padding;
  return compute(context, arguments.asker, pool);
}

// Window i of a dimension covers [floor(i in / out), ceil((i + 1) in / out)): windows overlap where the sizes
// do not divide. The divisor is each window's size.
Error adaptive_avg_pool(KernelContext& context, Asker asker, TypeSet types, const Tensor& self,
                        Span<const int64_t> output_size, size_t spatial, const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Window windows[kVolume];
  RL_TRY(plan_adaptive(self, output_size, spatial, windows));
  RL_TRY(resize_out(out, pooled_shape(self, {windows, spatial}).span()));
  return compute(context, asker, make_pool(adaptive_tiling, spatial, windows, self, out));
}

}  // namespace

// The operators differ in the number of dimensions, in the tiling and in their back.
Error avg_pool1d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::avg_pool1d.out");
  return avg_pool(
      context, kOwnTypes, self,
      {Asker::kNone, 1, {kernel_size, stride, padding, {&kNoDilation, 1}, ceil_mode}, count_include_pad, {}},
      out);
}

Error avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::avg_pool2d.out");
  return avg_pool(context, kOwnTypes, self,
                  {Asker::kAvgPool2d,
                   2,
                   {kernel_size, stride, padding, {&kNoDilation, 1}, ceil_mode},
                   count_include_pad,
                   divisor_override},
                  out);
}

Error avg_pool3d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::avg_pool3d.out");
  return avg_pool(context, kOwnTypes, self,
                  {Asker::kNone,
                   3,
                   {kernel_size, stride, padding, {&kNoDilation, 1}, ceil_mode},
                   count_include_pad,
                   divisor_override},
                  out);
}

Error adaptive_avg_pool1d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::adaptive_avg_pool1d.out");
  return adaptive_avg_pool(context, Asker::kNone, kOwnTypes, self, output_size, 1, out);
}

Error _adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                               Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_adaptive_avg_pool2d.out");
  return adaptive_avg_pool(context, Asker::kUnderscoreAdaptiveAvgPool2d, kOwnTypes, self, output_size, 2,
                           out);
}

Error adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::adaptive_avg_pool2d.out");
  return adaptive_avg_pool(context, Asker::kAdaptiveAvgPool2d, kOwnTypes, self, output_size, 2, out);
}

Error _adaptive_avg_pool3d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                               Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_adaptive_avg_pool3d.out");
  return adaptive_avg_pool(context, Asker::kNone, kOwnTypes, self, output_size, 3, out);
}

Error adaptive_avg_pool3d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out) {
  constexpr TypeSet kOwnTypes = selected_types("aten::adaptive_avg_pool3d.out");
  return adaptive_avg_pool(context, Asker::kNone, kOwnTypes, self, output_size, 3, out);
}

}  // namespace rushlight::kernels
