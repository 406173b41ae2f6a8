// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/complex_view.h"

#include "runtime/base/assert.h"

namespace rushlight::kernels {

View parts_of(View view, size_t which) {
  RL_DCHECK(is_complex(view.type));
  view.type = component_type(view.type);
  view.data += which * element_size(view.type);
  return view;
}

// The new dimension steps from the real to the imaginary part of an element.
View as_real(View view) {
  view = parts_of(view, 0);
  return view.insert(view.dim, 2, static_cast<ptrdiff_t>(element_size(view.type)));
}

void conjugate(const Tensor& tensor) {
  RL_DCHECK(is_complex(tensor.scalar_type()));
  // The sign is the highest bit of a float's last byte (little-endian).
  const size_t element = tensor.element_size();
  char* sign = tensor.mutable_data_ptr<char>() + element - 1;
  for (size_t i = 0; i < tensor.numel(); ++i, sign += element) {
    *sign = static_cast<char>(static_cast<unsigned char>(*sign) ^ 0x80u);
  }
}

}  // namespace rushlight::kernels
