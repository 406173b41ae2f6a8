// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quantization/cortex_m_convolution.h"

#include "runtime/base/checked.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Permutations of the dimensions: entry d is the dimension that becomes dimension d of the view. Views only
// exchange sizes and strides, so images and weights are not copied.
constexpr uint8_t kInOrder[] = {0, 1, 2, 3};
constexpr uint8_t kChannelsLast[] = {0, 3, 1, 2};  // N, C, H, W of [N, H, W, C]
// [O, 1, KH, KW] of a depthwise [1, KH, KW, O]; [I, O, KH, KW] of a transposed [O, KH, KW, I].
constexpr uint8_t kOutputsLast[] = {3, 0, 1, 2};

const uint8_t* weight_dims(CortexMKind kind) {
  return kind == CortexMKind::kPlain ? kChannelsLast : kOutputsLast;
}

}  // namespace

const uint8_t* image_dims(bool nhwc) { return nhwc ? kChannelsLast : kInOrder; }

Error check_cortex_m_ranks(const CortexMConvolution& call) {
  RL_CHECK(call.input.dim() == 4 && call.weight.dim() == 4, Error::InvalidArgument,
           "input and weight: expected rank 4, got %d and %d", static_cast<int>(call.input.dim()),
           static_cast<int>(call.weight.dim()));
  return Error::Ok;
}

Shape cortex_m_shape(const CortexMConvolution& call, const Shape& shape) {
  if (!call.nhwc) return shape;
  Shape moved;
  for (const size_t d : {0, 2, 3, 1}) moved.push(shape.sizes[d]);
  return moved;
}

CortexMViews::CortexMViews(const CortexMConvolution& call)
    : input_(call.input, image_dims(call.nhwc)), weight_(call.weight, weight_dims(call.kind)) {}

Error CortexMViews::plan(const CortexMConvolution& call, const Tensor& out, ConvolutionArguments* arguments,
                         Shape* shape) const {
  const ScalarType type = call.input.scalar_type();
  if (!contains(call.types & type_set(ScalarType::Char), type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(call.input, out, "input and out"));
  RL_TRY(check_same_dtype(call.input, call.weight, "input and weight"));
  const int64_t channels = input().size(1);
  // A weight has no explicit number of groups. Depthwise: as many as input channels. Plain: the input's
  // channels by the channels that an output sees. Transposed: one.
  arguments->groups = 1;
  if (call.kind == CortexMKind::kDepthwise) {
    const int64_t outputs = call.weight.size(3);
    int64_t expected = 0;
    RL_CHECK(
        checked_mul(channels, call.depth_multiplier, &expected) && outputs == expected,
        Error::InvalidArgument, "weight: expected depth_multiplier, %ld, times %ld output channels, got %ld",
        static_cast<long>(call.depth_multiplier), static_cast<long>(channels), static_cast<long>(outputs));
    arguments->groups = channels;
  }
  if (call.kind == CortexMKind::kPlain) {
    const int64_t seen = call.weight.size(3);
    RL_CHECK(seen > 0 && channels % seen == 0, Error::InvalidArgument,
             "weight: [..., %ld] does not fit an input of %ld channels", static_cast<long>(seen),
             static_cast<long>(channels));
    arguments->groups = channels / seen;
  }
  return convolution_sizes(input(), weight(), *arguments, shape);
}

}  // namespace rushlight::kernels
