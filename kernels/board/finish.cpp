// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/finish.h"

#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

bool has_equal_strides(const Tensor& a, const Tensor& b) {
  bool alike = true;
  for (size_t d = 0; d < a.strides().size(); ++d) alike = alike && a.strides()[d] == b.strides()[d];
  return alike;
}

}  // namespace

void finish_clamp(const std::optional<Tensor>& residual, const Activation& clamp, const Tensor& out) {
  // Different strides and other dtypes need the portable walk; otherwise one span in memory order has all
  // elements.
  if (out.scalar_type() != ScalarType::Float || (residual && !has_equal_strides(*residual, out))) {
    return add_and_clamp(residual, clamp, out);
  }
  float* data = out.mutable_data_ptr<float>();
  const size_t count = out.numel();
  if (residual) ukernel::add_span(data, data, residual->const_data_ptr<float>(), count);
  if (clamp.kind == ActivationKind::kNone) return;
  if (is_rectifier(clamp)) return ukernel::rectify_span(data, data, count);
  ukernel::clamp_span(data, data, count, static_cast<float>(clamp.low), static_cast<float>(clamp.high));
}

void finish(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out) {
  const bool is_clamp = activation.kind == ActivationKind::kClamp || activation.kind == ActivationKind::kNone;
  return is_clamp ? finish_clamp(residual, activation, out) : add_and_activate(residual, activation, out);
}

}  // namespace rushlight::kernels::board
