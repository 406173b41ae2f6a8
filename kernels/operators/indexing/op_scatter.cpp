// SPDX-License-Identifier: BSD-3-Clause
// scatter: writes src, or one value, to out[..., index, ...] along a dimension, or combines it with the
// element at that index. If an index repeats, the last write remains. Each index is read once and checked
// where it is used; an error leaves `out` partly written.
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/index/combine.h"
#include "kernels/index/scatter.h"
#include "kernels/walk/expand.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kReduced =
    selected_types("aten::scatter.reduce_out") | selected_types("aten::scatter.value_reduce_out");

// Parses the reductions of scatter, add and multiply; scatter_reduce has other names.
Error read_reduce(std::string_view word, ScalarType type, Combine* how) {
  if (!contains(kReduced, type)) return unsupported_type(type);
  RL_CHECK(word == "add" || word == "multiply", Error::InvalidArgument,
           "reduce: expected add or multiply, got %.*s", static_cast<int>(word.size()), word.data());
  *how = word == "add" ? Combine::kSum : Combine::kProduct;
  return Error::Ok;
}

}  // namespace

Error scatter_src_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      Tensor& out) {
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, &src, out));
  // An empty index may have any shape and leaves the copy of `self`.
  if (index.numel() == 0) return Error::Ok;
  return copy_indexed(scatter.index, scatter.dim, scatter.target, scatter.source, IndexedCopy::kWrite);
}

Error scatter_value_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                        const Scalar& value, Tensor& out) {
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  const ScalarTensor number(value, self.scalar_type());
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, nullptr, out));
  if (index.numel() == 0) return Error::Ok;
  // One number as a source with strides of 0.
  scatter.source = expand_to(View::of(number), {scatter.index.sizes, scatter.index.dim});
  return copy_indexed(scatter.index, scatter.dim, scatter.target, scatter.source, IndexedCopy::kWrite);
}

Error scatter_reduce_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce, Tensor& out) {
  Combine how;
  RL_TRY(read_reduce(reduce, self.scalar_type(), &how));
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, &src, out));
  if (index.numel() == 0) return Error::Ok;
  return combine_indexed(context, {scatter.index, scatter.target, scatter.source, scatter.dim, how, true});
}

Error scatter_value_reduce_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar& value, std::string_view reduce, Tensor& out) {
  Combine how;
  RL_TRY(read_reduce(reduce, self.scalar_type(), &how));
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  const ScalarTensor number(value, self.scalar_type());
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, nullptr, out));
  if (index.numel() == 0) return Error::Ok;
  const View source = expand_to(View::of(number), {scatter.index.sizes, scatter.index.dim});
  return combine_indexed(context, {scatter.index, scatter.target, source, scatter.dim, how, true});
}

}  // namespace rushlight::kernels
