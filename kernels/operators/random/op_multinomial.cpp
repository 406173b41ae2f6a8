// SPDX-License-Identifier: BSD-3-Clause
// Sampling from discrete distributions by inversion of the cumulative weights: time linear in the categories
// for each sample, and no scratch for a cumulative table. Weights need not sum to 1. Sums are in double.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/random.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// One distribution over categories, and the samples drawn from it.
struct Row {
  const char* weights;
  ptrdiff_t stride;
  ScalarType type;
  int64_t categories;
  int64_t* samples;
  ptrdiff_t sample_stride;  // in elements

  [[nodiscard]] double weight(int64_t category) const {
    return load_number(weights + static_cast<ptrdiff_t>(category) * stride, type);
  }
};

// The weight of a category; 0 if it is among the first `taken` samples, for sampling without replacement.
double weight_left(const Row& row, int64_t category, int64_t taken) {
  for (ptrdiff_t i = 0; i < taken; ++i) {
    if (row.samples[i * row.sample_stride] == category) return 0;
  }
  return row.weight(category);
}

// Every weight must be finite and at least 0, which excludes NaN, and `needed` must be positive: without
// replacement each sample takes one.
Error check_row(const Row& row, int64_t needed) {
  int64_t positive = 0;
  for (int64_t c = 0; c < row.categories; ++c) {
    const double weight = row.weight(c);
    RL_CHECK(weight >= 0 && std::isfinite(weight), Error::InvalidArgument,
             "self: expected finite weights of 0 at least, got %f", weight);
    if (weight > 0) ++positive;
  }
  RL_CHECK(positive >= needed, Error::InvalidArgument, "self: expected %lld weights above 0, got %lld",
           static_cast<long long>(needed), static_cast<long long>(positive));
  return Error::Ok;
}

// The first category whose cumulative weight exceeds the target. Two passes: the sum of the weights changes
// with each sample taken. Rounding may leave the target above all sums; then the last positive category is
// drawn.
int64_t draw_category(const Row& row, int64_t taken, Random& random) {
  double total = 0;
  for (int64_t c = 0; c < row.categories; ++c) total += weight_left(row, c, taken);
  const double target = random.uniform() * total;
  double sum = 0;
  int64_t last = 0;
  for (int64_t c = 0; c < row.categories; ++c) {
    const double weight = weight_left(row, c, taken);
    if (weight == 0) continue;
    sum += weight;
    last = c;
    if (target < sum) break;
  }
  return last;
}

}  // namespace

// Without replacement each sample is compared with all earlier ones: time grows with the square of their
// number.
Error multinomial_out(KernelContext&, const Tensor& self, int64_t num_samples, bool replacement,
                      const EValue& generator, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::multinomial.out") & types::kFloating;
  RL_TRY(check_no_generator(generator));
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_CHECK(out.scalar_type() == ScalarType::Long, Error::InvalidType, "out: expected dtype int64, got %s",
           to_string(out.scalar_type()));
  RL_CHECK(self.dim() == 1 || self.dim() == 2, Error::InvalidArgument, "self: expected rank 1 or 2, got %d",
           static_cast<int>(self.dim()));
  const View weights = View::of(self);
  const size_t last = weights.dim - 1;
  const int64_t categories = weights.sizes[last];
  RL_CHECK(num_samples > 0 && num_samples <= INT32_MAX && (replacement || num_samples <= categories),
           Error::InvalidArgument, "num_samples: expected 1 to %lld, got %lld",
           static_cast<long long>(replacement ? INT32_MAX : categories), static_cast<long long>(num_samples));
  Shape shape;
  if (last == 1) shape.push(weights.sizes[0]);
  shape.push(static_cast<ptrdiff_t>(num_samples));
  RL_TRY(resize_out(out, shape.span()));
  Random random(ScalarType::Double);
  const ptrdiff_t rows = last == 1 ? weights.sizes[0] : 1;
  for (ptrdiff_t r = 0; r < rows; ++r) {
    const Row row{weights.data + (last == 1 ? r * weights.strides[0] : 0),
                  weights.strides[last],
                  weights.type,
                  categories,
                  out.mutable_data_ptr<int64_t>() + (last == 1 ? r * out.strides()[0] : 0),
                  out.strides()[last]};
    RL_TRY(check_row(row, replacement ? 1 : num_samples));
    for (ptrdiff_t i = 0; i < num_samples; ++i) {
      row.samples[i * row.sample_stride] = draw_category(row, replacement ? 0 : i, random);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
