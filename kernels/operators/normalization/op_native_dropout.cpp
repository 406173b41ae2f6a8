// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/random.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// True with the probability `keep`: positive() is in (0, 1], so 0 keeps nothing and 1 everything.
double draw_kept(Random& random, double keep, double) { return random.positive() <= keep ? 1 : 0; }

}  // namespace

// out1 is the mask of kept elements. Kept elements are scaled by 1 / (1 - p), so that the expected value
// stays; with p = 1 every element is 0. An absent `train` counts as true; false copies the input, with a mask
// of ones.
Error native_dropout_out(KernelContext&, const Tensor& input, double p, std::optional<bool> train,
                         Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("aten::native_dropout.out") & types::kFloating;
  RL_CHECK(p >= 0 && p <= 1, Error::InvalidArgument, "p: expected 0 to 1, got %f", p);
  RL_TRY(check_same_dtype(input, out0, "input and out0"));
  RL_CHECK(out1.scalar_type() == ScalarType::Bool, Error::InvalidType, "out1: expected dtype bool, got %s",
           to_string(out1.scalar_type()));
  RL_TRY(resize_out(out0, input.sizes()));
  RL_TRY(resize_out(out1, input.sizes()));
  const double keep = train.value_or(true) ? 1 - p : 1;
  RL_TRY(draw_into(types::kBool, out1, draw_each<draw_kept>, keep));
  const auto scaled = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [scale = keep > 0 ? static_cast<T>(1 / keep) : T(0)](T x, T kept) { return x * kept * scale; };
  };
  return elementwise_for<kTypes>(input.scalar_type(), out0, scaled, input, out1);
}

}  // namespace rushlight::kernels
