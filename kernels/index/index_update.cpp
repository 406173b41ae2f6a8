// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/index_update.h"

#include "kernels/checks/checks.h"
#include "kernels/index/index.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// Expands the indices to the sizes of the source, with stride 0 in the other dimensions.
Error IndexUpdate::spread(const Tensor& indices) {
  RL_TRY(check_index_dtype(indices));
  RL_CHECK(indices.dim() <= 1 && static_cast<ptrdiff_t>(indices.numel()) == source.sizes[dim],
           Error::InvalidArgument, "index: expected %ld elements in at most 1 dimension, got %lu in %ld",
           static_cast<long>(source.sizes[dim]), log_number(indices.numel()),
           static_cast<long>(indices.dim()));
  index = source;
  index.data = indices.mutable_data_ptr<char>();
  index.type = indices.scalar_type();
  for (size_t d = 0; d < index.dim; ++d) {
    // One index for each slice, repeated for all elements of it.
    index.strides[d] = d == dim ? static_cast<ptrdiff_t>(indices.element_size()) : 0;
  }
  return Error::Ok;
}

Error IndexUpdate::plan(const Tensor& self, int64_t wanted, const Tensor& indices, const Tensor& values,
                        const Tensor& out) {
  RL_TRY(normalize_dim(wanted, self.dim(), &dim));
  // Neither broadcasting nor conversion: each selected slice takes part with a source slice of the same
  // shape.
  RL_TRY(check_same_dtype(self, values, "self and source"));
  source = at_least_1d(values);
  const View whole = at_least_1d(self);
  RL_CHECK(source.dim == whole.dim, Error::InvalidArgument, "source: expected %lu dimensions, got %lu",
           log_number(whole.dim), log_number(source.dim));
  for (size_t d = 0; d < source.dim; ++d) {
    RL_CHECK(d == dim || source.sizes[d] == whole.sizes[d], Error::InvalidArgument,
             "source: expected size %ld in dimension %lu, got %ld", static_cast<long>(whole.sizes[d]),
             log_number(d), static_cast<long>(source.sizes[d]));
  }
  // All checks come before the copy, which is the first write.
  RL_TRY(spread(indices));
  RL_TRY(copy_to_out(View::of(self), out));
  target = at_least_1d(out);
  return Error::Ok;
}

Error IndexUpdate::plan_fill(const Tensor& self, int64_t wanted, const Tensor& indices, const Tensor& number,
                             const Tensor& out) {
  RL_TRY(normalize_dim(wanted, self.dim(), &dim));
  source = at_least_1d(self);
  // The shape of the selected slices, each element of which is the one number.
  source.data = number.mutable_data_ptr<char>();
  source.sizes[dim] = static_cast<SizesType>(indices.numel());
  for (size_t d = 0; d < source.dim; ++d) source.strides[d] = 0;
  RL_TRY(spread(indices));
  RL_TRY(copy_to_out(View::of(self), out));
  target = at_least_1d(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
