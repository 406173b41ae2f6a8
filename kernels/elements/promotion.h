// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's type promotion. Arguments form three classes: tensors with dimensions, 0-dim tensors, scalars. A
// later class decides only if its kind (bool < integer < floating < complex) is higher than the kind of the
// classes before it. So float32 [3] + a double scalar is float32, and int64 [3] + 0.5 is float32. Reference:
// PyTorch's documentation of torch.result_type.
#pragma once

#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Accumulates the arguments of an operator; order does not matter. Within a class dtypes combine by
// promote_types().
class Promotion {
 public:
  Promotion& with(const Tensor& tensor);
  Promotion& with(const Scalar& scalar);

  // The type to compute in. A scalar alone has PyTorch's default type: float32, int64 or bool. A complex
  // scalar takes the width of a floating tensor: float64 becomes complex128. Precondition: at least one
  // argument.
  [[nodiscard]] ScalarType type() const;

 private:
  struct Class {
    ScalarType type = ScalarType::Bool;
    bool present = false;
    void add(ScalarType other);
  };
  Class dimensioned_;
  Class zero_dim_;
  Class numbers_;
};

// The promoted type of tensors and scalars.
template <class... Arguments>
ScalarType result_type(const Arguments&... arguments) {
  Promotion promotion;
  (promotion.with(arguments), ...);
  return promotion.type();
}

// The same, with a shortcut for equal dtypes, the common case.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) return a.scalar_type();
  return Promotion().with(a).with(b).type();
}

// The compute type of a function that only exists for floating and complex values: integers and bool become
// float32.
inline ScalarType floating_type(ScalarType type) {
  return is_floating(type) || is_complex(type) ? type : ScalarType::Float;
}

}  // namespace rushlight::kernels
