// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Index i repeated repeats[i] times, for every i. Two passes: the first sums, so that `out` can be resized.
Error repeat_interleave_tensor_out(KernelContext&, const Tensor& repeats, std::optional<int64_t> output_size,
                                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::repeat_interleave.Tensor_out");
  RL_TRY(check_index_dtype(repeats));
  RL_TRY(check_index_dtype(out));
  RL_CHECK(repeats.dim() == 1, Error::InvalidArgument, "repeats: expected 1 dimension, got %ld",
           static_cast<long>(repeats.dim()));
  if (!contains(kTypes, out.scalar_type())) return unsupported_type(out.scalar_type());
  const auto size = static_cast<ptrdiff_t>(repeats.element_size());
  int64_t total = 0;
  for (ptrdiff_t i = 0; i < repeats.sizes()[0]; ++i) {
    const int64_t count = read_index(repeats.const_data_ptr<char>() + i * size, repeats.scalar_type());
    RL_CHECK(count >= 0 && count <= INT32_MAX && total + count <= INT32_MAX, Error::InvalidArgument,
             "repeats: %lld at %ld is negative or too large", static_cast<long long>(count),
             static_cast<long>(i));
    total += count;
  }
  // PyTorch takes output_size to avoid the first pass; here it is only checked.
  RL_CHECK(!output_size || *output_size == total, Error::InvalidArgument,
           "output_size: expected the sum of repeats, %lld, got %lld", static_cast<long long>(total),
           static_cast<long long>(*output_size));
  Shape shape;
  shape.push(static_cast<ptrdiff_t>(total));
  RL_TRY(resize_out(out, shape.span()));
  char* at = out.mutable_data_ptr<char>();
  for (ptrdiff_t i = 0; i < repeats.sizes()[0]; ++i) {
    int64_t left = read_index(repeats.const_data_ptr<char>() + i * size, repeats.scalar_type());
    // `repeats` may alias `out` and have changed since it was counted: `total` bounds the second read.
    for (; left > 0 && total > 0; --left, --total, at += out.element_size()) {
      store_integer(at, out.scalar_type(), i);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
