// SPDX-License-Identifier: BSD-3-Clause
// The angle of points, in double; float32 and 16-bit floats are rounded once more.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/wide_math.h"

namespace rushlight::kernels::host {

Error atan2(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.compute == ScalarType::Double)
      return elementwise(context, problem.out, of_pairs<double>(ukernel::atan2_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, of_pairs<float>(ukernel::atan2_f32), problem.a,
                              problem.b);
}

}  // namespace rushlight::kernels::host
