// SPDX-License-Identifier: BSD-3-Clause
// Tensors of random values. Distributions and their parameters are PyTorch's; the sequences of values are
// not. Uniform values are transformed: by inversion for exponential, Cauchy and geometric values. Values are
// computed in double and rounded once to the dtype of `out`, in the order of its memory.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/sizes.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/random.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kHalfRoot = 0.70710678118654752440;  // sqrt(1/2)

// `from` is included; `to` may result from rounding to the dtype of the output.
double draw_uniform(Random& random, double from, double to) { return from + random.uniform() * (to - from); }
void draw_normal(Random& random, const double* mean, const double* std, double* out, size_t n) {
  random.normals(out, n);
  for (size_t i = 0; i < n; ++i) out[i] = mean[i] + out[i] * std[i];
}
// `mean` and `std` describe the logarithm of the value.
void draw_log_normal(Random& random, const double* mean, const double* std, double* out, size_t n) {
  draw_normal(random, mean, std, out, n);
  for (size_t i = 0; i < n; ++i) out[i] = std::exp(out[i]);
}
// positive() excludes 0, so the logarithm is finite.
double draw_exponential(Random& random, double lambda, double) {
  return -std::log(random.positive()) / lambda;
}
// The tangent's argument is in (-pi / 2, pi / 2].
double draw_cauchy(Random& random, double median, double sigma) {
  return median + sigma * std::tan(kPi * (random.positive() - 0.5));
}
// The number of trials up to the first success: at least 1, also if a uniform value of 1 gives 0.
double draw_geometric(Random& random, double p, double) {
  return p == 1 ? 1 : std::fmax(1, std::ceil(std::log(random.positive()) / std::log1p(-p)));
}
// positive() is at most 1, so p = 1 always succeeds, and never 0, so p = 0 never does.
double draw_bernoulli(Random& random, double p, double) { return random.positive() <= p ? 1 : 0; }

// The variance of a complex normal value is split evenly between its parts.
Error draw_normal_into(TypeSet types, const Tensor& out, double mean, double std) {
  return draw_into(types, out, draw_normal, mean, is_complex(out.scalar_type()) ? std * kHalfRoot : std);
}

// Checks of parameters; NaN fails each of them.
Error check_at_least_0(double value, const char* name) {
  RL_CHECK(value >= 0, Error::InvalidArgument, "%s: expected 0 at least, got %f", name, value);
  return Error::Ok;
}

Error check_above_0(double value, const char* name) {
  RL_CHECK(value > 0, Error::InvalidArgument, "%s: expected more than 0, got %f", name, value);
  return Error::Ok;
}

Error check_probability(double p) {
  RL_CHECK(p >= 0 && p <= 1, Error::InvalidArgument, "p: expected 0 to 1, got %f", p);
  return Error::Ok;
}

// Applies `check` to every element of the tensor.
template <class Check>
Error check_elements(const Tensor& tensor, Check check) {
  RL_TRY(check_loadable(tensor));
  const size_t size = tensor.element_size();
  const char* at = tensor.const_data_ptr<char>();
#ifdef __OPTIMIZE_SIZE__
  for (size_t i = 0; i < tensor.numel(); ++i, at += size) {
    RL_TRY(check(load_number(at, tensor.scalar_type())));
  }
#else
  double values[kDrawn];
  for (size_t left = tensor.numel(), n = 0; left > 0; left -= n, at += n * size) {
    n = left < kDrawn ? left : kDrawn;
    load_numbers(values, at, static_cast<ptrdiff_t>(size), tensor.scalar_type(), n);
    for (size_t i = 0; i < n; ++i) RL_TRY(check(values[i]));
  }
#endif
  return Error::Ok;
}

// Reads every probability before the first draw. A tensor in shared memory may change in between; then a draw
// only has another probability.
Error check_probabilities(const Tensor& p) {
  if (!is_floating(p.scalar_type())) return unsupported_type(p.scalar_type());
  return check_elements(p, [](double value) { return check_probability(value); });
}

Error check_below(int64_t low, int64_t high) {
  RL_CHECK(low < high, Error::InvalidArgument, "high: expected more than %lld, got %lld",
           static_cast<long long>(low), static_cast<long long>(high));
  return Error::Ok;
}

// Uniform integers in [low, high). The difference of two int64 values fits in uint64.
Error integers_between(TypeSet types, int64_t low, int64_t high, const Tensor& out) {
  RL_TRY(check_below(low, high));
  return draw_integers_into(types, out, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
}

}  // namespace

// Uniform in [0, 1). The size is an argument here and comes from a tensor in the *_like operators; in all of
// them `out` chooses dtype and layout.
Error rand_out(KernelContext&, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  constexpr TypeSet kOwnTypes = selected_types("aten::rand.out");
  return draw_into(kOwnTypes, out, draw_each<draw_uniform>, 0, 1);
}

// Normal with mean 0 and variance 1; of complex dtypes, too.
Error randn_out(KernelContext&, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  constexpr TypeSet kOwnTypes = selected_types("aten::randn.out");
  return draw_normal_into(kOwnTypes, out, 0, 1);
}

Error rand_like_out(KernelContext&, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  constexpr TypeSet kOwnTypes = selected_types("aten::rand_like.out");
  return draw_into(kOwnTypes, out, draw_each<draw_uniform>, 0, 1);
}

Error randn_like_out(KernelContext&, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  constexpr TypeSet kOwnTypes = selected_types("aten::randn_like.out");
  return draw_normal_into(kOwnTypes, out, 0, 1);
}

// Integers in [0, high), also as elements of floating dtypes.
Error randint_out(KernelContext&, int64_t high, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  constexpr TypeSet kOwnTypes = selected_types("aten::randint.out");
  return integers_between(kOwnTypes, 0, high, out);
}

Error randint_low_out(KernelContext&, int64_t low, int64_t high, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  constexpr TypeSet kOwnTypes = selected_types("aten::randint.low_out");
  return integers_between(kOwnTypes, low, high, out);
}

Error randint_like_out(KernelContext&, const Tensor& self, int64_t high, std::optional<int64_t> memory_format,
                       Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  constexpr TypeSet kOwnTypes = selected_types("aten::randint_like.out");
  return integers_between(kOwnTypes, 0, high, out);
}

Error randint_like_low_dtype_out(KernelContext&, const Tensor& self, int64_t low, int64_t high,
                                 std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  constexpr TypeSet kOwnTypes = selected_types("aten::randint_like.low_dtype_out");
  return integers_between(kOwnTypes, low, high, out);
}

Error randint_like_tensor_out(KernelContext&, const Tensor& self, const Tensor& high,
                              std::optional<int64_t> memory_format, Tensor& out) {
  RL_CHECK(high.numel() == 1, Error::InvalidArgument, "high: expected one element, got %lu",
           log_number(high.numel()));
  constexpr TypeSet kTypes = selected_types("aten::randint_like.Tensor_out");
  if (!contains(kTypes & ~types::kFloating, high.scalar_type())) return unsupported_type(high.scalar_type());
  RL_TRY(resize_like(out, self, memory_format));
  return integers_between(kTypes, 0, load_integer(high.const_data_ptr<char>(), high.scalar_type()), out);
}

// All values that the dtype represents exactly: 0 to 2^24 for float32, 0 to 127 for int8.
Error random_out(KernelContext&, const Tensor& self, const EValue& generator, Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::random.out");
  return draw_integers_into(kOwnTypes, out, 0, largest_drawn(out.scalar_type()) + 1);
}

// The in-place operators of PyTorch as out variants: only the shape of `self` matters from here on.
Error random_to_out(KernelContext&, const Tensor& self, int64_t to, const EValue& generator, Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::random.to_out");
  return integers_between(kOwnTypes, 0, to, out);
}

// Without `to`, draws up to the largest value of the dtype, of which a floating one needs two; all int64
// values if `from` is the smallest one.
Error random_from_out(KernelContext&, const Tensor& self, int64_t from, std::optional<int64_t> to,
                      const EValue& generator, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::random.from_out");
  RL_TRY(check_no_generator(generator));
  RL_TRY(resize_out(out, self.sizes()));
  if (to) return integers_between(kTypes, from, *to, out);
  const uint64_t largest = largest_drawn(out.scalar_type());
  if (is_floating(out.scalar_type())) RL_TRY(check_below(from, static_cast<int64_t>(largest)));
  const uint64_t range = largest + 1 - static_cast<uint64_t>(from);
  return draw_integers_into(kTypes, out, from, from == INT64_MIN ? 0 : range);
}

Error uniform_out(KernelContext&, const Tensor& self, double from, double to, const EValue& generator,
                  Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_CHECK(from <= to, Error::InvalidArgument, "to: expected %f at least, got %f", from, to);
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::uniform.out");
  return draw_into(kOwnTypes, out, draw_each<draw_uniform>, from, to);
}

Error normal_out(KernelContext&, const Tensor& self, double mean, double std, const EValue& generator,
                 Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_at_least_0(std, "std"));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::normal.out");
  return draw_normal_into(kOwnTypes, out, mean, std);
}

Error normal_float_float_out(KernelContext&, double mean, double std, Span<const int64_t> size,
                             const EValue& generator, Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_at_least_0(std, "std"));
  RL_TRY(resize_to(out, size));
  constexpr TypeSet kOwnTypes = selected_types("aten::normal.float_float_out");
  return draw_normal_into(kOwnTypes, out, mean, std);
}

// Means, deviations or both from tensors. Every deviation is checked before the first draw.
Error normal_tensor_float_out(KernelContext&, const Tensor& mean, double std, const EValue& generator,
                              Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_at_least_0(std, "std"));
  RL_TRY(resize_out(out, mean.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::normal.Tensor_float_out");
  return draw_into(kOwnTypes, out, draw_normal, mean, std);
}

Error normal_float_tensor_out(KernelContext&, double mean, const Tensor& std, const EValue& generator,
                              Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_elements(std, [](double value) { return check_at_least_0(value, "std"); }));
  RL_TRY(resize_out(out, std.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::normal.float_Tensor_out");
  return draw_into(kOwnTypes, out, draw_normal, mean, std);
}

Error normal_tensor_tensor_out(KernelContext&, const Tensor& mean, const Tensor& std, const EValue& generator,
                               Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_elements(std, [](double value) { return check_at_least_0(value, "std"); }));
  Shape shape;
  RL_TRY(broadcast_shape(mean.sizes(), std.sizes(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  constexpr TypeSet kOwnTypes = selected_types("aten::normal.Tensor_Tensor_out");
  return draw_into(kOwnTypes, out, draw_normal, mean, std);
}

Error log_normal_out(KernelContext&, const Tensor& self, double mean, double std, const EValue& generator,
                     Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_above_0(std, "std"));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::log_normal.out");
  return draw_into(kOwnTypes, out, draw_log_normal, mean, std);
}

Error cauchy_out(KernelContext&, const Tensor& self, double median, double sigma, const EValue& generator,
                 Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_above_0(sigma, "sigma"));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::cauchy.out");
  return draw_into(kOwnTypes, out, draw_each<draw_cauchy>, median, sigma);
}

// Density lambd * exp(-lambd x).
Error exponential_out(KernelContext&, const Tensor& self, double lambd, const EValue& generator,
                      Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_above_0(lambd, "lambd"));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::exponential.out");
  return draw_into(kOwnTypes, out, draw_each<draw_exponential>, lambd);
}

// P(k) = (1 - p)^(k - 1) p for k = 1, 2, ...
Error geometric_out(KernelContext&, const Tensor& self, double p, const EValue& generator, Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_CHECK(p > 0 && p < 1, Error::InvalidArgument, "p: expected between 0 and 1, got %f", p);
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::geometric.out");
  return draw_into(kOwnTypes, out, draw_each<draw_geometric>, p);
}

// The elements of `self` are the probabilities.
Error bernoulli_out(KernelContext&, const Tensor& self, const EValue& generator, Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_probabilities(self));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::bernoulli.out");
  return draw_into(kOwnTypes, out, draw_each<draw_bernoulli>, self);
}

Error bernoulli_tensor_out(KernelContext&, const Tensor& self, const Tensor& p, const EValue& generator,
                           Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_probabilities(p));
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), p.sizes(), &shape));
  bool fits = shape.dim == self.sizes().size();
  for (size_t d = 0; fits && d < shape.dim; ++d) fits = shape.sizes[d] == self.sizes()[d];
  RL_CHECK(fits, Error::InvalidArgument, "p: does not broadcast to self");
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::bernoulli.Tensor_out");
  return draw_into(kOwnTypes, out, draw_each<draw_bernoulli>, p);
}

Error bernoulli_float_out(KernelContext&, const Tensor& self, double p, const EValue& generator,
                          Tensor& out) {
  RL_TRY(check_no_generator(generator));
  RL_TRY(check_probability(p));
  RL_TRY(resize_out(out, self.sizes()));
  constexpr TypeSet kOwnTypes = selected_types("aten::bernoulli.float_out");
  return draw_into(kOwnTypes, out, draw_each<draw_bernoulli>, p);
}

}  // namespace rushlight::kernels
