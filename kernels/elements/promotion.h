// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's result type of an operator's arguments. Arguments rank in three classes: tensors with
// dimensions, 0-dim tensors, plain numbers. A class decides only where its kind (bool < integer <
// floating < complex) is higher than that of the classes before it.
#pragma once

#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

class Promotion {
 public:
  Promotion& with(const Tensor& tensor);
  Promotion& with(const Scalar& scalar);

  // The type to compute in. A number alone has PyTorch's default types: float32, int64, bool.
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

template <class... Arguments>
ScalarType result_type(const Arguments&... arguments) {
  Promotion promotion;
  (promotion.with(arguments), ...);
  return promotion.type();
}

// Like most pairs.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) return a.scalar_type();
  return Promotion().with(a).with(b).type();
}

// The type a function that only exists on floating or complex numbers computes in: integers become
// float32.
inline ScalarType floating_type(ScalarType type) {
  return is_floating(type) || is_complex(type) ? type : ScalarType::Float;
}

}  // namespace rushlight::kernels
