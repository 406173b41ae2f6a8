// SPDX-License-Identifier: BSD-3-Clause
// Linear layers as matrix products with a constant, packed weight. Leading dimensions are merged into rows as
// far as the layouts allow; usually one product remains.
#include "kernels/backs/linear.h"

#include "kernels/host/activate.h"
#include "kernels/host/gemm.h"

namespace rushlight::kernels::host {

namespace {

Matrix vector_of(const Tensor& tensor) {
  return {tensor.mutable_data_ptr(), 0, tensor.numel() == 1 ? ptrdiff_t{0} : ptrdiff_t{1}};
}

// The leading dimensions of input, result and residual, merged into rows; one product for each position of
// the dimensions that cannot be merged.
class Rows {
 public:
  explicit Rows(const LinearActProblem& problem) : sizes_(problem.input.sizes()) {
    // Begins with the last leading dimension and merges outer ones while all tensors continue with one
    // stride.
    tensors_[0] = problem.input.strides();
    tensors_[1] = problem.out.strides();
    if (problem.residual) tensors_[count_++] = problem.residual->strides();
    last_ = sizes_.size() - 1;
    if (last_ == 0) return;
    --last_;
    rows_ = static_cast<size_t>(sizes_[last_]);
    for (size_t t = 0; t < count_; ++t) strides_[t] = tensors_[t][last_];
    while (last_ > 0 && continues()) rows_ *= static_cast<size_t>(sizes_[--last_]);
  }

  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] size_t products() const {
    size_t products = 1;
    for (size_t d = 0; d < last_; ++d) products *= static_cast<size_t>(sizes_[d]);
    return products;
  }
  [[nodiscard]] ptrdiff_t stride(size_t tensor) const { return strides_[tensor]; }
  // Offset of the product's first row, in elements.
  [[nodiscard]] ptrdiff_t begin(size_t tensor, size_t product) const {
    ptrdiff_t offset = 0;
    for (size_t d = last_; d-- > 0;) {
      const auto size = static_cast<size_t>(sizes_[d]);
      offset += static_cast<ptrdiff_t>(product % size) * tensors_[tensor][d];
      product /= size;
    }
    return offset;
  }

 private:
  // True if the next outer dimension continues the rows with the same stride in every tensor.
  [[nodiscard]] bool continues() const {
    for (size_t t = 0; t < count_; ++t) {
      if (tensors_[t][last_ - 1] != tensors_[t][last_] * static_cast<ptrdiff_t>(sizes_[last_])) return false;
    }
    return true;
  }

  Span<const SizesType> sizes_;
  Span<const StridesType> tensors_[3];
  size_t count_ = 2;
  size_t last_ = 0;  // outermost merged dimension
  size_t rows_ = 1;
  ptrdiff_t strides_[3] = {};
};

// The product, without data pointers.
Gemm product_of(const LinearActProblem& problem, const Rows& rows) {
  const Tensor& weight = problem.weight;
  const size_t last = problem.input.sizes().size() - 1;
  Gemm gemm;
  gemm.type = problem.input.scalar_type();
  gemm.rows = rows.rows();
  gemm.columns = weight.dim() == 2 ? static_cast<size_t>(weight.size(0)) : 1;
  gemm.depth = static_cast<size_t>(problem.input.sizes()[last]);
  gemm.a = {nullptr, rows.stride(0), problem.input.strides()[last]};
  // The weight [features, depth] is read as its transpose.
  gemm.b = {weight.mutable_data_ptr(), weight.strides()[weight.sizes().size() - 1],
            weight.dim() == 2 ? weight.strides()[0] : 0};
  // A weight of rank 1 is one column, for which the result has no dimension.
  const bool has_columns = weight.dim() == 2;
  gemm.out = {nullptr, rows.stride(1), has_columns ? ptrdiff_t{problem.out.strides()[last]} : 1};
  if (problem.bias) gemm.bias = vector_of(*problem.bias);
  if (problem.residual) {
    gemm.residual = {nullptr, rows.stride(2), has_columns ? ptrdiff_t{problem.residual->strides()[last]} : 1};
  }
  gemm.activation = problem.activation;
  return gemm;
}

}  // namespace

Error linear_act(KernelContext& context, const LinearActProblem& problem) {
  // Activations of doubles have no microkernels: a pass of the portable code.
  if (problem.type() == ScalarType::Double && !is_clamp(problem.activation)) {
    RL_TRY(linear_act(context, {problem, problem.residual, {}}));
    add_and_activate(std::nullopt, problem.activation, problem.out);
    return Error::Ok;
  }
  const Rows rows(problem);
  Gemm gemm = product_of(problem, rows);
  gemm.packed_b = context.prepared();
  // One allocation serves all products, which have one size.
  void* scratch = take_scratch(context, gemm);
  const auto size = static_cast<ptrdiff_t>(problem.input.element_size());
  const auto at = [&](const Tensor& tensor, size_t index, size_t product) {
    return tensor.mutable_data_ptr<char>() + rows.begin(index, product) * size;
  };
  const size_t products = rows.products();
  for (size_t i = 0; i < products; ++i) {
    gemm.a.data = at(problem.input, 0, i);
    gemm.out.data = at(problem.out, 1, i);
    if (problem.residual) gemm.residual.data = at(*problem.residual, 2, i);
    RL_TRY(multiply(context, gemm, scratch));
  }
  return Error::Ok;
}

Error linear_act_prepare(KernelContext& context, const LinearActProblem& problem) {
  prepare(context, product_of(problem, Rows(problem)), problem.weight);
  return Error::Ok;
}

Error linear(KernelContext& context, const LinearProblem& problem) {
  const std::optional<Tensor> no_residual;
  return linear_act(context, {problem, no_residual, {}});
}

Error linear_prepare(KernelContext& context, const LinearProblem& problem) {
  const std::optional<Tensor> no_residual;
  return linear_act_prepare(context, {problem, no_residual, {}});
}

}  // namespace rushlight::kernels::host
