// SPDX-License-Identifier: BSD-3-Clause
// One switch over the selected dtypes for each access; only the dtypes of the build are compiled.
#include "kernels/elements/element_access.h"

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element.h"
#include "kernels/sorting/order.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kElements = (kAnySelectedType | complex_needs(kAnySelectedType)) & types::kAll;

// Calls f(const T*) for the dtype; callers have checked that it is selected.
template <TypeSet kSet, class F>
void visit(const char* at, ScalarType type, F f) {
  const Error error = dispatch<kSet>(type, [&](auto of) {
    f(reinterpret_cast<const typename decltype(of)::Element*>(at));
    return Error::Ok;
  });
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
}

template <TypeSet kSet, class N>
void store(char* at, ScalarType type, N value) {
  const Error error = dispatch<kSet>(type, [&](auto of) {
    using T = typename decltype(of)::Element;
    *reinterpret_cast<T*>(at) = convert<T>(value);
    return Error::Ok;
  });
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
}

}  // namespace

Error check_loadable(const Tensor& tensor) {
  return contains(kElements, tensor.scalar_type()) ? Error::Ok : unsupported_type(tensor.scalar_type());
}

// Floating dtypes are excluded from this switch, which saves their code.
int64_t load_integer(const char* at, ScalarType type) {
  int64_t value = 0;
  visit<(kElements & ~types::kFloating)>(at, type,
                                         [&](const auto* from) { value = static_cast<int64_t>(load(from)); });
  return value;
}

// int64 rounds to 53 bits.
double load_any_number(const char* at, ScalarType type) {
  double value = 0;
  visit<kElements>(at, type, [&](const auto* from) { value = convert<double>(load(from)); });
  return value;
}

void store_integer(char* at, ScalarType type, int64_t value) {
  if (is_floating(type)) return store_number(at, type, static_cast<double>(value));
  store<(kElements & ~types::kFloating)>(at, type, value);
}

void store_any_number(char* at, ScalarType type, double value) { store<kElements>(at, type, value); }

// In builds for speed by the loops of convert_span().
void load_numbers(double* to, const char* from, ptrdiff_t stride, ScalarType type, size_t n) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (contains(kConvertibleTypes, ScalarType::Double)) {
    return convert_span(to, sizeof(double), ScalarType::Double, from, stride, type, n);
  }
#endif
  for (; n > 0; --n, ++to, from += stride) *to = load_number(from, type);
}

void store_numbers(char* to, ptrdiff_t stride, ScalarType type, const double* from, size_t n) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (contains(kConvertibleTypes, ScalarType::Double)) {
    return convert_span(to, stride, type, from, sizeof(double), ScalarType::Double, n);
  }
#endif
  for (; n > 0; --n, ++from, to += stride) store_number(to, type, *from);
}

// Parts are stored side by side, the real one first.
Complex<double> load_complex(const char* at, ScalarType type) {
  const ScalarType part = component_type(type);
  const double real = load_number(at, part);
  return {real, part == type ? 0 : load_number(at + element_size(part), part)};
}

void store_complex(char* at, ScalarType type, Complex<double> value) {
  const ScalarType part = component_type(type);
  store_number(at, part, value.real);
  if (part != type) store_number(at + element_size(part), part, value.imag);
}

int compare_elements(const char* a, const char* b, ScalarType type) {
  // The keys order all dtypes, also NaN, as integers.
  int64_t keys[2];
  order_keys(a, 0, type, 1, false, NanOrder::kAsLargest, &keys[0]);
  order_keys(b, 0, type, 1, false, NanOrder::kAsLargest, &keys[1]);
  return static_cast<int>(keys[0] > keys[1]) - static_cast<int>(keys[0] < keys[1]);
}

}  // namespace rushlight::kernels
