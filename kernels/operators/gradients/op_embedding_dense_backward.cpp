// SPDX-License-Identifier: BSD-3-Clause
// Gradient of an embedding: adds each row of grad_output to the row of `out` that its index selects, in the
// order of the indices. No scratch; scale_grad_by_freq therefore counts an index anew at each use, which
// takes time quadratic in the number of indices. Sums are in the dtype of `out`: 16-bit floats are rounded
// after each addition.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/row_major.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The number of elements equal to `index`.
int64_t count_of(const Tensor& indices, int64_t index) {
  int64_t count = 0;
  RowMajorCursor cursor(indices);
  for (size_t left = indices.numel(); left > 0; --left, cursor.advance()) {
    if (read_index(cursor.get(), indices.scalar_type()) == index) ++count;
  }
  return count;
}

// Adds a row of gradients, divided by `frequency`, to a row of the output; both have dtype `type`.
void add_row(char* target, ptrdiff_t target_step, const char* source, ptrdiff_t source_step, ptrdiff_t n,
             ScalarType type, int64_t frequency) {
  for (; n > 0; --n, target += target_step, source += source_step) {
    if (is_integer_like(type)) {
      store_integer(target, type,
                    wrapping_add(load_integer(target, type), load_integer(source, type) / frequency));
    } else {
      store_number(target, type,
                   load_number(target, type) + load_number(source, type) / static_cast<double>(frequency));
    }
  }
}

}  // namespace

// grad_output is [indices..., size], out [num_weights, size]. An index equal to padding_idx is skipped before
// its range is checked, so the default of -1 also skips indices of -1.
Error embedding_dense_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& indices,
                                   int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq,
                                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::embedding_dense_backward.out");
  const ScalarType type = grad_output.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(grad_output, out, "grad_output and out"));
  RL_TRY(check_index_dtype(indices));
  const auto rank = static_cast<size_t>(indices.dim());
  bool fits = grad_output.sizes().size() == rank + 1;
  for (size_t d = 0; fits && d < rank; ++d) fits = grad_output.sizes()[d] == indices.sizes()[d];
  RL_CHECK(fits, Error::InvalidArgument, "grad_output: expected the shape of indices and one dimension more");
  RL_CHECK(num_weights >= 0 && num_weights <= INT32_MAX, Error::InvalidArgument,
           "num_weights: expected 0 at least, got %lld", static_cast<long long>(num_weights));
  Shape shape;
  shape.push(static_cast<ptrdiff_t>(num_weights));
  shape.push(grad_output.sizes()[rank]);
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(fill(out, 0));
  // One cursor over the first elements of the rows, in step with the cursor over the indices.
  View rows = View::of(grad_output);
  const ptrdiff_t row_step = rows.strides[rank];
  const ptrdiff_t size = rows.sizes[rank];
  rows.select(rank, 0);
  RowMajorCursor at(indices);
  RowMajorCursor source(rows);
  for (size_t left = indices.numel(); left > 0; --left, at.advance(), source.advance()) {
    // Each index is read once and checked here; a count reads the others.
    const int64_t index = read_index(at.get(), indices.scalar_type());
    if (index == padding_idx) continue;
    RL_TRY(check_index(index, out.sizes()[0]));
    const int64_t frequency = scale_grad_by_freq ? count_of(indices, index) : 1;
    // 0 if the index changed in memory after it was read.
    add_row(out.mutable_data_ptr<char>() + static_cast<ptrdiff_t>(index) * byte_stride(out, 0),
            byte_stride(out, 1), source.get(), row_step, size, type, frequency > 0 ? frequency : 1);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
