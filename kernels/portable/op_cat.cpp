// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/promotion.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// What older programs use as "nothing yet": skipped whatever the rank of the others.
bool is_placeholder(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

// The result's shape: that of the first tensor, with the sizes along `d` added up.
Error concatenated_shape(Span<const Tensor> tensors, int64_t dim, size_t* d, Shape* shape) {
  const Tensor* first = nullptr;
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    RL_CHECK(tensor.dim() > 0, Error::InvalidArgument, "tensors: number %lu has no dimension",
             static_cast<unsigned long>(i));
    if (is_placeholder(tensor)) continue;
    if (first == nullptr) {
      first = &tensor;
      RL_TRY(normalize_dim(dim, tensor.dim(), d));
    }
    bool fits = tensor.dim() == first->dim();
    for (size_t k = 0; fits && k < static_cast<size_t>(first->dim()); ++k) {
      fits = k == *d || tensor.sizes()[k] == first->sizes()[k];
    }
    RL_CHECK(fits, Error::InvalidArgument, "tensors: the shape of number %lu differs outside dimension %lu",
             static_cast<unsigned long>(i), static_cast<unsigned long>(*d));
    total += tensor.sizes()[*d];
  }
  RL_CHECK(total <= INT32_MAX, Error::InvalidArgument, "tensors: the result is too large");
  if (first == nullptr) {
    shape->push(0);
    return Error::Ok;
  }
  for (size_t k = 0; k < static_cast<size_t>(first->dim()); ++k) {
    shape->push(k == *d ? static_cast<ptrdiff_t>(total) : first->sizes()[k]);
  }
  return Error::Ok;
}

}  // namespace

Error cat_out(KernelContext&, Span<const Tensor> tensors, int64_t dim, Tensor& out) {
  RL_CHECK(!tensors.empty(), Error::InvalidArgument, "tensors: expected at least one");
  Promotion promotion;
  for (const Tensor& tensor : tensors) {
    // Resizing out would change what was checked.
    RL_CHECK(!(tensor == out), Error::InvalidArgument, "out: is one of the tensors");
    promotion.with(tensor);
  }
  RL_TRY(check_can_cast(promotion.type(), out));
  Shape shape;
  size_t d = 0;
  RL_TRY(concatenated_shape(tensors, dim, &d, &shape));
  RL_TRY(resize_out(out, shape.span()));
  ptrdiff_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (is_placeholder(tensor)) continue;
    const ptrdiff_t length = tensor.sizes()[d];
    RL_TRY(copy_view(View::of(out).slice(d, start, length), View::of(tensor)));
    start += length;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
