// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_linear.h"

#include "kernels/checks/selection.h"
#include "kernels/int8/multiply_in_place.h"

namespace rushlight::kernels::board {

namespace {

// The Cortex-M backend's int8 operators use this back, too.
constexpr TypeSet kTypes =
    selected_types("rushlight::quantized_linear.out") | (source_types() & type_set(ScalarType::Char));

struct Int8 : Int8Elements {};
struct Int16 : Int16Elements {};

}  // namespace

std::optional<Error> quantized_linear(KernelContext&, const QuantizedLinearProblem& problem) {
  return for_elements<kTypes, Int8, Int16>(
      problem.type(), [&](auto numbers) { return multiply_in_place<decltype(numbers)>(problem); });
}

}  // namespace rushlight::kernels::board
