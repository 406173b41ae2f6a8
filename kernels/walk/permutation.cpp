// SPDX-License-Identifier: BSD-3-Clause
// Views instead of copies: each function changes the order, sign or size of strides, and the caller copies
// once.
#include "kernels/walk/permutation.h"

#include "kernels/checks/checks.h"
#include "kernels/checks/sizes.h"

namespace rushlight::kernels {

Error read_permutation(const Tensor& self, Span<const int64_t> dims, View* permuted) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(dims.size() == rank, Error::InvalidArgument, "dims: expected %lu dimensions, got %lu",
           static_cast<unsigned long>(rank), static_cast<unsigned long>(dims.size()));
  // read_dims() refuses repeated dimensions, so the list is a permutation.
  uint32_t mask = 0;
  RL_TRY(read_dims(dims, self.dim(), &mask));
  const View source = View::of(self);
  *permuted = source;
  for (size_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(dims[i] < 0 ? dims[i] + self.dim() : dims[i]);
    permuted->sizes[i] = source.sizes[d];
    permuted->strides[i] = source.strides[d];
  }
  return Error::Ok;
}

Error read_flip(const Tensor& self, Span<const int64_t> dims, View* flipped) {
  uint32_t backwards = 0;
  RL_TRY(read_dims(dims, self.dim(), &backwards));
  View source = View::of(self);
  for (size_t d = 0; d < source.dim; ++d) {
    if ((backwards >> d & 1u) == 0 || source.sizes[d] < 2) continue;
    // Starts at the last element and steps backwards; there is no data while a call is prepared.
    if (source.data != nullptr) source.data += source.strides[d] * (source.sizes[d] - 1);
    source.strides[d] = -source.strides[d];
  }
  *flipped = source;
  return Error::Ok;
}

// A scalar accepts dimensions 0 and -1 and stays as it is.
Error read_swap(const Tensor& self, int64_t dim0, int64_t dim1, View* swapped) {
  size_t a = 0;
  size_t b = 0;
  RL_TRY(normalize_dim(dim0, self.dim(), &a));
  RL_TRY(normalize_dim(dim1, self.dim(), &b));
  *swapped = View::of(self);
  if (self.dim() > 0) swapped->swap(a, b);
  return Error::Ok;
}

Error read_transpose(const Tensor& self, View* transposed) {
  RL_CHECK(self.dim() <= 2, Error::InvalidArgument, "self: expected rank 2 at most, got %d",
           static_cast<int>(self.dim()));
  *transposed = View::of(self);
  if (self.dim() == 2) transposed->swap(0, 1);
  return Error::Ok;
}

Error read_expansion(const Tensor& self, Span<const int64_t> size, bool implicit, View* expanded) {
  RL_CHECK(!implicit, Error::InvalidArgument, "implicit: expected false, got true");
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(size.size() >= rank && size.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "size: expected %lu to %d dimensions, got %lu", static_cast<unsigned long>(rank),
           static_cast<int>(kTensorDimensionLimit), static_cast<unsigned long>(size.size()));
  const size_t added = size.size() - rank;
  View& view = *expanded;
  view = View::of(self);
  for (size_t i = 0; i < added; ++i) view.insert(0, 1, 0);
  for (size_t i = 0; i < size.size(); ++i) {
    // -1 keeps a size, except of an added dimension, where PyTorch refuses it.
    if (i >= added && size[i] == -1) continue;
    RL_CHECK(size[i] >= 0 && size[i] <= INT32_MAX && (view.sizes[i] == 1 || view.sizes[i] == size[i]),
             Error::InvalidArgument, "size: dimension %lu of size %ld does not expand to %ld",
             static_cast<unsigned long>(i), static_cast<long>(view.sizes[i]), static_cast<long>(size[i]));
    if (view.sizes[i] != size[i]) view.strides[i] = 0;
    view.sizes[i] = static_cast<SizesType>(size[i]);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
