// SPDX-License-Identifier: BSD-3-Clause
// linspace and logspace: evenly spaced numbers, and powers with evenly spaced exponents.
#include <cmath>

#include "kernels/shared/checks.h"
#include "kernels/shared/clamp.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::linspace.out") | selected_types("aten::linspace.Tensor_Tensor_out") |
    selected_types("aten::linspace.Tensor_Scalar_out") | selected_types("aten::linspace.Scalar_Tensor_out") |
    selected_types("aten::logspace.out") | selected_types("aten::logspace.Tensor_Tensor_out") |
    selected_types("aten::logspace.Tensor_Scalar_out") | selected_types("aten::logspace.Scalar_Tensor_out");

// Each half is counted from its own end, so that both ends are met exactly.
template <class T>
struct Line {
  double start, end, step;
  int64_t steps;
  bool rounds;

  // PyTorch rounds each step of linspace to the type, which in 16 bits shows; those of exponents not.
  [[nodiscard]] double rounded(double x) const {
    if (!rounds || std::is_integral_v<T>) return x;
    return convert<double>(convert<T>(x));
  }
  Line(const Scalar& first, const Scalar& last, int64_t count, bool rounds_steps)
      : start(convert<double>(convert_scalar<T>(first))),
        end(convert<double>(convert_scalar<T>(last))),
        step(0),
        steps(count),
        rounds(rounds_steps) {
    if (count == 1) end = start;
    if (count > 1) step = rounded(rounded(end - start) / static_cast<double>(count - 1));
  }
  [[nodiscard]] double at(int64_t i) const {
    const bool first_half = i < steps / 2;
    const double taken = rounded(step * static_cast<double>(first_half ? i : steps - 1 - i));
    return rounded(first_half ? start + taken : end - taken);
  }
};

// Without a base, the numbers themselves.
Error fill_line(const Scalar& start, const Scalar& end, int64_t steps, const double* base,
                const Tensor& out) {
  RL_CHECK(steps >= 0 && steps <= INT32_MAX, Error::InvalidArgument,
           "steps: expected 0 to 2^31 - 1, got %lld", static_cast<long long>(steps));
  const auto size = static_cast<SizesType>(steps);
  RL_TRY(check_fits(start, out.scalar_type(), "start"));
  RL_TRY(check_fits(end, out.scalar_type(), "end"));
  RL_TRY(resize_out(out, {&size, 1}));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    const Line<T> line(start, end, steps, base == nullptr);
    T* const data = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < steps; ++i) {
      double value = line.at(i);
      if (base != nullptr) value = std::pow(*base, steps == 1 ? start.to<double>() : value);
      data[i] = convert<T>(value);
    }
    return Error::Ok;
  });
}

}  // namespace

Error linspace_out(KernelContext&, const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  return fill_line(start, end, steps, nullptr, out);
}

Error linspace_Tensor_Tensor_out(KernelContext&, const Tensor& start, const Tensor& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const Scalar first, scalar_of(start, "start"));
  RL_TRY_ASSIGN(const Scalar last, scalar_of(end, "end"));
  return fill_line(first, last, steps, nullptr, out);
}

Error linspace_Tensor_Scalar_out(KernelContext&, const Tensor& start, const Scalar& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const Scalar first, scalar_of(start, "start"));
  return fill_line(first, end, steps, nullptr, out);
}

Error linspace_Scalar_Tensor_out(KernelContext&, const Scalar& start, const Tensor& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const Scalar last, scalar_of(end, "end"));
  return fill_line(start, last, steps, nullptr, out);
}

Error logspace_out(KernelContext&, const Scalar& start, const Scalar& end, int64_t steps, double base,
                   Tensor& out) {
  return fill_line(start, end, steps, &base, out);
}

Error logspace_Tensor_Tensor_out(KernelContext&, const Tensor& start, const Tensor& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const Scalar first, scalar_of(start, "start"));
  RL_TRY_ASSIGN(const Scalar last, scalar_of(end, "end"));
  return fill_line(first, last, steps, &base, out);
}

Error logspace_Tensor_Scalar_out(KernelContext&, const Tensor& start, const Scalar& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const Scalar first, scalar_of(start, "start"));
  return fill_line(first, end, steps, &base, out);
}

Error logspace_Scalar_Tensor_out(KernelContext&, const Scalar& start, const Tensor& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const Scalar last, scalar_of(end, "end"));
  return fill_line(start, last, steps, &base, out);
}

}  // namespace rushlight::kernels
