// SPDX-License-Identifier: BSD-3-Clause
// Types and microkernels for quantized elements of a dtype with int8 weights, as parameters of templates for
// several dtypes. A back compiles the algorithm once for each dtype that the build selects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/checks/selection.h"
#include "kernels/ukernel/int16_depthwise.h"
#include "kernels/ukernel/int16_product.h"
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/int8_product.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// int8 elements: 32-bit sums, which bound a layer's depth (see bound_sums()). kRows is the number of rows
// that the microkernel computes together; callers offer it multiples of that.
struct Int8Elements {
  using Element = int8_t;
  using Sum = int32_t;
  using Product = ukernel::Int8Product;
  using Depthwise = ukernel::Int8Depthwise;
  static constexpr ptrdiff_t kRows = ukernel::kInt8ProductRows;
  static constexpr bool kParts = ukernel::kInt8ProductParts;        // rows of a product may consist of parts
  static constexpr bool kStrides = ukernel::kInt8DepthwiseStrides;  // pixels may share pointers
  static void multiply(const Product& product) { ukernel::multiply_int8(product); }
  static void filter(const Depthwise& strip) { ukernel::depthwise_int8(strip); }
};

// int16 elements: 64-bit sums, and no microkernel with parts or strides. Weights stay int8, and zero points
// are 0.
struct Int16Elements {
  using Element = int16_t;
  using Sum = int64_t;
  using Product = ukernel::Int16Product;
  using Depthwise = ukernel::Int16Depthwise;
  static constexpr ptrdiff_t kRows = ukernel::kInt16ProductRows;
  static constexpr bool kParts = false;
  static constexpr bool kStrides = false;
  static void multiply(const Product& product) { ukernel::multiply_int16(product); }
  static void filter(const Depthwise& strip) { ukernel::depthwise_int16(strip); }
};

// The dtypes of all operators that this source file sees: a front's own operators, or the operators of
// a back. Packages have one table, so there it is all operators.
static constexpr TypeSet source_types() {
  TypeSet types = 0;
  for (const OperatorTypes& entry : kSelectedTypes) types |= entry.types;
  return types;
}

// Calls compute(Int8{}) or compute(Int16{}) by the dtype. Precondition: kTypes contains `type`, which is Char
// or Short. If kTypes has only one of the two, the other is not compiled. Int8 and Int16 derive from the
// structs above in an unnamed namespace of the caller, because compilers inline templates of such types that
// are called once.
template <TypeSet kTypes, class Int8, class Int16, class Compute>
[[nodiscard]] auto for_elements([[maybe_unused]] ScalarType type, Compute compute) {
  if constexpr (!contains(kTypes, ScalarType::Short)) {
    return compute(Int8{});
  } else if constexpr (!contains(kTypes, ScalarType::Char)) {
    return compute(Int16{});
  } else {
    return type == ScalarType::Short ? compute(Int16{}) : compute(Int8{});
  }
}

}  // namespace rushlight::kernels
