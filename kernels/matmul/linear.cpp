// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/matmul/linear.h"

#include "kernels/walk/view.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// A bias with one element serves all features.
Error linear_shape(const LinearProblem& problem, TypeSet types, Shape* shape) {
  const Tensor& input = problem.input;
  const Tensor& weight = problem.weight;
  const std::optional<Tensor>& bias = problem.bias;
  if (!problem.is_in(types)) return unsupported_type(problem.type());
  RL_TRY(check_same_dtype(input, weight, "input and weight"));
  RL_TRY(check_same_dtype(input, problem.out, "input and out"));
  RL_CHECK(input.dim() >= 1 && (weight.dim() == 1 || weight.dim() == 2), Error::InvalidArgument,
           "weight: expected rank 1 or 2 and an input with dimensions, got rank %d and %d",
           static_cast<int>(weight.dim()), static_cast<int>(input.dim()));
  const SizesType depth = input.sizes()[input.sizes().size() - 1];
  const SizesType weight_depth = weight.sizes()[weight.sizes().size() - 1];
  RL_CHECK(depth == weight_depth, Error::InvalidArgument, "weight: expected %ld input features, got %ld",
           static_cast<long>(depth), static_cast<long>(weight_depth));
  for (size_t d = 0; d + 1 < input.sizes().size(); ++d) shape->push(input.sizes()[d]);
  if (weight.dim() == 2) shape->push(weight.sizes()[0]);
  if (!bias) return Error::Ok;
  RL_TRY(check_same_dtype(input, *bias, "input and bias"));
  RL_CHECK(weight.dim() == 2 && bias->dim() <= 1 &&
               (bias->numel() == 1 || bias->numel() == static_cast<size_t>(weight.size(0))),
           Error::InvalidArgument, "bias: expected one element for each output feature");
  return Error::Ok;
}

// out [rows, features] = input [rows, depth] * weight^T, one product for each span of rows with constant
// strides.
Error multiply_linear(const LinearProblem& problem, Error (*by)(const Product& product)) {
  const Tensor& input = problem.input;
  const Tensor& weight = problem.weight;
  const std::optional<Tensor>& bias = problem.bias;
  const size_t features = static_cast<size_t>(weight.dim() == 2 ? weight.size(0) : 1);
  const size_t last = input.sizes().size() - 1;
  View source = View::of(input);

  // Views have strides in bytes, matrices in elements.
  const auto element = static_cast<ptrdiff_t>(input.element_size());
  Product product;
  product.type = input.scalar_type();
  product.columns = features;
  product.depth = static_cast<size_t>(source.sizes[last]);
  product.a.column_stride = source.strides[last] / element;
  // The weight is the transposed right factor.
  product.b = {weight.mutable_data_ptr(), weight.strides()[weight.sizes().size() - 1],
               weight.dim() == 2 ? weight.strides()[0] : 0};
  if (bias) product.bias = {bias->mutable_data_ptr(), 0, bias->numel() == 1 ? 0 : 1};
  View target = View::of(problem.out);
  // The result of a weight of rank 1 has no dimension of features.
  if (weight.dim() == 2) {
    product.out.column_stride = target.strides[last] / element;
    target.select(last, 0);
  }
  // Leading dimensions form rows; the layouts decide how many products that takes.
  Error error = Error::Ok;
  PairedLoops(target, source.select(last, 0))
      .for_each_span([&](char* to, const char* from, const auto& loop) {
        product.rows = static_cast<size_t>(loop.size);
        product.a.data = const_cast<char*>(from);
        product.a.row_stride = loop.source / element;
        product.out.data = to;
        product.out.row_stride = loop.target / element;
        if (error == Error::Ok) error = by(product);
      });
  return error;
}

}  // namespace rushlight::kernels
