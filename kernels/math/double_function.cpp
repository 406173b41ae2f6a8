// SPDX-License-Identifier: BSD-3-Clause
// `f` computes in double; T is float or double, the dtype that holds the elements of a row.
#include "kernels/math/double_function.h"

#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/elementwise.h"

namespace rushlight::kernels {

namespace {

// One loop for each arity and element type; the function is a pointer in the row's context, so a new function
// adds no loop.
template <class T>
void unary_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const UnaryDouble f = *static_cast<const UnaryDouble*>(function);
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    const T x = *reinterpret_cast<const T*>(pointers[1] + at * strides[1]);
    *reinterpret_cast<T*>(pointers[0] + at * strides[0]) = static_cast<T>(f(x));
  }
}

template <class T>
void binary_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const BinaryDouble f = *static_cast<const BinaryDouble*>(function);
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    const T a = *reinterpret_cast<const T*>(pointers[1] + at * strides[1]);
    const T b = *reinterpret_cast<const T*>(pointers[2] + at * strides[2]);
    *reinterpret_cast<T*>(pointers[0] + at * strides[0]) = static_cast<T>(f(a, b));
  }
}

// `type` is the promoted dtype of all arguments. Integers and bool compute in float32; a 16-bit dtype is held
// in float32 and rounded once more when it is stored.
Error run(TypeSet types, ScalarType type, Span<const Tensor* const> inputs, const Tensor& out,
          const void* function) {
  const ScalarType promoted = floating_type(type);
  if (!contains(types, type) || !contains(types, promoted)) return unsupported_type(type);
  constexpr TypeSet kTypes =
      computed_in(kAnySelectedType & types::kFloating) & type_set(ScalarType::Float, ScalarType::Double);
  const ScalarType computed = computed_type(promoted);
  return dispatch<kTypes>(computed, [&](auto element) {
    using T = typename decltype(element)::Element;
    const RowFunction row = inputs.size() == 1 ? &unary_row<T> : &binary_row<T>;
    return run_elementwise(inputs, out, {promoted, computed, computed, Numbers::kRounded, row, function});
  });
}

}  // namespace

Error run_double(const DoubleFunction<UnaryDouble>& f, const Tensor& self, const Tensor& out) {
  const Tensor* const inputs[] = {&self};
  return run(f.types, self.scalar_type(), {inputs, 1}, out, &f.function);
}

Error run_double(const DoubleFunction<BinaryDouble>& f, const Tensor& a, const Tensor& b, const Tensor& out) {
  const Tensor* const inputs[] = {&a, &b};
  return run(f.types, result_type(a, b), {inputs, 2}, out, &f.function);
}

Error run_double(const DoubleFunction<BinaryDouble>& f, const Scalar& a, const Tensor& b, const Tensor& out) {
  const ScalarType type = result_type(a, b);
  // The scalar becomes a 0-dim tensor of the promoted dtype, which broadcasts.
  const ScalarTensor number(a, floating_type(type));
  const Tensor* const inputs[] = {&static_cast<const Tensor&>(number), &b};
  return run(f.types, type, {inputs, 2}, out, &f.function);
}

Error run_double(const DoubleFunction<BinaryDouble>& f, const Tensor& a, const Scalar& b, const Tensor& out) {
  const ScalarType type = result_type(a, b);
  const ScalarTensor number(b, floating_type(type));
  const Tensor* const inputs[] = {&a, &static_cast<const Tensor&>(number)};
  return run(f.types, type, {inputs, 2}, out, &f.function);
}

}  // namespace rushlight::kernels
