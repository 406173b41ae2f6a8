// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/index/nonzero.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The first `size` rows of nonzero; missing rows are filled with fill_value. The shape of the result does not
// depend on the data, so one pass suffices and memory can be planned.
Error nonzero_static_out(KernelContext&, const Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  RL_CHECK(out.scalar_type() == ScalarType::Long, Error::InvalidType, "out: expected dtype int64, got %s",
           to_string(out.scalar_type()));
  RL_CHECK(size >= 0 && size <= INT32_MAX, Error::InvalidArgument, "size: expected 0 at least, got %ld",
           static_cast<long>(size));
  const SizesType shape[] = {static_cast<SizesType>(size), static_cast<SizesType>(self.dim())};
  RL_TRY(resize_out(out, shape));
  for (auto row = static_cast<ptrdiff_t>(write_set(self, static_cast<size_t>(size), out)); row < size;
       ++row) {
    char* at = out.mutable_data_ptr<char>() + row * byte_stride(out, 0);
    for (ptrdiff_t d = 0; d < self.dim(); ++d, at += byte_stride(out, 1)) {
      *reinterpret_cast<int64_t*>(at) = fill_value;
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
