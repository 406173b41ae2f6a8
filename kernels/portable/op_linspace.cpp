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

double rounded_to(ScalarType type, double x) {
  switch (type) {
    case ScalarType::Half:
      return static_cast<float>(Half(static_cast<float>(x)));
    case ScalarType::BFloat16:
      return static_cast<float>(BFloat16(static_cast<float>(x)));
    case ScalarType::Float:
      return static_cast<float>(x);
    case ScalarType::Double:
      return x;
    default:
      return std::trunc(x);
  }
}

// Each half is counted from its own end, so that both ends are met exactly. The ends are what an element
// can hold of them.
class Line {
 public:
  // Without a base, the numbers themselves.
  Line(ScalarType type, const Scalar& start, const Scalar& end, int64_t steps, const double* base)
      : type_(base == nullptr && is_floating(type) ? type : ScalarType::Double),
        base_(base),
        start_(rounded_to(type, start.to<double>())),
        end_(rounded_to(type, end.to<double>())),
        step_(steps > 1 ? rounded(rounded(end_ - start_) / static_cast<double>(steps - 1)) : 0),
        steps_(steps) {
    // PyTorch does not round the exponent of a power that is alone.
    if (steps == 1) end_ = base == nullptr ? start_ : start.to<double>();
  }

  [[nodiscard]] double at(int64_t i) const {
    const bool first_half = i < steps_ / 2;
    const double taken = rounded(step_ * static_cast<double>(first_half ? i : steps_ - 1 - i));
    const double value = rounded(first_half ? start_ + taken : end_ - taken);
    return base_ == nullptr ? value : std::pow(*base_, value);
  }

 private:
  // PyTorch rounds each step of linspace to a floating type, which in 16 bits shows; those of exponents not.
  [[nodiscard]] double rounded(double x) const { return rounded_to(type_, x); }

  ScalarType type_;
  const double* base_;
  double start_;
  double end_;
  double step_;
  int64_t steps_;
};

Error fill_line(const Scalar& start, const Scalar& end, int64_t steps, const double* base,
                const Tensor& out) {
  RL_CHECK(steps >= 0 && steps <= INT32_MAX, Error::InvalidArgument,
           "steps: expected 0 to 2^31 - 1, got %lld", static_cast<long long>(steps));
  const auto size = static_cast<SizesType>(steps);
  RL_TRY(check_fits(start, out.scalar_type(), "start"));
  RL_TRY(check_fits(end, out.scalar_type(), "end"));
  RL_TRY(resize_out(out, {&size, 1}));
  const Line line(out.scalar_type(), start, end, steps, base);
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    T* const data = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < steps; ++i) data[i] = convert<T>(line.at(i));
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
