// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/reduce.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

// Negative dimensions count from the end.
Error dim_mask(const DimList& dims, ptrdiff_t rank, uint32_t* mask) {
  *mask = 0;
  if (!dims.has_value()) {
    // The rank is at most kTensorDimensionLimit, below 32.
    *mask = (uint32_t{1} << rank) - 1;
    return Error::Ok;
  }
  for (const int64_t dim : *dims) {
    size_t d = 0;
    RL_TRY(normalize_dim(dim, rank, &d));
    const uint32_t bit = uint32_t{1} << d;
    RL_CHECK((*mask & bit) == 0, Error::InvalidArgument, "dim: expected each dimension once, got %lu twice",
             static_cast<unsigned long>(d));
    *mask |= bit;
  }
  return Error::Ok;
}

// Dimensions that are contiguous and on the same side, kept or reduced, merge: a row-major [2, 3, 4] that is
// reduced over its last two dimensions has one kept axis of 2 and one reduced axis of 12.
Error Reduction::plan(const Tensor& self, const DimList& dims, bool keepdim, const Tensor& out) {
  uint32_t mask = 0;
  RL_TRY(dim_mask(dims, self.dim(), &mask));
  const auto rank = static_cast<size_t>(self.dim());
  Shape shape;
  size_t out_dims[kTensorDimensionLimit] = {};
  for (size_t d = 0; d < rank; ++d) {
    const bool reduced = (mask >> d & 1u) != 0;
    // The dimension of `out` that input dimension d becomes, if it is kept.
    out_dims[d] = shape.dim;
    if (!reduced) shape.push(self.sizes()[d]);
    if (reduced && keepdim) shape.push(1);
  }
  RL_TRY(resize_out(out, shape.span()));

  // Innermost dimension first, as PairedAxes merges them; the two lists together have every dimension once.
  for (size_t i = rank; i-- > 0;) {
    const size_t d = self.dim_order()[i];
    const auto size = static_cast<size_t>(self.sizes()[d]);
    if ((mask >> d & 1u) != 0) {
      reduced_.add({size, byte_stride(self, d), 0});
    } else {
      kept_.add({size, byte_stride(self, d), byte_stride(out, out_dims[d])});
    }
  }
  input_ = self.const_data_ptr<char>();
  output_ = out.mutable_data_ptr<char>();
  type_ = self.scalar_type();
  return Error::Ok;
}

Reduction Reduction::of_parts(size_t which, ScalarType out) const {
  Reduction parts = *this;
  parts.type_ = component_type(type_);
  // Real and imaginary part are stored side by side; strides still step over whole complex elements.
  if (which == 1 && is_complex(type_)) parts.input_ += element_size(parts.type_);
  if (which == 1 && is_complex(out)) parts.output_ += element_size(component_type(out));
  return parts;
}

}  // namespace rushlight::kernels
