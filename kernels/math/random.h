// SPDX-License-Identifier: BSD-3-Clause
// Random tensors. A distribution is a function of two parameters, each a scalar or a tensor that broadcasts.
// Elements are drawn in the order of the output's memory, on one thread, so results do not depend on threads.
// They differ from PyTorch's, which has other generators.
#pragma once

#include <cstdint>

#include "kernels/checks/selection.h"
#include "runtime/base/error.h"
#include "runtime/kernel/random.h"
#include "runtime/tensor/evalue.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidArgument unless the generator is None: programs cannot hold one.
Error check_no_generator(const EValue& generator);

// Pseudo-random values. Each object is the next stream of the process (SplitMix64), so calls after one seed
// repeat. Not for cryptography. Creating one advances the process's count of streams.
class Random {
 public:
  // Uniform values have as many random bits as the significand of `type`.
  explicit Random(ScalarType type);

  double uniform();                // in [0, 1)
  double positive();               // in (0, 1]
  uint64_t below(uint64_t bound);  // uniform in [0, bound); 64 random bits if bound is 0. Rejects some values
                                   // that would bias the result
  // n normal values of mean 0 and standard deviation 1, from as many uniform values, or one more. At most
  // kDrawn.
  void normals(double* out, size_t n);

 private:
  RandomStream stream_;
  int bits_;
};

// The largest integer n such that `type` represents all integers in [0, n]: 2^24 for float32, the maximum of
// an integer type.
uint64_t largest_drawn(ScalarType type);

// Values that are drawn together, the same number on every target, so that equal seeds give equal values.
inline constexpr size_t kDrawn = 32;

// A distribution: draws n <= kDrawn values for the parameters a[i] and b[i], with any number of draws from
// `random`.
using Draw = void (*)(Random& random, const double* a, const double* b, double* out, size_t n);

// A distribution whose values are drawn one by one.
template <double (*kOne)(Random& random, double a, double b)>
void draw_each(Random& random, const double* a, const double* b, double* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = kOne(random, a[i], b[i]);
}

// A parameter: a scalar, or a tensor that broadcasts to the output. Refers to the tensor.
struct Parameter {
  Parameter(double number) : value(number) {}               // NOLINT: implicit by design
  Parameter(const Tensor& elements) : tensor(&elements) {}  // NOLINT: implicit by design

  const Tensor* tensor = nullptr;
  double value = 0;
};

// Fills `out`, which has its shape. Both parts of a complex element are drawn; its parameters must be
// scalars. InvalidType if `types` does not contain the dtype.
Error draw_into(TypeSet types, const Tensor& out, Draw draw, const Parameter& a = 0, const Parameter& b = 0);

// Fills `out` with integers uniform in [low, low + range); range 0 means 2^64. Errors: as
// draw_into(); InvalidArgument if the dtype cannot hold `low` or the last integer.
Error draw_integers_into(TypeSet types, const Tensor& out, int64_t low, uint64_t range);

}  // namespace rushlight::kernels
