// SPDX-License-Identifier: BSD-3-Clause
// The element types that one operator computes in, in this build: what kernels/ops.yaml grants it,
// less what dtype selection left out. A kernel hands the set to dispatch():
//
//   constexpr TypeSet kTypes = selected_types("aten::add.out");
//
// An operator that is not selected has the empty set, so overloads sharing a file cost nothing.
#pragma once

#include <string_view>

#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

struct OperatorTypes {
  std::string_view name;
  TypeSet types;
};

}  // namespace rushlight::kernels

// Generated: kSelectedTypes[], an OperatorTypes for each operator of the table (for kernel sources: of
// those defined there), and kAnySelectedType.
#include "rushlight/selected_dtypes.h"

namespace rushlight::kernels {

// Not constexpr: that it is reached makes a constant expression an error.
inline TypeSet the_row_of_this_operator_names_another_source() { return 0; }

// Static, as is the table: kernel sources see different ones.
static constexpr TypeSet selected_types(std::string_view name) {
  for (const OperatorTypes& entry : kSelectedTypes) {
    if (entry.name == name) return entry.types;
  }
  return the_row_of_this_operator_names_another_source();
}

// Half and bfloat16 are computed in float, rounded once when stored.
constexpr TypeSet computed_in(TypeSet set) {
  if ((set & types::kReducedFloat) == 0) return set;
  return (set & ~types::kReducedFloat) | type_set(ScalarType::Float);
}

constexpr ScalarType computed_type(ScalarType type) {
  return contains(types::kReducedFloat, type) ? ScalarType::Float : type;
}

// What convert_run can be asked for in this build: the selected types and those that sums of 16-bit
// floats and of integers are held in.
inline constexpr TypeSet kConvertibleTypes =
    ((kAnySelectedType | computed_in(kAnySelectedType)) & types::kAll) |
    ((kAnySelectedType & types::kIntegral) != 0 ? type_set(ScalarType::Long) : 0);

}  // namespace rushlight::kernels
