// SPDX-License-Identifier: BSD-3-Clause
// Concatenation: one strided copy for each tensor into its slice of `out`, with conversion to the promoted
// dtype.
#include "kernels/elements/promotion.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// True if the tensors agree in rank and in every size but that of dimension `d`.
bool is_joinable(const Tensor& tensor, const Tensor& first, size_t d) {
  bool fits = tensor.dim() == first.dim();
  for (size_t k = 0; fits && k < static_cast<size_t>(first.dim()); ++k) {
    fits = k == d || tensor.sizes()[k] == first.sizes()[k];
  }
  return fits;
}

// The tensor that determines the other sizes: the first with elements, else the first of rank 2 or more, else
// the first.
const Tensor& leading(Span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() > 0) return tensor;
  }
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() > 1) return tensor;
  }
  return tensors[0];
}

// The shape of the leading tensor, with the sizes along `d` summed. Tensors without elements may have any
// shape: older programs use them as a placeholder.
Error concatenated_shape(Span<const Tensor> tensors, const Tensor& first, size_t d, Shape* shape) {
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    RL_CHECK(tensor.dim() > 0, Error::InvalidArgument, "tensors: number %lu has no dimension",
             static_cast<unsigned long>(i));
    const bool fits = is_joinable(tensor, first, d);
    RL_CHECK(fits || tensor.numel() == 0, Error::InvalidArgument,
             "tensors[%lu]: expected equal sizes outside dimension %lu", static_cast<unsigned long>(i),
             static_cast<unsigned long>(d));
    if (fits) total += tensor.sizes()[d];
  }
  RL_CHECK(total <= INT32_MAX, Error::InvalidArgument, "tensors: the result is too large");
  for (size_t k = 0; k < static_cast<size_t>(first.dim()); ++k) {
    shape->push(k == d ? static_cast<ptrdiff_t>(total) : first.sizes()[k]);
  }
  return Error::Ok;
}

}  // namespace

// All tensors promote to one dtype, which must be storable in `out`. Negative dimensions count from the end
// of the leading tensor's rank.
Error cat_out(KernelContext&, Span<const Tensor> tensors, int64_t dim, Tensor& out) {
  RL_CHECK(!tensors.empty(), Error::InvalidArgument, "tensors: expected at least one");
  Promotion promotion;
  for (const Tensor& tensor : tensors) {
    // Resizing `out` would invalidate the shapes checked above.
    RL_CHECK(!(tensor == out), Error::InvalidArgument, "out: is one of the tensors");
    promotion.with(tensor);
  }
  RL_TRY(check_can_cast(promotion.type(), out));
  const Tensor& first = leading(tensors);
  Shape shape;
  size_t d = 0;
  RL_TRY(normalize_dim(dim, first.dim(), &d));
  RL_TRY(concatenated_shape(tensors, first, d, &shape));
  RL_TRY(resize_out(out, shape.span()));
  ptrdiff_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    const ptrdiff_t length = tensor.sizes()[d];
    RL_TRY(copy_view(View::of(out).slice(d, start, length), View::of(tensor)));
    start += length;
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
