// SPDX-License-Identifier: BSD-3-Clause
// The angle of points, in double; float32 and 16-bit floats are rounded once more.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/wide_math.h"
#include "kernels/walk/elementwise.h"

namespace rushlight::kernels::host {

namespace {

// The microkernel takes the parts apart.
void angle_row(const void*, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  constexpr size_t kPiece = 64;
  float parts[2][kPiece];
  float angles[kPiece];
  char* to = pointers[0];
  const char* from = pointers[1];
  for (size_t length = 0; n > 0; n -= length) {
    length = n < kPiece ? n : kPiece;
    for (size_t i = 0; i < length; ++i, from += strides[1]) {
      const auto* const part = reinterpret_cast<const float*>(from);
      parts[0][i] = part[0];
      parts[1][i] = part[1];
    }
    ukernel::atan2_f32(length, parts[1], 1, parts[0], 1, angles);
    for (size_t i = 0; i < length; ++i, to += strides[0]) *reinterpret_cast<float*>(to) = angles[i];
  }
}

}  // namespace

Error angle(KernelContext&, const PhaseProblem& problem) {
  const Tensor* const inputs[] = {&problem.self};
  return kernels::run_elementwise(
      {inputs, 1}, problem.out,
      {problem.type(), problem.type(), ScalarType::Float, Numbers::kRounded, angle_row, nullptr});
}

Error atan2(KernelContext& context, const BinaryProblem& problem) {
  if constexpr (contains(kAnySelectedType, ScalarType::Double)) {
    if (problem.compute == ScalarType::Double)
      return elementwise(context, problem.out, of_pairs<double>(ukernel::atan2_f64), problem.a, problem.b);
  }
  return elementwise_in_float(context, problem.out, of_pairs<float>(ukernel::atan2_f32), problem.a,
                              problem.b);
}

}  // namespace rushlight::kernels::host
