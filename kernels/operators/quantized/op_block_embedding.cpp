// SPDX-License-Identifier: BSD-3-Clause
// Token embeddings: unpacks rows of a block weight to float32. The table may be the weight of the last linear
// layer, so that the model stores it once: a row is then one feature of a panel, whose elements are
// interleaved with other features, and each is extracted alone.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/checks/sizes.h"
#include "kernels/index/index.h"
#include "kernels/quantization/block_weight.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::block_embedding.out");

// value = (number - zero) * scale, or number * scale + minimum, with scale and minimum of the element's
// group. `row` is below the number of features.
void unpack_row(const BlockWeight& weight, size_t row, float* out) {
  const ukernel::BlockForm& form = weight.form;
  if (weight.is_half) {
    for (size_t k = 0; k < form.depth; ++k) out[k] = weight.half(row, k);
    return;
  }
  const ukernel::BlockPanel panel = weight.panel(row / ukernel::kBlockFeatures);
  const size_t feature = row % ukernel::kBlockFeatures;
  for (size_t group = 0, k = 0; group < form.groups(); ++group) {
    const float scale = weight.real(panel.scales(group), feature);
    const float minimum = form.has_minimum ? weight.real(panel.minimums(group), feature) : 0.0F;
    const int32_t zero = form.has_minimum ? 0 : form.zero();
    for (const size_t end = std::min(k + form.group, form.depth); k < end; ++k) {
      const float scaled = scale * static_cast<float>(panel.number(feature, k) - zero);
      out[k] = form.has_minimum ? scaled + minimum : scaled;
    }
  }
}

}  // namespace

// Weight as in block_linear(), indices of any shape, out [indices..., depth]. Each index is read once,
// checked and used.
Error block_embedding_out(KernelContext&, const Tensor& weight, const Tensor& indices, int64_t features,
                          int64_t depth, int64_t bits, int64_t group, int64_t scales, bool has_minimum,
                          Tensor& out) {
  BlockWeight made;
  RL_TRY(make_block_weight(weight, {features, depth, bits, group, scales, has_minimum}, &made));
  RL_TRY(check_index_dtype(indices));
  const auto rank = static_cast<size_t>(indices.dim());
  RL_CHECK(rank < kTensorDimensionLimit, Error::InvalidArgument,
           "indices: expected fewer than %lu dimensions, got %lu", log_number(kTensorDimensionLimit),
           log_number(rank));
  RL_CHECK(contains(kTypes & type_set(ScalarType::Float), out.scalar_type()), Error::InvalidType,
           "out: expected dtype float32, got %s", to_string(out.scalar_type()));
  Shape shape = Shape::of(indices, 0);
  shape.push(static_cast<ptrdiff_t>(made.form.depth));
  RL_TRY(resize_out(out, shape.span()));
  RL_CHECK(is_row_major(out.dim_order(), out.sizes()) && is_row_major(indices.dim_order(), indices.sizes()),
           Error::InvalidArgument, "indices, out: expected row-major order");
  const char* at = indices.const_data_ptr<char>();
  float* row = out.mutable_data_ptr<float>();
  for (size_t i = 0; i < indices.numel(); ++i, at += indices.element_size(), row += made.form.depth) {
    const int64_t index = read_index(at, indices.scalar_type());
    RL_TRY(check_index(index, features));
    unpack_row(made, static_cast<size_t>(index), row);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
