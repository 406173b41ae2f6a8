// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/promotion.h"

namespace rushlight::kernels {

namespace {

// bool < integer < floating < complex.
int kind(ScalarType type) {
  if (is_complex(type)) return 3;
  return is_floating(type) ? 2 : (type == ScalarType::Bool ? 0 : 1);
}

}  // namespace

void Promotion::Class::add(ScalarType other) {
  type = present ? promote_types(type, other) : other;
  present = true;
}

Promotion& Promotion::with(const Tensor& tensor) {
  (tensor.dim() > 0 ? dimensioned_ : zero_dim_).add(tensor.scalar_type());
  return *this;
}

Promotion& Promotion::with(const Scalar& scalar) {
  numbers_.add(scalar.type());
  return *this;
}

// Dimensioned tensors first, then 0-dim tensors, then scalars: a later class only decides if its kind is
// higher.
ScalarType Promotion::type() const {
  Class result;
  const Class* const classes[] = {&dimensioned_, &zero_dim_, &numbers_};
  for (const Class* next : classes) {
    if (!next->present) continue;
    if (!result.present) {
      result = *next;
    } else if (kind(next->type) > kind(result.type)) {
      // A floating type becomes the complex type of the same width.
      const bool widens = is_complex(next->type) && is_floating(result.type);
      result.type = widens ? complex_type(result.type) : next->type;
    }
  }
  return result.type;
}

}  // namespace rushlight::kernels
