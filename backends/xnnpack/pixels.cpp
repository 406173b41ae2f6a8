// SPDX-License-Identifier: BSD-3-Clause
// Lowers nodes on images: pooling, means over pixels, resizing. Most operators take channels-last tensors, so
// no transpose is needed.
#include <utility>

#include "backends/xnnpack/node_lowering.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

namespace one = schema::xnn::_xnnnode1x1_table;
namespace pool = schema::xnn::_xnnpooling2d_table;

}  // namespace

Error NodeLowering::lower_average_pool() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(pool::kInputId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t out, id_at(pool::kOutputId, kPixelRank));
  const bool is_even = size_at(pool::kPaddingTop) == size_at(pool::kPaddingBottom) &&
                       size_at(pool::kPaddingLeft) == size_at(pool::kPaddingRight);
  RL_CHECK(is_even && !is_byte(value(in).datatype), Error::NotSupported,
           "expected a tensor of floats with the same padding on both sides");
  RL_TRY_ASSIGN(const ValueId from, forms_.pixels(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_pixels(out));
  // ceil_mode and count_include_pad are false: XNNPACK averages over the pixels inside of the image.
  list_.call("aten::avg_pool2d", "out",
             {from, list_.integers({size_at(pool::kPoolingHeight), size_at(pool::kPoolingWidth)}),
              list_.integers({size_at(pool::kStrideHeight), size_at(pool::kStrideWidth)}),
              list_.integers({size_at(pool::kPaddingTop), size_at(pool::kPaddingLeft)}), list_.boolean(false),
              list_.boolean(false), list_.none(), to});
  return clamp_result(out, to);
}

// The exporter expresses a pool with ceil_mode as one with more padding at the end. Padding is never the
// maximum, so ceil_mode gives the same result; kernels refuse other output sizes.
Error NodeLowering::lower_max_pool() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(pool::kInputId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t out, id_at(pool::kOutputId, kPixelRank));
  const bool rounds_up = size_at(pool::kPaddingBottom) > size_at(pool::kPaddingTop) ||
                         size_at(pool::kPaddingRight) > size_at(pool::kPaddingLeft);
  const bool is_even = size_at(pool::kPaddingBottom) == size_at(pool::kPaddingTop) &&
                       size_at(pool::kPaddingRight) == size_at(pool::kPaddingLeft);
  RL_CHECK(is_even || rounds_up, Error::NotSupported, "expected no more padding before than after");
  RL_TRY_ASSIGN(const ValueId from, forms_.pixels(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_pixels(out));
  list_.call("rushlight::max_pool2d", "out",
             {from, list_.integers({size_at(pool::kPoolingHeight), size_at(pool::kPoolingWidth)}),
              list_.integers({size_at(pool::kStrideHeight), size_at(pool::kStrideWidth)}),
              list_.integers({size_at(pool::kPaddingTop), size_at(pool::kPaddingLeft)}),
              list_.integers({size_at(pool::kDilationHeight), size_at(pool::kDilationWidth)}),
              list_.boolean(rounds_up), to});
  return clamp_result(out, to);
}

// The exporter lowers max(dim) with indices over all rows or all columns to this node.
Error NodeLowering::lower_argmax_pool() {
  namespace slot = schema::xnn::xnnarg_max_pooling2d_table;
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t largest, id_at(slot::kOutputValueId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t positions, id_at(slot::kOutputIndexId, kPixelRank));
  const std::vector<int32_t>& dims = value(in).dims;
  const bool of_rows = size_at(slot::kPoolingHeight) == dims[1] && size_at(slot::kPoolingWidth) == 1;
  const bool of_columns = size_at(slot::kPoolingWidth) == dims[2] && size_at(slot::kPoolingHeight) == 1;
  RL_CHECK(of_rows || of_columns, Error::NotSupported, "expected a window over all rows or all columns");
  // Plain form: the reduced dimension is 1 (rows) or 2 (columns).
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(largest));
  // Replaces the payload's type: aten::max writes indices as int64.
  forms_.set_dtype(positions, ScalarType::Long);
  RL_TRY_ASSIGN(const ValueId indices, forms_.new_plain(positions));
  list_.call("aten::max", "dim_max",
             {from, list_.integer(of_rows ? 1 : 2), list_.boolean(true), to, indices});
  return Error::Ok;
}

Error NodeLowering::lower_global_average() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(one::kInputId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t out, id_at(one::kOutputId));
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  // The payload may drop the two reduced dimensions.
  const bool keeps = value(out).rank() == kPixelRank;
  const ValueId dims = list_.integers({1, 2}), keep = list_.boolean(keeps);
  if (!is_byte(value(in).datatype)) {
    list_.call("aten::mean", "out", {from, dims, keep, list_.none(), to});
    return clamp_result(out, to);
  }
  RL_CHECK(value(in).datatype == value(out).datatype, Error::NotSupported, "expected one datatype");
  int64_t least = 0, most = 0;
  quantized_bounds(value(out), &least, &most);
  const std::vector<float> scale = {value(in).scale / value(out).scale};
  // With equal quantization of input and output, sums use the stored integers without zero point, so that
  // halves round to an even stored integer.
  const bool is_same = scale[0] == 1 && value(in).zero_point == value(out).zero_point;
  const ValueId in_zero = list_.integer(is_same ? 0 : value(in).zero_point);
  const ValueId out_zero = list_.integer(is_same ? 0 : value(out).zero_point);
  list_.call("rushlight::quantized_mean", "out",
             {from, in_zero, dims, keep, list_.scalars(scale), list_.none(), list_.text("float"), out_zero,
              list_.integer(least), list_.integer(most), to});
  return Error::Ok;
}

Error NodeLowering::lower_resize() {
  namespace slot = schema::xnn::xnnstatic_resize_bilinear2d_table;
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId, kPixelRank));
  RL_CHECK(!is_byte(value(in).datatype), Error::NotSupported, "expected a tensor of floats");
  const bool aligns = (fields_.scalar<uint32_t>(slot::kFlags) & kAlignCorners) != 0;
  RL_TRY_ASSIGN(const ValueId from, forms_.pixels(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_pixels(out));
  // vec_out takes the output size; scales follow from it.
  list_.call("aten::upsample_bilinear2d", "vec_out",
             {from, list_.integers({size_at(slot::kNewHeight), size_at(slot::kNewWidth)}),
              list_.boolean(aligns), list_.none(), to});
  return Error::Ok;
}

}  // namespace rushlight::xnnpack
