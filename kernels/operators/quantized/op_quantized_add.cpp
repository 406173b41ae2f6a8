// SPDX-License-Identifier: BSD-3-Clause
// ExecuTorch's quantized add: dequantizes two elements to float32, adds and quantizes, with one shape and dim
// order for all tensors and without broadcasting. The fixed-point sum of rushlight::quantized_add is in
// op_quantized_elementwise.cpp.
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

struct Operand {
  const Tensor& tensor;
  Affine affine;
  AffineRange range;
};

// (x - zero_point) * scale in float32, in this order.
template <class T>
float real(const Operand& operand, size_t i) {
  const auto value = static_cast<float>(operand.tensor.const_data_ptr<T>()[i]);
  return (value - static_cast<float>(operand.affine.zero_point)) * static_cast<float>(operand.affine.scale);
}

// Adds in memory order: all three tensors have the same shape and dim order.
template <class T>
void add(const Operand& a, const Operand& b, const Operand& out) {
  const Quantizer<T, float> quantize(out.affine, out.range, ZeroPoint::kAfterRounding);
  for (size_t i = 0; i < out.tensor.numel(); ++i) {
    out.tensor.mutable_data_ptr<T>()[i] = quantize(real<T>(a, i) + real<T>(b, i));
  }
}

// Proves that element i in memory is the same element in all tensors.
Error check_operand(const Operand& operand, const Tensor& like, const char* name) {
  RL_TRY(check_quantized(operand.tensor, static_cast<int64_t>(like.scalar_type()), operand.range));
  const size_t rank = like.sizes().size();
  bool same = operand.tensor.sizes().size() == rank;
  for (size_t d = 0; same && d < rank; ++d) {
    same =
        operand.tensor.sizes()[d] == like.sizes()[d] && operand.tensor.dim_order()[d] == like.dim_order()[d];
  }
  RL_CHECK(same, Error::InvalidArgument, "%s: its shape or dim order is not that of a", name);
  return Error::Ok;
}

}  // namespace

Error quantized_add_out(KernelContext&, const Tensor& a, double a_scale, int64_t a_zero_point,
                        int64_t a_quant_min, int64_t a_quant_max, const Tensor& b, double b_scale,
                        int64_t b_zero_point, int64_t b_quant_min, int64_t b_quant_max, double out_scale,
                        int64_t out_zero_point, int64_t out_quant_min, int64_t out_quant_max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::add.out") & kQuantizedTypes;
  const Operand first{a, {a_scale, static_cast<double>(a_zero_point)}, {a_quant_min, a_quant_max}};
  const Operand second{b, {b_scale, static_cast<double>(b_zero_point)}, {b_quant_min, b_quant_max}};
  const Operand result{out, {out_scale, static_cast<double>(out_zero_point)}, {out_quant_min, out_quant_max}};
  RL_TRY(check_type(a, kTypes, "a"));
  RL_TRY(resize_out(out, a.sizes()));
  RL_TRY(check_operand(first, a, "a"));
  RL_TRY(check_operand(second, a, "b"));
  RL_TRY(check_operand(result, a, "out"));
  return dispatch<kTypes>(a.scalar_type(), [&](auto type) {
    add<typename decltype(type)::Element>(first, second, result);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
