// SPDX-License-Identifier: BSD-3-Clause
// The dtypes that one operator computes in this build: the dtypes of its row in kernels/ops.yaml without the
// dtypes that dtype selection removed. A kernel hands the set to dispatch():
//
//   constexpr TypeSet kTypes = selected_types("aten::add.out");
//
// An operator that is not selected has the empty set, so its overload in a shared file costs no code.
#pragma once

#include <string_view>

#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// A row of the generated table.
struct OperatorTypes {
  std::string_view name;
  TypeSet types;
};

}  // namespace rushlight::kernels

// Generated: kSelectedTypes[], an OperatorTypes for each operator of the table (in a kernel source: for the
// operators that it defines), and kAnySelectedType, their union.
#include "rushlight/selected_dtypes.h"

namespace rushlight::kernels {

// Not constexpr: a call in a constant expression is a compile error that shows this name.
inline TypeSet the_row_of_this_operator_names_another_source() { return 0; }
// Never defined: a call at run time is a link error. It would link the names and a search into each kernel.
TypeSet selected_types_is_for_constant_expressions();

// The selected dtypes of the operator; for constant expressions only. Static, as is the table, because each
// kernel source sees another table.
static constexpr TypeSet selected_types(std::string_view name) {
  if (!__builtin_is_constant_evaluated()) return selected_types_is_for_constant_expressions();
  for (const OperatorTypes& entry : kSelectedTypes) {
    if (entry.name == name) return entry.types;
  }
  return the_row_of_this_operator_names_another_source();
}

// The dtype of arithmetic: Half and bfloat16 compute in float and round once when stored, ComplexHalf in
// ComplexFloat; every other dtype in itself.
constexpr ScalarType computed_type(ScalarType type) {
  if (type == ScalarType::ComplexHalf) return ScalarType::ComplexFloat;
  return contains(types::kReducedFloat, type) ? ScalarType::Float : type;
}

// computed_type() of each dtype of the set.
constexpr TypeSet computed_in(TypeSet set) {
  constexpr TypeSet kReduced = types::kReducedFloat | type_set(ScalarType::ComplexHalf);
  TypeSet computed = set & ~kReduced;
  if ((set & types::kReducedFloat) != 0) computed |= type_set(ScalarType::Float);
  if (contains(set, ScalarType::ComplexHalf)) computed |= type_set(ScalarType::ComplexFloat);
  return computed;
}

// The effect of signedness on the result of an operation. kIgnored: integer results have the same bits for
// signed and unsigned operands (sums, products, equality, selection). kIgnoredInParts: also, a complex
// operation is the real one on each part. Fewer loops have to be compiled for these.
enum class Signs : uint8_t { kMatter, kIgnored, kIgnoredInParts };

// The dtype in which a loop holds elements of `type` when the result depends on their values only: int64 for
// integers (the result wraps when it is stored) and float for 16-bit floats. uint64 holds itself if signs
// matter, and bool itself if the set has no integers. Complex dtypes are held as complex128 if signs matter,
// because such operations are rare, and otherwise as themselves or as their parts.
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

// held_type() of each dtype of the set: the dtypes for which an operator compiles loops.
constexpr TypeSet held_in(TypeSet set, Signs signs = Signs::kMatter) {
  TypeSet held = 0;
  for (int8_t number = 0; number < 32; ++number) {
    const auto type = static_cast<ScalarType>(number);
    if (contains(set, type)) held |= type_set(held_type(set, type, signs));
  }
  return held;
}

// The dtypes that complex elements of a set consist of, and the dtypes that hold them.
constexpr TypeSet complex_needs(TypeSet set) {
  TypeSet needs = 0;
  if ((set & types::kComplex) != 0) {
    needs |=
        type_set(ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat, ScalarType::ComplexDouble);
  }
  if (contains(set, ScalarType::ComplexHalf)) needs |= type_set(ScalarType::Half);
  return needs;
}

// The dtypes that convert_span() supports in this build: the selected dtypes and the dtypes that hold them.
inline constexpr TypeSet kConvertibleTypes =
    ((kAnySelectedType | computed_in(kAnySelectedType) | complex_needs(kAnySelectedType)) &
     (types::kAll | types::kComplex)) |
    ((kAnySelectedType & (types::kIntegral | types::kUnsignedWide)) != 0 ? type_set(ScalarType::Long) : 0);

// True if some selected operator takes complex tensors: others compile no complex code.
inline constexpr bool kSelectsComplex = (kAnySelectedType & types::kComplex) != 0;

}  // namespace rushlight::kernels
