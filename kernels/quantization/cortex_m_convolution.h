// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of ExecuTorch's Cortex-M backend, as problems of the integer backs. Their weights have the
// layout of CMSIS-NN on every instruction set: [O, KH, KW, I] (the order in which an output sees its input),
// depthwise [1, KH, KW, O], transposed [O, KH, KW, I]. Images are channels-last tensors, or have the sizes
// [N, H, W, C].
#pragma once

#include "kernels/checks/checks.h"
#include "kernels/quantization/folded_columns.h"
#include "kernels/quantization/integer_convolution.h"
#include "kernels/walk/permuted_tensor.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The operators; they differ in the layout of weights and in groups.
enum class CortexMKind : uint8_t { kPlain, kDepthwise, kTransposed };

// The operator's arguments. The program's scratch tensors are for CMSIS-NN; nothing here reads or writes
// them.
struct CortexMConvolution {
  CortexMKind kind;
  bool nhwc;      // input and `out` have the sizes [N, H, W, C]
  TypeSet types;  // of the operator in this build
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  ConvolutionArguments arguments;  // without groups
  int64_t depth_multiplier;        // kDepthwise only
  int64_t input_offset;
  const Tensor& multipliers;
  const Tensor& shifts;
  QuantizedRange range;
};

// Input and weight viewed as [N, C, H, W] and [O, I, KH, KW], as a convolution expects them; the weight of a
// transposed one as [I, O, KH, KW].
class CortexMViews {
 public:
  explicit CortexMViews(const CortexMConvolution& call);

  // Checks dtypes and sizes, sets the groups, and writes the shape [N, C, H, W] of the result.
  // InvalidArgument, InvalidType.
  Error plan(const CortexMConvolution& call, const Tensor& out, ConvolutionArguments* arguments,
             Shape* shape) const;

  [[nodiscard]] const Tensor& input() const { return input_.get(); }
  [[nodiscard]] const Tensor& weight() const { return weight_.get(); }

 private:
  PermutedTensor input_;
  PermutedTensor weight_;
};

// InvalidArgument unless both tensors have rank 4, which the views require.
Error check_cortex_m_ranks(const CortexMConvolution& call);
// The sizes of `out` for the shape [N, C, H, W].
[[nodiscard]] Shape cortex_m_shape(const CortexMConvolution& call, const Shape& shape);
// The permutation from the image's dimensions to [N, C, H, W].
[[nodiscard]] const uint8_t* image_dims(bool nhwc);

// Checks and computes the call; ask(convolution) calls the back. The input is read as stored; its offset is
// folded into the bias, see folded_columns.h. Errors: InvalidArgument, InvalidType, MemoryAllocationFailed,
// and the errors of `ask`.
template <class Ask>
Error convolve_cortex_m(KernelContext& context, const CortexMConvolution& call, const Tensor& out, Ask ask) {
  RL_TRY(check_cortex_m_ranks(call));
  const CortexMViews views(call);
  ConvolutionArguments arguments = call.arguments;
  Shape shape;
  RL_TRY(views.plan(call, out, &arguments, &shape));
  RL_TRY(resize_out(out, cortex_m_shape(call, shape).span()));
  int32_t zero_point = 0;
  RL_TRY(read_offset(call.input_offset, "input_offset", &zero_point));
  const auto columns = static_cast<size_t>(shape.sizes[1]);
  // Biases with the input's offset folded in, and scales, for each output channel.
  FoldedColumns folded;
  RL_TRY(folded.take(context, columns, columns));
  const size_t column = call.kind == CortexMKind::kTransposed ? 1 : 0;
  RL_TRY(folded.fold(views.weight(), column, call.bias, -zero_point, 0));
  RL_TRY(folded.set_scales(call.multipliers, call.shifts));
  // The back writes through a permuted view of `out`.
  const PermutedTensor result(out, image_dims(call.nhwc));
  ukernel::Requantization to;
  const IntegerConvolution convolution{
      views.input(), views.weight(), folded.bias(), arguments, result.get(), zero_point, to};
  RL_TRY(folded.prove(folded.bias()->const_data_ptr<int32_t>(), columns, products_of_sum(convolution),
                      kLargestProduct, call.range, &to));
  return ask(convolution);
}

// Prepares the call; ask(convolution) prepares the back, with neither bias nor requantization. Requests the
// scratch memory of the folded columns. Invalid arguments are left to the call.
template <class Ask>
Error prepare_cortex_m(KernelContext& context, const CortexMConvolution& call, const Tensor& out, Ask ask) {
  if (check_cortex_m_ranks(call) != Error::Ok || out.dim() != 4) return Error::Ok;  // the call reports it
  const CortexMViews views(call);
  ConvolutionArguments arguments = call.arguments;
  Shape shape;
  if (views.plan(call, out, &arguments, &shape) != Error::Ok) return Error::Ok;
  const auto columns = static_cast<size_t>(shape.sizes[1]);
  context.need_besides(FoldedColumns::bytes(columns, columns));
  // With another shape of `out` the back has nothing to prepare yet; the scratch memory is requested all the
  // same.
  if (!has_sizes(out, cortex_m_shape(call, shape).span())) return Error::Ok;
  const PermutedTensor result(out, image_dims(call.nhwc));
  const ukernel::Requantization none;
  const std::optional<Tensor> no_bias;
  return ask(IntegerConvolution{views.input(), views.weight(), no_bias, arguments, result.get(), 0, none});
}

}  // namespace rushlight::kernels
