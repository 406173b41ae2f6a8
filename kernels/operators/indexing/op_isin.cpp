// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/row_major.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::isin.Tensor_Tensor_out") |
                           selected_types("aten::isin.Tensor_Scalar_out") |
                           selected_types("aten::isin.Scalar_Tensor_out");

// Integers compare exactly in int64, others in double, where integers above 2^53 may become equal. NaN equals
// nothing.
bool equals(const char* a, ScalarType a_type, const char* b, ScalarType b_type) {
  if (is_integer_like(a_type) && is_integer_like(b_type))
    return load_integer(a, a_type) == load_integer(b, b_type);
  return load_number(a, a_type) == load_number(b, b_type);
}

// Compares each element with each test element: O(n * m) time, but no scratch and no sorting. Stops at the
// first match.
Error isin(const Tensor& elements, const Tensor& tests, bool invert, Tensor& out) {
  for (const Tensor* each : {&elements, &tests}) {
    if (!contains(kTypes, each->scalar_type())) return unsupported_type(each->scalar_type());
  }
  RL_CHECK(out.scalar_type() == ScalarType::Bool, Error::InvalidType, "out: expected dtype bool, got %s",
           to_string(out.scalar_type()));
  RL_TRY(resize_out(out, elements.sizes()));
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

// assume_unique would only matter to a sorting implementation.
Error isin_Tensor_Tensor_out(KernelContext&, const Tensor& elements, const Tensor& test_elements, bool,
                             bool invert, Tensor& out) {
  return isin(elements, test_elements, invert, out);
}

Error isin_Tensor_Scalar_out(KernelContext&, const Tensor& elements, const Scalar& test_element, bool,
                             bool invert, Tensor& out) {
  const ScalarTensor test(test_element, result_type(elements, test_element));
  return isin(elements, test, invert, out);
}

// The result has rank 0.
Error isin_Scalar_Tensor_out(KernelContext&, const Scalar& element, const Tensor& test_elements, bool,
                             bool invert, Tensor& out) {
  const ScalarTensor one(element, result_type(test_elements, element));
  return isin(one, test_elements, invert, out);
}

}  // namespace rushlight::kernels
