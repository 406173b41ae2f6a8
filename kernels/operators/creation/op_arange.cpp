// SPDX-License-Identifier: BSD-3-Clause
// arange: start + i * step, computed from the index so that rounding errors do not accumulate. An int64 `out`
// counts in integers, because a double does not hold every int64.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The number of values start, start + step, ... before end.
struct Steps {
  bool reachable;  // the step is not 0 and leads from start towards end
  double count;    // exact for every size that a tensor can have
};

Steps count_steps(double start, double end, double step) {
  const double distance = end - start;
  if (!std::isfinite(distance) || step == 0 || !std::isfinite(step)) return {false, 0};
  return {step > 0 ? distance >= 0 : distance <= 0, std::ceil(distance / step)};
}

Steps count_steps(int64_t start, int64_t end, int64_t step) {
  if (step == 0 || (step > 0 ? end < start : end > start)) return {false, 0};
  const bool up = step > 0;
  // The difference of any two int64 values fits in uint64.
  const uint64_t distance = up ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
  const uint64_t width = up ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return {true, distance == 0 ? 0.0 : static_cast<double>((distance - 1) / width + 1)};
}

// PyTorch's rules: for int64 all three arguments are truncated to integers; for other dtypes the count is
// computed in double, and integer elements still take integer steps.
template <TypeSet kTypes>
Error arange(const Scalar& start, const Scalar& end, const Scalar& step, const Tensor& out) {
  const bool by_integers = out.scalar_type() == ScalarType::Long;
  const Steps steps = by_integers ? count_steps(start.to<int64_t>(), end.to<int64_t>(), step.to<int64_t>())
                                  : count_steps(start.to<double>(), end.to<double>(), step.to<double>());
  RL_CHECK(steps.reachable, Error::InvalidArgument, "step: does not lead from start to end");
  RL_CHECK(steps.count <= INT32_MAX, Error::InvalidArgument, "end: too many steps from start");
  const auto size = static_cast<SizesType>(steps.count);
  RL_TRY(resize_out(out, {&size, 1}));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    T* const data = out.mutable_data_ptr<T>();
    for (SizesType i = 0; i < size; ++i) {
      if constexpr (std::is_integral_v<T>) {
        // Unsigned arithmetic, so that overflow wraps.
        data[i] = static_cast<T>(static_cast<uint64_t>(start.to<int64_t>()) +
                                 static_cast<uint64_t>(i) * static_cast<uint64_t>(step.to<int64_t>()));
      } else {
        data[i] = convert<T>(start.to<double>() + i * step.to<double>());
      }
    }
    return Error::Ok;
  });
}

}  // namespace

Error arange_out(KernelContext&, const Scalar& end, Tensor& out) {
  return arange<selected_types("aten::arange.out")>(0, end, 1, out);
}

Error arange_start_out(KernelContext&, const Scalar& start, const Scalar& end, const Scalar& step,
                       Tensor& out) {
  return arange<selected_types("aten::arange.start_out")>(start, end, step, out);
}

}  // namespace rushlight::kernels
