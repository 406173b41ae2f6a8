// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/small/finish.h"

#include "kernels/ukernel/runs.h"

namespace rushlight::kernels::optimized {

namespace {

bool lies_alike(const Tensor& a, const Tensor& b) {
  bool alike = true;
  for (size_t d = 0; d < a.strides().size(); ++d) alike = alike && a.strides()[d] == b.strides()[d];
  return alike;
}

}  // namespace

void finish(const std::optional<Tensor>& residual, const Activation& activation, const Tensor& out) {
  const bool is_clamp = activation.kind == ActivationKind::kClamp;
  const bool is_quick = is_clamp || activation.kind == ActivationKind::kNone;
  if (!is_quick || (residual && !lies_alike(*residual, out))) {
    return add_and_activate(residual, activation, out);
  }
  float* data = out.mutable_data_ptr<float>();
  const size_t count = out.numel();
  if (residual) ukernel::add_run(data, data, residual->const_data_ptr<float>(), count);
  if (!is_clamp) return;
  const auto low = static_cast<float>(activation.low);
  const auto high = static_cast<float>(activation.high);
  if (low == 0 && high == __builtin_inff()) {
    ukernel::rectify_run(data, data, count);
  } else {
    ukernel::clamp_run(data, data, count, low, high);
  }
}

}  // namespace rushlight::kernels::optimized
