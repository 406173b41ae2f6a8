// SPDX-License-Identifier: BSD-3-Clause
// RMS normalization row by row in float32; tensors that are not row-major take the portable code. 16-bit
// floats are converted piece by piece on the stack: rows of one piece once, longer ones twice.
//
//   y = x / sqrt(mean(x^2) + eps) * weight
#include <algorithm>
#include <cmath>

#include "kernels/backs/norm.h"
#include "kernels/checks/selection.h"
#include "kernels/checks/sizes.h"
#include "kernels/host/elements.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

constexpr TypeSet kTypes = kAnySelectedType & (types::kReducedFloat | type_set(ScalarType::Float));

bool is_row_major(const Tensor& tensor) { return kernels::is_row_major(tensor.dim_order(), tensor.sizes()); }

constexpr size_t kPiece = 2048;      // elements that are converted at a time
constexpr size_t kElements = 16384;  // worth another thread

float scale_of(float squares, size_t n, double eps) {
  return 1.0f / std::sqrt(squares / static_cast<float>(n) + static_cast<float>(eps));
}

// Rows of 16-bit floats.
void normalize_converted(KernelContext& context, const RmsNormProblem& problem) {
  const ScalarType type = problem.type();
  const size_t n = problem.plan.count;
  const size_t size = element_size(type);
  const std::optional<Tensor>& weight = problem.weight;
  context.parallel_for(problem.plan.rows, kElements / n + 1, [&](size_t begin, size_t end, size_t) {
    alignas(64) float values[kPiece];
    alignas(64) float factors[kPiece];
    const auto load = [&](const Tensor& tensor, size_t first, float* to) {
      load_floats(to, type, tensor.const_data_ptr<char>() + first * size, 1, std::min(kPiece, n - first % n));
    };
    if (weight && n <= kPiece) load(*weight, 0, factors);
    for (size_t row = begin; row < end; ++row) {
      PairwiseSum<float> squares;
      for (size_t i = 0; i < n; i += kPiece) {
        load(problem.input, row * n + i, values);
        squares.add(ukernel::squares_span(std::min(kPiece, n - i), values, 0));
      }
      const float scale = scale_of(squares.total(), n, problem.eps);
      for (size_t i = 0; i < n; i += kPiece) {
        const size_t count = std::min(kPiece, n - i);
        if (n > kPiece) {
          load(problem.input, row * n + i, values);
          if (weight) load(*weight, i, factors);
        }
        ukernel::normalize_span(count, values, 0, scale, weight ? factors : nullptr, nullptr, values);
        store_floats(problem.out.mutable_data_ptr<char>() + (row * n + i) * size, 1, type, values, count);
      }
    }
  });
}

}  // namespace

Error rms_norm(KernelContext& context, const RmsNormProblem& problem) {
  const Tensor& input = problem.input;
  const Tensor& out = problem.out;
  const std::optional<Tensor>& weight = problem.weight;
  const RmsNormPlan& plan = problem.plan;
  const double eps = problem.eps;
  const size_t n = plan.count;
  // n == 0 would divide by zero below; the portable code writes nothing then.
  if (n == 0 || !is_row_major(input) || !is_row_major(out) || (weight && !is_row_major(*weight))) {
    return dispatch<kTypes>(problem.type(), [&](auto type) {
      normalize_by_rms<typename decltype(type)::Element>(input, weight, eps, plan, out);
      return Error::Ok;
    });
  }
  if (widens(problem.type())) {
    normalize_converted(context, problem);
    return Error::Ok;
  }
  const auto* from = input.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  const float* factors = weight ? weight->const_data_ptr<float>() : nullptr;
  context.parallel_for(plan.rows, kElements / n + 1, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      const float* x = from + row * n;
      // Both passes read the row, the second from cache.
      const float scale = scale_of(ukernel::squares_span(n, x, 0), n, eps);
      ukernel::normalize_span(n, x, 0, scale, factors, nullptr, to + row * n);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
