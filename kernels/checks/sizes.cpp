// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"

#include "runtime/base/checked.h"

namespace rushlight::kernels {

namespace {

Error check_rank(size_t rank) {
  RL_CHECK(rank <= kTensorDimensionLimit, Error::InvalidArgument, "size: at most %d dimensions, got %lu",
           static_cast<int>(kTensorDimensionLimit), static_cast<unsigned long>(rank));
  return Error::Ok;
}

// True for the orders 0, 1, 2, ... (row-major) and 0, 2, 3, ..., 1 (channels-last).
bool has_name(Span<const DimOrderType> order) {
  const size_t rank = order.size();
  // `last`: the channels are innermost, so all dimensions from the second position on are one higher.
  const bool last = rank > 2 && order[rank - 1] == 1;
  for (size_t i = 0; i + (last ? 1 : 0) < rank; ++i) {
    if (order[i] != i + (last && i > 0 ? 1 : 0)) return false;
  }
  return true;
}

bool is_order_of(Span<const DimOrderType> order, const Tensor& out) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != out.dim_order()[i]) return false;
  }
  return true;
}

// Compares strides: orders that differ only in dimensions of size 1 describe the same layout. Walks from the
// innermost dimension outwards and multiplies the sizes: the stride that the order would have.
bool same_layout(Span<const DimOrderType> order, const Tensor& out) {
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    if (out.sizes()[d] == 1) continue;
    if (out.sizes()[d] != 0 && out.strides()[d] != stride) return false;
    if (out.sizes()[d] > 1) stride *= out.sizes()[d];
  }
  return true;
}

Error check_layout(Span<const DimOrderType> order, const Tensor& out) {
  RL_CHECK(out.numel() == 0 || same_layout(order, out), Error::InvalidArgument,
           "out: expected the requested dim order");
  return Error::Ok;
}

}  // namespace

// Sizes are int32 in tensors, so larger ones are refused here, before any product.
Error read_sizes(Span<const int64_t> sizes, Shape* shape) {
  RL_TRY(check_rank(sizes.size()));
  for (const int64_t size : sizes) {
    RL_CHECK(size >= 0 && size <= INT32_MAX, Error::InvalidArgument,
             "size: expected sizes from 0 to %ld, got %ld", static_cast<long>(INT32_MAX),
             static_cast<long>(size));
    shape->push(static_cast<ptrdiff_t>(size));
  }
  return Error::Ok;
}

// PyTorch's rule for view and reshape: one size may be -1 and follows from the number of elements. With a
// product of 0 it would be ambiguous.
Error infer_sizes(Span<const int64_t> sizes, size_t numel, Shape* shape) {
  RL_TRY(check_rank(sizes.size()));
  // The product of all sizes but the inferred one, which has to divide the number of elements.
  size_t product = 1;
  size_t inferred = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      RL_CHECK(inferred == sizes.size(), Error::InvalidArgument, "size: only one can be -1");
      inferred = i;
      shape->push(1);
      continue;
    }
    RL_CHECK(sizes[i] >= 0 && sizes[i] <= INT32_MAX, Error::InvalidArgument,
             "size: expected sizes from 0 to %ld and one -1, got %ld", static_cast<long>(INT32_MAX),
             static_cast<long>(sizes[i]));
    RL_CHECK(checked_mul(product, static_cast<size_t>(sizes[i]), &product), Error::InvalidArgument,
             "size: the product is too large");
    shape->push(static_cast<ptrdiff_t>(sizes[i]));
  }
  if (inferred < sizes.size()) {
    RL_CHECK(product != 0 && numel % product == 0, Error::InvalidArgument,
             "size: expected a divisor of %lu elements, got a product of %lu",
             static_cast<unsigned long>(numel), static_cast<unsigned long>(product));
    shape->sizes[inferred] = static_cast<SizesType>(numel / product);
  } else {
    RL_CHECK(product == numel, Error::InvalidArgument, "size: expected %lu elements, got %lu",
             static_cast<unsigned long>(numel), static_cast<unsigned long>(product));
  }
  return Error::Ok;
}

// A bit for each dimension; the rank is at most 16.
Error read_dims(Span<const int64_t> dims, ptrdiff_t rank, uint32_t* mask) {
  *mask = 0;
  for (const int64_t dim : dims) {
    size_t d = 0;
    RL_TRY(normalize_dim(dim, rank, &d));
    RL_CHECK((*mask >> d & 1u) == 0, Error::InvalidArgument, "dim: %ld is repeated", static_cast<long>(dim));
    *mask |= 1u << d;
  }
  return Error::Ok;
}

bool is_row_major(Span<const DimOrderType> order, Span<const SizesType> sizes) {
  size_t last = 0;
  for (const DimOrderType d : order) {
    // A dimension of size 1 has no layout: its position in the order does not matter.
    if (sizes[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

// Permutations other than row-major and channels-last are accepted only if `out` has them already.
Error check_dim_order(const std::optional<Span<const int64_t>>& order, const Tensor& out) {
  if (!order) return Error::Ok;
  const auto rank = static_cast<size_t>(out.dim());
  RL_CHECK(order->size() == rank, Error::InvalidArgument, "dim_order: expected %lu dimensions, got %lu",
           static_cast<unsigned long>(rank), static_cast<unsigned long>(order->size()));
  uint32_t mask = 0;
  RL_TRY(read_dims(*order, out.dim(), &mask));
  DimOrderType dims[kTensorDimensionLimit] = {};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t d = (*order)[i];
    dims[i] = static_cast<DimOrderType>(d < 0 ? d + out.dim() : d);
  }
  const Span<const DimOrderType> asked(dims, rank);
  RL_CHECK(has_name(asked) || is_order_of(asked, out), Error::InvalidArgument,
           "dim_order: expected row-major, channels last or that of out");
  return check_layout(asked, out);
}

Error check_memory_format(std::optional<int64_t> format, const Tensor& out) {
  // The values of PyTorch's memory formats.
  constexpr int64_t kContiguous = 0;
  constexpr int64_t kPreserve = 1;
  if (!format || *format == kPreserve) return Error::Ok;
  const auto rank = static_cast<size_t>(out.dim());
  // Channels-last with 2 and 3 spatial dimensions is 2 and 3.
  RL_CHECK(
      *format == kContiguous || ((*format == 2 || *format == 3) && rank == static_cast<size_t>(*format) + 2),
      Error::InvalidArgument, "memory_format: %ld is invalid for rank %lu", static_cast<long>(*format),
      static_cast<unsigned long>(rank));
  DimOrderType dims[kTensorDimensionLimit] = {};
  for (size_t i = 0; i < kTensorDimensionLimit; ++i) dims[i] = static_cast<DimOrderType>(i);
  if (*format != kContiguous) {
    for (size_t i = 1; i + 1 < rank; ++i) dims[i] = static_cast<DimOrderType>(i + 1);
    dims[rank - 1] = 1;
  }
  return check_layout({dims, rank}, out);
}

Error resize_to(const Tensor& out, Span<const int64_t> sizes) {
  Shape shape;
  RL_TRY(read_sizes(sizes, &shape));
  return resize_out(out, shape.span());
}

// Resizes before it checks the layout: strides of a dynamic tensor change with its sizes.
Error resize_like(const Tensor& out, const Tensor& self, std::optional<int64_t> memory_format) {
  RL_TRY(resize_out(out, self.sizes()));
  return check_memory_format(memory_format, out);
}

Error check_blocking(bool non_blocking) {
  RL_CHECK(!non_blocking, Error::InvalidArgument, "non_blocking: expected false, got true");
  return Error::Ok;
}

}  // namespace rushlight::kernels
