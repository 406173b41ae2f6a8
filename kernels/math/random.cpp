// SPDX-License-Identifier: BSD-3-Clause
// Uniform values from the upper bits of the stream; normal values by the Box-Muller transform, of which only
// the cosine branch is used, so that no state is kept between draws.
#include "kernels/math/random.h"

#include <cmath>

#include "kernels/elements/element_access.h"
#include "kernels/walk/joint_axes.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr double kTwoPi = 6.28318530717958647693;

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

double read(const Parameter& parameter, const char* at) {
  return parameter.tensor == nullptr ? parameter.value : load_number(at, parameter.tensor->scalar_type());
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

// Never 0, of which normal() takes the logarithm.
double Random::positive() { return (static_cast<double>(stream_.next() >> 11) + 1) * 0x1p-53; }

// Two draws for each value; the sine branch would give a second one, but would have to be stored.
double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(positive()));
  return radius * std::cos(kTwoPi * positive());
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

// Elements are drawn one by one in memory order: one call of the distribution, one store with rounding.
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
  axes.walk(start, 0, [&](char* const* at) {
    store_number(at[kOut], type, draw(random, read(a, at[kA]), read(b, at[kB])));
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
