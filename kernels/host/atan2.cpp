// SPDX-License-Identifier: BSD-3-Clause
// The angle of points, in double; float32 and 16-bit floats are rounded once more.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/wide_math.h"

namespace rushlight::kernels::host {

namespace {

// Rows of points with elements of type T.
template <class T, class F>
auto of_points(F f) {
  return [f](const ukernel::Rows& rows) {
    const auto at = [&](const ukernel::RowInput& in, size_t row) {
      return reinterpret_cast<const T*>(static_cast<const char*>(in.data) +
                                        static_cast<ptrdiff_t>(row) * in.stride);
    };
    char* out = static_cast<char*>(rows.out);
    for (size_t row = 0; row < rows.count; ++row, out += rows.stride) {
      f(rows.n, at(rows.in[0], row), rows.in[0].one ? 0 : 1, at(rows.in[1], row), rows.in[1].one ? 0 : 1,
        reinterpret_cast<T*>(out));
    }
  };
}

}  // namespace

Error atan2(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.compute == ScalarType::Double)
      return elementwise(context, problem.out, of_points<double>(ukernel::atan2_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, of_points<float>(ukernel::atan2_f32), problem.a,
                              problem.b);
}

}  // namespace rushlight::kernels::host
