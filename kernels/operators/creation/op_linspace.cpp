// SPDX-License-Identifier: BSD-3-Clause
// linspace and logspace: evenly spaced values, and powers of a base with evenly spaced exponents. Follows
// PyTorch's rounding: the first half counts up from start, the second down from end, so that both ends are
// exact.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/clamp.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::linspace.out") | selected_types("aten::linspace.Tensor_Tensor_out") |
    selected_types("aten::linspace.Tensor_Scalar_out") | selected_types("aten::linspace.Scalar_Tensor_out") |
    selected_types("aten::logspace.out") | selected_types("aten::logspace.Tensor_Tensor_out") |
    selected_types("aten::logspace.Tensor_Scalar_out") | selected_types("aten::logspace.Scalar_Tensor_out");
// Builds without complex dtypes compile no complex arithmetic.
constexpr bool kHasComplex = (kTypes & types::kComplex) != 0;

// A first or last value, real or complex.
struct End {
  End(const Scalar& number) : real(number) {}  // NOLINT: implicit by design

  Scalar real;
  Scalar imag = 0;
};

// A 0-dim tensor as an end. InvalidArgument for other ranks.
Result<End> end_of(const Tensor& tensor, const char* name) {
  if (kHasComplex && is_complex(tensor.scalar_type()) && tensor.dim() == 0) {
    const Complex<double> value = load_complex(tensor.const_data_ptr<char>(), tensor.scalar_type());
    End end{Scalar(value.real)};
    end.imag = value.imag;
    return end;
  }
  RL_TRY_ASSIGN(const Scalar number, scalar_of(tensor, name));
  return End(number);
}

// Rounds to a floating dtype; integers truncate.
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

// The real values of a line from start to end. Start and end are first rounded to the element type.
class Line {
 public:
  Line(ScalarType type, const Scalar& start, const Scalar& end, int64_t steps, bool exponents)
      : type_(!exponents && is_floating(type) ? type : ScalarType::Double),
        start_(rounded_to(type, start.to<double>())),
        end_(rounded_to(type, end.to<double>())),
        step_(steps > 1 ? rounded(rounded(end_ - start_) / static_cast<double>(steps - 1)) : 0),
        steps_(steps) {
    // PyTorch does not round the exponent of a single power.
    if (steps == 1) end_ = exponents ? start.to<double>() : start_;
  }

  [[nodiscard]] double at(int64_t i) const {
    // Element steps - 1 is `end` itself; with one step that is `start`.
    const bool first_half = i < steps_ / 2;
    const double taken = rounded(step_ * static_cast<double>(first_half ? i : steps_ - 1 - i));
    return rounded(first_half ? start_ + taken : end_ - taken);
  }

 private:
  // PyTorch rounds every step of linspace to the floating type of the elements, which is visible in 16 bits.
  // It does not round the exponents of logspace.
  [[nodiscard]] double rounded(double x) const { return rounded_to(type_, x); }

  ScalarType type_;
  double start_;
  double end_;
  double step_;
  int64_t steps_;
};

// base^(x + iy) = base^x (cos(y log base) + i sin(y log base))
Complex<double> power(double base, Complex<double> exponent) {
  const double size = std::pow(base, exponent.real);
  if (exponent.imag == 0) return size;
  const double phase = std::log(base) * exponent.imag;
  return {size * std::cos(phase), size * std::sin(phase)};
}

// base == nullptr writes the line itself, otherwise base to the power of each value. Integer elements
// truncate.
Error fill_line(const End& start, const End& end, int64_t steps, const double* base, const Tensor& out) {
  const ScalarType written = out.scalar_type();
  if (!contains(kTypes, written)) return unsupported_type(written);
  RL_CHECK(steps >= 0 && steps <= INT32_MAX, Error::InvalidArgument,
           "steps: expected 0 to 2^31 - 1, got %lld", static_cast<long long>(steps));
  const auto size = static_cast<SizesType>(steps);
  for (const End* each : {&start, &end}) {
    const char* const name = each == &start ? "start" : "end";
    RL_TRY(check_fits(each->real, component_type(written), name));
    RL_CHECK(is_complex(written) || each->imag.to<double>() == 0, Error::InvalidType,
             "%s: a complex number, out is %s", name, to_string(written));
  }
  RL_TRY(resize_out(out, {&size, 1}));
  const ScalarType part = component_type(written);
  const Line line(part, start.real, end.real, steps, base != nullptr);
  const Line imaginary(part, start.imag, end.imag, steps, base != nullptr);
  char* at = out.mutable_data_ptr<char>();
  for (int64_t i = 0; i < steps; ++i, at += out.element_size()) {
    if (kHasComplex && is_complex(written)) {
      const Complex<double> value(line.at(i), imaginary.at(i));
      store_complex(at, written, base == nullptr ? value : power(*base, value));
    } else {
      store_number(at, written, base == nullptr ? line.at(i) : std::pow(*base, line.at(i)));
    }
  }
  return Error::Ok;
}

}  // namespace

Error linspace_out(KernelContext&, const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  return fill_line(start, end, steps, nullptr, out);
}

Error linspace_Tensor_Tensor_out(KernelContext&, const Tensor& start, const Tensor& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const End first, end_of(start, "start"));
  RL_TRY_ASSIGN(const End last, end_of(end, "end"));
  return fill_line(first, last, steps, nullptr, out);
}

Error linspace_Tensor_Scalar_out(KernelContext&, const Tensor& start, const Scalar& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const End first, end_of(start, "start"));
  return fill_line(first, end, steps, nullptr, out);
}

Error linspace_Scalar_Tensor_out(KernelContext&, const Scalar& start, const Tensor& end, int64_t steps,
                                 Tensor& out) {
  RL_TRY_ASSIGN(const End last, end_of(end, "end"));
  return fill_line(start, last, steps, nullptr, out);
}

Error logspace_out(KernelContext&, const Scalar& start, const Scalar& end, int64_t steps, double base,
                   Tensor& out) {
  return fill_line(start, end, steps, &base, out);
}

Error logspace_Tensor_Tensor_out(KernelContext&, const Tensor& start, const Tensor& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const End first, end_of(start, "start"));
  RL_TRY_ASSIGN(const End last, end_of(end, "end"));
  return fill_line(first, last, steps, &base, out);
}

Error logspace_Tensor_Scalar_out(KernelContext&, const Tensor& start, const Scalar& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const End first, end_of(start, "start"));
  return fill_line(first, end, steps, &base, out);
}

Error logspace_Scalar_Tensor_out(KernelContext&, const Scalar& start, const Tensor& end, int64_t steps,
                                 double base, Tensor& out) {
  RL_TRY_ASSIGN(const End last, end_of(end, "end"));
  return fill_line(start, last, steps, &base, out);
}

}  // namespace rushlight::kernels
