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
// Nowhere defined: names and a search for them would be linked into every such kernel.
TypeSet selected_types_is_for_constant_expressions();

// Static, as is the table: kernel sources see different ones.
static constexpr TypeSet selected_types(std::string_view name) {
  if (!__builtin_is_constant_evaluated()) return selected_types_is_for_constant_expressions();
  for (const OperatorTypes& entry : kSelectedTypes) {
    if (entry.name == name) return entry.types;
  }
  return the_row_of_this_operator_names_another_source();
}

// Half and bfloat16 are computed in float, rounded once when stored; so are numbers made of two.
constexpr ScalarType computed_type(ScalarType type) {
  if (type == ScalarType::ComplexHalf) return ScalarType::ComplexFloat;
  return contains(types::kReducedFloat, type) ? ScalarType::Float : type;
}

constexpr TypeSet computed_in(TypeSet set) {
  constexpr TypeSet kReduced = types::kReducedFloat | type_set(ScalarType::ComplexHalf);
  TypeSet computed = set & ~kReduced;
  if ((set & types::kReducedFloat) != 0) computed |= type_set(ScalarType::Float);
  if (contains(set, ScalarType::ComplexHalf)) computed |= type_set(ScalarType::ComplexFloat);
  return computed;
}

// Whether an operation on integers gives the same bits for signed and unsigned ones: sums, products,
// equality, choice. Where it also does to each part of a complex number the same as to a real one, it can
// be in parts.
enum class Signs : uint8_t { kMatter, kIgnored, kIgnoredInParts };

// The type that elements of `type` are held in while something is computed that depends on their values
// only: int64 for integers, whose result wraps when it is stored, and float for 16-bit floats. uint64 is
// held in itself where signs matter, bool where no integers are in the set. Complex types are held in
// complex128 where signs matter, since those operations are rarer, and otherwise in themselves or as
// their parts.
[[gnu::always_inline]] constexpr ScalarType held_type(TypeSet set, ScalarType type,
                                                      Signs signs = Signs::kMatter) {
  constexpr TypeSet kIntegers = types::kIntegral | types::kUnsignedWide;
  if (contains(set & types::kComplex, type)) {
    if (signs == Signs::kMatter) return ScalarType::ComplexDouble;
    return computed_type(signs == Signs::kIgnoredInParts ? component_type(type) : type);
  }
  if (contains(set & types::kReducedFloat, type)) return ScalarType::Float;
  const TypeSet own = signs == Signs::kMatter ? type_set(ScalarType::UInt64) : 0;
  const TypeSet widened = (set & kIntegers) != 0 ? kIntegers | types::kBool : 0;
  return contains(set & widened & ~own, type) ? ScalarType::Long : type;
}

constexpr TypeSet held_in(TypeSet set, Signs signs = Signs::kMatter) {
  TypeSet held = 0;
  for (int8_t number = 0; number < 32; ++number) {
    const auto type = static_cast<ScalarType>(number);
    if (contains(set, type)) held |= type_set(held_type(set, type, signs));
  }
  return held;
}

// The types that complex numbers of a set are made of, and what those and they are held in.
constexpr TypeSet complex_needs(TypeSet set) {
  TypeSet needs = 0;
  if ((set & types::kComplex) != 0) {
    needs |=
        type_set(ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat, ScalarType::ComplexDouble);
  }
  if (contains(set, ScalarType::ComplexHalf)) needs |= type_set(ScalarType::Half);
  return needs;
}

// What convert_run can be asked for in this build: the selected types and those that they are held in.
inline constexpr TypeSet kConvertibleTypes =
    ((kAnySelectedType | computed_in(kAnySelectedType) | complex_needs(kAnySelectedType)) &
     (types::kAll | types::kComplex)) |
    ((kAnySelectedType & (types::kIntegral | types::kUnsignedWide)) != 0 ? type_set(ScalarType::Long) : 0);

inline constexpr bool kSelectsComplex = (kAnySelectedType & types::kComplex) != 0;

}  // namespace rushlight::kernels
