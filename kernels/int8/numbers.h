// SPDX-License-Identifier: BSD-3-Clause
// The loops for quantized numbers of a dtype, with int8 weights: what code for several dtypes is a template
// of.
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

struct Int8Numbers {
  using Element = int8_t;
  using Sum = int32_t;
  using Product = ukernel::Int8Product;
  using Depthwise = ukernel::Int8Depthwise;
  static constexpr ptrdiff_t kRows = ukernel::kInt8ProductRows;
  static constexpr bool kParts = ukernel::kInt8ProductParts;        // of rows of a product
  static constexpr bool kStrides = ukernel::kInt8DepthwiseStrides;  // of pixels that share pointers
  static void multiply(const Product& product) { ukernel::multiply_int8(product); }
  static void filter(const Depthwise& strip) { ukernel::depthwise_int8(strip); }
};

struct Int16Numbers {
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

// The types of all operators that the source sees: those that it defines, or, of a back, is asked for; in
// packages, which have one table, all that there are.
static constexpr TypeSet source_types() {
  TypeSet types = 0;
  for (const OperatorTypes& entry : kSelectedTypes) types |= entry.types;
  return types;
}

// compute(Int8 or Int16) by the dtype, which is one of both and of the set. Code for the other is not
// compiled where the set has one. The types derive from those above, in the source's unnamed namespace: then
// compilers inline templates of them that are called once.
template <TypeSet kTypes, class Int8, class Int16, class Compute>
[[nodiscard]] auto for_numbers([[maybe_unused]] ScalarType type, Compute compute) {
  if constexpr (!contains(kTypes, ScalarType::Short)) {
    return compute(Int8{});
  } else if constexpr (!contains(kTypes, ScalarType::Char)) {
    return compute(Int16{});
  } else {
    return type == ScalarType::Short ? compute(Int16{}) : compute(Int8{});
  }
}

}  // namespace rushlight::kernels
