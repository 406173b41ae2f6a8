// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/index/combine.h"
#include "kernels/index/flat_index.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// out = self, with the elements at row-major positions `index` replaced by the elements of `source`, or, with
// `accumulate`, increased by them. Negative indices count from the end. 16-bit floats are rounded after each
// addition.
Error put_out(KernelContext&, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate,
              Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::put.out");
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, source, "self and source"));
  RL_CHECK(source.numel() == index.numel(), Error::InvalidArgument,
           "source: expected %lu elements, as index has, got %lu", log_number(index.numel()),
           log_number(source.numel()));
  RL_TRY(copy_to_out(View::of(self), out));
  const size_t element_bytes = self.element_size();
  return for_each_flat(index, out, source, [&](char* element, char* other) {
    if (accumulate) {
      combine_elements(element, self.scalar_type(), other, self.scalar_type(), Combine::kSum);
    } else {
      copy_element(element, other, element_bytes);
    }
  });
}

}  // namespace rushlight::kernels
