// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/convert.h"

#include "kernels/shared/element.h"
#include "kernels/shared/selection.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

void convert_run(void* target, ptrdiff_t target_stride, ScalarType to, const void* source,
                 ptrdiff_t source_stride, ScalarType from, size_t n) {
  const Error error = dispatch<kConvertibleTypes>(to, [&](auto to_type) {
    return dispatch<kConvertibleTypes>(from, [&](auto from_type) {
      using To = typename decltype(to_type)::Element;
      using From = typename decltype(from_type)::Element;
      auto* out = static_cast<char*>(target);
      const auto* in = static_cast<const char*>(source);
      for (size_t i = 0; i < n; ++i, out += target_stride, in += source_stride) {
        *reinterpret_cast<To*>(out) = convert<To>(load(reinterpret_cast<const From*>(in)));
      }
      return Error::Ok;
    });
  });
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
}

Error check_convertible(ScalarType type) {
  return contains(kConvertibleTypes, type) ? Error::Ok : unsupported_type(type);
}

}  // namespace rushlight::kernels
