// SPDX-License-Identifier: BSD-3-Clause
// Tensors of random numbers. A distribution is a function of two parameters, each a number or a tensor
// that broadcasts; elements are drawn in the order in which the output's lie in memory.
#pragma once

#include <cstdint>

#include "kernels/checks/selection.h"
#include "runtime/base/error.h"
#include "runtime/kernel/random.h"
#include "runtime/tensor/evalue.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A generator is nothing that a program can hold. InvalidArgument unless it is None.
Error check_no_generator(const EValue& generator);

class Random {
 public:
  // Uniform numbers have as many random bits as `type` can hold.
  explicit Random(ScalarType type);

  double uniform();                // in [0, 1)
  double positive();               // in (0, 1]
  double normal();                 // of mean 0 and standard deviation 1
  uint64_t below(uint64_t bound);  // uniform in [0, bound); any 64 bits when bound is 0

 private:
  RandomStream stream_;
  int bits_;
};

// The largest of the whole numbers from 0 on that `type` holds without a gap.
uint64_t largest_drawn(ScalarType type);

using Draw = double (*)(Random& random, double a, double b);

struct Parameter {
  Parameter(double number) : value(number) {}               // NOLINT: implicit by design
  Parameter(const Tensor& elements) : tensor(&elements) {}  // NOLINT: implicit by design

  const Tensor* tensor = nullptr;
  double value = 0;
};

// Sets every element of `out`, which has its shape; of complex numbers both parts, and parameters are
// numbers. Errors: InvalidType (a dtype outside `types`).
Error draw_into(TypeSet types, const Tensor& out, Draw draw, const Parameter& a = 0, const Parameter& b = 0);

// Whole numbers, uniform in [low, low + range), 2^64 of them when range is 0. Errors: as draw_into.
Error draw_integers_into(TypeSet types, const Tensor& out, int64_t low, uint64_t range);

}  // namespace rushlight::kernels
