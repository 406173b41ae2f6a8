// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element_access.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/row_major.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::isin.Tensor_Tensor_out") |
                           selected_types("aten::isin.Tensor_Scalar_out") |
                           selected_types("aten::isin.Scalar_Tensor_out");

// Elements whose keys are computed at a time.
[[maybe_unused]] constexpr size_t kLength = 128;

// Integers compare exactly in int64, others in double, where integers above 2^53 may become equal. NaN equals
// nothing.
bool equals(const char* a, ScalarType a_type, const char* b, ScalarType b_type) {
  if (is_integer_like(a_type) && is_integer_like(b_type))
    return load_integer(a, a_type) == load_integer(b, b_type);
  return load_number(a, a_type) == load_number(b, b_type);
}

#ifndef __OPTIMIZE_SIZE__
// The keys of n elements, `stride` bytes apart, compared as equals() does: of integers, or of doubles.
void comparison_keys(const char* source, ptrdiff_t stride, ScalarType type, bool integers, size_t n,
                     int64_t* keys) {
  if (integers) return convert_span(keys, sizeof(int64_t), ScalarType::Long, source, stride, type, n);
  double numbers[kLength];
  convert_span(numbers, sizeof(double), ScalarType::Double, source, stride, type, n);
  order_keys(reinterpret_cast<const char*>(numbers), sizeof(double), ScalarType::Double, n, false,
             NanOrder::kAsLargest, keys);
}

// Sorts the keys of the tests in scratch memory and searches for each element: O((n + m) log m) time. False
// without that memory.
bool search_sorted(KernelContext& context, const Tensor& elements, const Tensor& tests, bool invert,
                   const Tensor& out) {
  const size_t count = tests.numel();
  auto* const entries = static_cast<KeyedPosition*>(
      context.allocate_temp(2 * count * sizeof(KeyedPosition), alignof(KeyedPosition)));
  if (entries == nullptr) return false;
  const bool integers = is_integer_like(elements.scalar_type()) && is_integer_like(tests.scalar_type());
  int64_t keys[kLength];
  const auto step = static_cast<ptrdiff_t>(tests.element_size());
  for (size_t first = 0; first < count; first += kLength) {
    const size_t n = count - first < kLength ? count - first : kLength;
    comparison_keys(tests.const_data_ptr<char>() + first * tests.element_size(), step, tests.scalar_type(),
                    integers, n, keys);
    for (size_t i = 0; i < n; ++i) entries[first + i] = {keys[i], 0};
  }
  sort_by_key(entries, entries + count, count);
  RowMajorCursor element(elements);
  RowMajorCursor result(out);
  for (size_t n = elements.numel(); n > 0; --n, element.advance(), result.advance()) {
    int64_t key = 0;
    comparison_keys(element.get(), 0, elements.scalar_type(), integers, 1, &key);
    // The first entry that is not below the key, without a branch on the comparison.
    const KeyedPosition* low = entries;
    for (size_t left = count; left > 1;) {
      const size_t half = left / 2;
      low += low[half - 1].key < key ? half : 0;
      left -= half;
    }
    const bool found =
        low->key == key && (integers || !is_nan_element(element.get(), elements.scalar_type()));
    *result.get() = found != invert ? 1 : 0;
  }
  return true;
}
#endif

// Compares each element with each test element if there are few of them, or no scratch memory to sort them:
// O(n * m) time. Stops at the first match.
Error isin([[maybe_unused]] KernelContext& context, const Tensor& elements, const Tensor& tests, bool invert,
           Tensor& out) {
  for (const Tensor* each : {&elements, &tests}) {
    if (!contains(kTypes, each->scalar_type())) return unsupported_type(each->scalar_type());
  }
  RL_CHECK(out.scalar_type() == ScalarType::Bool, Error::InvalidType, "out: expected dtype bool, got %s",
           to_string(out.scalar_type()));
  RL_TRY(resize_out(out, elements.sizes()));
#ifndef __OPTIMIZE_SIZE__
  constexpr size_t kFew = 8;
  constexpr TypeSet kNeeded = type_set(ScalarType::Long, ScalarType::Double);
  if constexpr ((kConvertibleTypes & kNeeded) == kNeeded) {
    if (tests.numel() > kFew && search_sorted(context, elements, tests, invert, out)) return Error::Ok;
  }
#endif
  RowMajorCursor element(elements);
  RowMajorCursor result(out);
  // The order of the tests does not matter, so they are read in memory order.
  const char* const first = tests.const_data_ptr<char>();
  for (size_t n = elements.numel(); n > 0; --n, element.advance(), result.advance()) {
    bool found = false;
    for (size_t i = 0; i < tests.numel() && !found; ++i) {
      found = equals(element.get(), elements.scalar_type(), first + i * tests.element_size(),
                     tests.scalar_type());
    }
    *result.get() = found != invert ? 1 : 0;
  }
  return Error::Ok;
}

}  // namespace

// assume_unique could save sorting; it is a hint.
Error isin_Tensor_Tensor_out(KernelContext& context, const Tensor& elements, const Tensor& test_elements,
                             bool, bool invert, Tensor& out) {
  return isin(context, elements, test_elements, invert, out);
}

Error isin_Tensor_Scalar_out(KernelContext& context, const Tensor& elements, const Scalar& test_element, bool,
                             bool invert, Tensor& out) {
  const ScalarTensor test(test_element, result_type(elements, test_element));
  return isin(context, elements, test, invert, out);
}

// The result has rank 0.
Error isin_Scalar_Tensor_out(KernelContext& context, const Scalar& element, const Tensor& test_elements, bool,
                             bool invert, Tensor& out) {
  const ScalarTensor one(element, result_type(test_elements, element));
  return isin(context, one, test_elements, invert, out);
}

}  // namespace rushlight::kernels
