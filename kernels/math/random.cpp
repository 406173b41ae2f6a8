// SPDX-License-Identifier: BSD-3-Clause
// Uniform values from the upper bits of the stream; normal values in pairs by the Box-Muller transform, with
// logarithm, sine and cosine that compilers vectorize.
#include "kernels/math/random.h"

#include <cmath>
#include <cstring>

#include "kernels/elements/element_access.h"
#include "kernels/ukernel/loops.h"
#include "kernels/walk/joint_axes.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kPairs = kDrawn / 2;

// Hosts transform whole blocks of pairs with unrolled polynomials, which compilers vectorize.
#ifdef __OPTIMIZE_SIZE__
constexpr bool kWholeBlocks = false;
#define RL_UNROLL_STEPS
#else
constexpr bool kWholeBlocks = true;
#define RL_UNROLL_STEPS _Pragma("GCC unroll 16")
#endif

int significant_bits(ScalarType type) {
  switch (type) {
    case ScalarType::BFloat16:
      return 8;
    case ScalarType::Half:
      return 11;
    case ScalarType::Float:
      return 24;
    default:
      return 53;
  }
}

Error check_types(TypeSet types, const Tensor& out) {
  return contains(types, out.scalar_type()) ? Error::Ok : unsupported_type(out.scalar_type());
}

// Stride of a parameter along dimension d of the output; 0 if it repeats. Dimensions are aligned at the last
// one, as in any broadcast.
ptrdiff_t parameter_step(const Parameter& parameter, const Tensor& out, size_t d) {
  if (parameter.tensor == nullptr) return 0;
  const Tensor& tensor = *parameter.tensor;
  const auto missing = static_cast<size_t>(out.dim() - tensor.dim());
  if (d < missing || tensor.sizes()[d - missing] == 1) return 0;
  return byte_stride(tensor, d - missing);
}

// The parameters of n values; `at` advances by `step` bytes.
void read(const Parameter& parameter, const char* at, ptrdiff_t step, double* values, size_t n) {
  if (parameter.tensor == nullptr) {
    for (size_t i = 0; i < n; ++i) values[i] = parameter.value;
  } else {
    load_numbers(values, at, step, parameter.tensor->scalar_type(), n);
  }
}

char* start_of(const Parameter& parameter) {
  return parameter.tensor == nullptr ? nullptr : parameter.tensor->mutable_data_ptr<char>();
}

// InvalidArgument if an integer from `low` to `last` is not in the range of the dtype. Floating dtypes round
// integers; only float16 has less than the range of int64. Above INT64_MAX, `last` of a uint64 is negative.
Error check_integers(int64_t low, int64_t last, ScalarType type) {
  const auto drawn = static_cast<int64_t>(largest_drawn(type) & INT64_MAX);
  const bool is_signed = !contains(types::kUnsignedWide | type_set(ScalarType::Bool, ScalarType::Byte), type);
  const bool is_half = type == ScalarType::Half;
  const bool is_wide = is_floating(type) && !is_half;
  const int64_t largest = is_wide ? INT64_MAX : (is_half ? 65504 : drawn);
  const int64_t smallest = is_half ? -largest : (is_signed ? -largest - 1 : 0);
  RL_CHECK(low >= smallest && low <= largest && last <= largest, Error::InvalidArgument,
           "from and to: expected %lld to %lld for dtype %s, got %lld to %lld",
           static_cast<long long>(smallest), static_cast<long long>(largest), to_string(type),
           static_cast<long long>(low), static_cast<long long>(last));
  return Error::Ok;
}

// a + b x + c x^2 + ..., by Horner's rule.
template <size_t kCount>
[[gnu::always_inline]] inline double polynomial(const double (&coefficients)[kCount], double x) {
  double sum = coefficients[kCount - 1];
  RL_UNROLL_STEPS for (size_t k = 1; k < kCount; ++k) sum = sum * x + coefficients[kCount - 1 - k];
  return sum;
}

[[gnu::always_inline]] inline uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

[[gnu::always_inline]] inline double from_bits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// sqrt(-2 ln u) for u in (0, 1], within 1e-15. With u = m 2^e and m from sqrt(1/2) to sqrt(2), ln m is a
// series in f = (m - 1) / (m + 1): ln m = 2 (f + f^3 / 3 + f^5 / 5 + ...).
[[gnu::always_inline]] inline double radius_of(double u) {
  constexpr double kSeries[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  constexpr uint64_t kOne = 0x3ff0000000000000;
  const uint64_t above = bits_of(u) - kRootHalf + kOne;  // the exponent, counted from sqrt(1/2)
  const double m = from_bits((above & 0xfffffffffffff) + kRootHalf);
  // 2^52 + the biased exponent, as a double.
  const double exponent = from_bits((above >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
  const double f = (m - 1) / (m + 1);
  return std::sqrt(-2 * (f * polynomial(kSeries, f * f) + exponent * kLn2));
}

// The point of the unit circle at u turns, for u in (0, 1]: Taylor's series within an eighth of a turn, whose
// errors are below 1e-15, and quarters by exchange and sign.
struct Direction {
  double cosine;
  double sine;
};
[[gnu::always_inline]] inline Direction direction_of(double u) {
  constexpr double kTwoPi = 6.28318530717958647693;
  constexpr double kCosines[] = {1.0,         -1.0 / 2,       1.0 / 24,        -1.0 / 720,
                                 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200};
  constexpr double kSines[] = {1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
                               1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  const double shifted = u * 4 + 0x1.8p52;  // the nearest quarter in the low bits
  const double x = (u - (shifted - 0x1.8p52) / 4) * kTwoPi;
  const double cosine = polynomial(kCosines, x * x);
  const double sine = x * polynomial(kSines, x * x);
  const uint64_t quarter = bits_of(shifted);
  // Odd quarters exchange the two. Quarters 1 and 2 have a negative cosine, 2 and 3 a negative sine.
  const uint64_t exchanged = (bits_of(cosine) ^ bits_of(sine)) & (0 - (quarter & 1));
  return {from_bits(bits_of(cosine) ^ exchanged ^ ((quarter + 1) & 2) << 62),
          from_bits(bits_of(sine) ^ exchanged ^ (quarter & 2) << 62)};
}

// Pairs of normal values from pairs of uniform ones: radius and direction are independent.
[[gnu::always_inline]] inline void transform_each(double* first, double* second, size_t pairs) {
  const size_t n = kWholeBlocks ? kPairs : pairs;
  for (size_t i = 0; i < n; ++i) {
    const double radius = radius_of(first[i]);
    const Direction direction = direction_of(second[i]);
    first[i] = radius * direction.cosine;
    second[i] = radius * direction.sine;
  }
}
RL_LOOPS void transform_wide(double* first, double* second, size_t pairs) {
  transform_each(first, second, pairs);
}
void transform_pairs(double* first, double* second, size_t pairs) {
  if (ukernel::runs_loops()) return transform_wide(first, second, pairs);
  transform_each(first, second, pairs);
}

}  // namespace

Error check_no_generator(const EValue& generator) {
  RL_CHECK(generator.is_none(), Error::InvalidArgument, "generator: expected None");
  return Error::Ok;
}

Random::Random(ScalarType type) : bits_(significant_bits(type)) {}

double Random::uniform() {
  // Exact in the dtype, so rounding never gives 1.
  const auto bits = static_cast<double>(stream_.next() >> (64 - bits_));
  return bits / static_cast<double>(uint64_t{1} << bits_);
}

// Never 0, of which normals() takes the logarithm.
double Random::positive() { return (static_cast<double>(stream_.next() >> 11) + 1) * 0x1p-53; }

void Random::normals(double* out, size_t n) {
  RL_DCHECK(n <= kDrawn);
  double first[kPairs];
  double second[kPairs];
  const size_t pairs = (n + 1) / 2;
  for (size_t i = 0; i < pairs; ++i) {
    first[i] = positive();
    second[i] = positive();
  }
  for (size_t i = pairs; kWholeBlocks && i < kPairs; ++i) first[i] = second[i] = 1;
  transform_pairs(first, second, pairs);
  for (size_t i = 0; i < pairs; ++i) {
    out[2 * i] = first[i];
    if (2 * i + 1 < n) out[2 * i + 1] = second[i];
  }
}

uint64_t Random::below(uint64_t bound) {
  // Rejects the remainder of 2^64 modulo the bound, which would make small values more likely.
  const uint64_t left = bound == 0 ? 0 : (0 - bound) % bound;
  uint64_t bits = stream_.next();
  while (bits < left) bits = stream_.next();
  return bound == 0 ? bits : bits % bound;
}

uint64_t largest_drawn(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return 1;
    case ScalarType::BFloat16:
      return 1 << 8;
    case ScalarType::Half:
      return 1 << 11;
    case ScalarType::Float:
      return 1 << 24;
    case ScalarType::Double:
      return uint64_t{1} << 53;
    default: {
      const bool is_signed = type != ScalarType::Byte && !contains(types::kUnsignedWide, type);
      return ~uint64_t{0} >> (64 - 8 * element_size(component_type(type)) + (is_signed ? 1 : 0));
    }
  }
}

// Elements are drawn in memory order, in spans of the innermost axis, and rounded when they are stored.
Error draw_into(TypeSet types, const Tensor& out, Draw draw, const Parameter& a, const Parameter& b) {
  RL_TRY(check_types(types, out));
  if (a.tensor != nullptr) RL_TRY(check_loadable(*a.tensor));
  if (b.tensor != nullptr) RL_TRY(check_loadable(*b.tensor));
  enum Operand { kOut, kA, kB, kOperands };
  JointAxes<kOperands> axes;
  // The two parts of complex elements form one axis with the elements, because their parameters are scalars.
  const ScalarType type = component_type(out.scalar_type());
  if (type != out.scalar_type()) axes.add({2, {static_cast<ptrdiff_t>(element_size(type)), 0, 0}});
  for (size_t i = out.sizes().size(); i-- > 0;) {
    const size_t d = out.dim_order()[i];
    axes.add({static_cast<size_t>(out.sizes()[d]),
              {byte_stride(out, d), parameter_step(a, out, d), parameter_step(b, out, d)}});
  }
  char* const start[] = {out.mutable_data_ptr<char>(), start_of(a), start_of(b)};
  Random random(type);
  const auto& inner = axes.inner();
  axes.walk(start, 1, [&](char* const* at) {
    double of_a[kDrawn];
    double of_b[kDrawn];
    double drawn[kDrawn];
    for (size_t first = 0; first < inner.size; first += kDrawn) {
      const size_t n = inner.size - first < kDrawn ? inner.size - first : kDrawn;
      const auto behind = static_cast<ptrdiff_t>(first);
      read(a, at[kA] + behind * inner.strides[kA], inner.strides[kA], of_a, n);
      read(b, at[kB] + behind * inner.strides[kB], inner.strides[kB], of_b, n);
      draw(random, of_a, of_b, drawn, n);
      store_numbers(at[kOut] + behind * inner.strides[kOut], inner.strides[kOut], type, drawn, n);
    }
  });
  return Error::Ok;
}

Error draw_integers_into(TypeSet types, const Tensor& out, int64_t low, uint64_t range) {
  RL_TRY(check_types(types, out));
  const auto last = static_cast<int64_t>(static_cast<uint64_t>(low) + range - 1);
  RL_TRY(check_integers(low, last, out.scalar_type()));
  Random random(out.scalar_type());
  char* at = out.mutable_data_ptr<char>();
  for (size_t i = 0; i < out.numel(); ++i, at += out.element_size()) {
    store_integer(at, out.scalar_type(),
                  static_cast<int64_t>(static_cast<uint64_t>(low) + random.below(range)));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
