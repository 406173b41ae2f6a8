// SPDX-License-Identifier: BSD-3-Clause
// Clamping to scalar or tensor bounds, computed in the promoted dtype of tensor and bounds: min(max(x, low),
// high). NaN stays, and a NaN bound makes every element NaN.
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/clamp.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::clamp.out") | selected_types("aten::clamp_min.out") |
                           selected_types("aten::clamp_max.out");
constexpr TypeSet kTensorTypes = selected_types("aten::clamp.Tensor_out") |
                                 selected_types("aten::clamp_min.Tensor_out") |
                                 selected_types("aten::clamp_max.Tensor_out");

// Clamps from one side: from below (`bound` is the minimum) or from above.
Error bound_from(bool below, const Tensor& self, const Tensor& bound, Tensor& out) {
  const auto raise = [](auto x, auto limit) { return at_least(x, limit); };
  const auto lower = [](auto x, auto limit) { return at_most(x, limit); };
  return below ? elementwise<kTensorTypes>(out, raise, self, bound)
               : elementwise<kTensorTypes>(out, lower, self, bound);
}

// If the lower bound exceeds the upper bound, every element becomes the upper bound, as in PyTorch.
Error bound_by(ScalarType compute, const Tensor& self, const std::optional<Scalar>& min,
               const std::optional<Scalar>& max, const Tensor& out) {
  const auto bound = [&](auto type) {
    using T = typename decltype(type)::Element;
    // A missing bound is the dtype's own: one loop without branches serves all three operators.
    using Limits = std::numeric_limits<T>;
    const T low = min                    ? convert_scalar<T>(*min)
                  : Limits::has_infinity ? -Limits::infinity()
                                         : Limits::lowest();
    const T high = max ? convert_scalar<T>(*max) : Limits::has_infinity ? Limits::infinity() : Limits::max();
    return [low, high](T x) { return at_most(at_least(x, low), high); };
  };
  return elementwise_for<(kTypes & types::kReal)>(compute, out, bound, self);
}

struct PortableClamp {
  ScalarType compute;
  const Tensor& self;
  const std::optional<Scalar>& min;
  const std::optional<Scalar>& max;
  const Tensor& out;

  Error operator()() const { return bound_by(compute, self, min, max, out); }
};

// kAsk is the back function of one kernel. A template parameter, because instantiations without a back have
// identical code, which the compiler can merge.
template <Error (*kAsk)(KernelContext& context, const BoundsProblem& problem, PortableClamp portable)>
Error clamp(KernelContext& context, const Tensor& self, const std::optional<Scalar>& min,
            const std::optional<Scalar>& max, Tensor& out) {
  Promotion promotion;
  promotion.with(self);
  if (min) promotion.with(*min);
  if (max) promotion.with(*max);
  RL_CHECK(min.has_value() || max.has_value(), Error::InvalidArgument, "expected min or max");
  const ScalarType compute = promotion.type();
  // Bounds of a higher kind have promoted the computation, so only integer bounds can fail here.
  if (min) RL_TRY(check_fits(*min, compute, "min"));
  if (max) RL_TRY(check_fits(*max, compute, "max"));
  // A missing bound is infinite for the backs, which compute in float32.
  const BoundsProblem problem = {
      {self, out}, min ? min->to<float>() : -INFINITY, max ? max->to<float>() : INFINITY};
  return kAsk(context, problem, {compute, self, min, max, out});
}

}  // namespace

Error clamp_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, Tensor& out) {
  return clamp<backs::clamp_out>(context, self, min, max, out);
}

Error clamp_min_out(KernelContext& context, const Tensor& self, const Scalar& min, Tensor& out) {
  return clamp<backs::clamp_min_out>(context, self, min, std::nullopt, out);
}

Error clamp_max_out(KernelContext& context, const Tensor& self, const Scalar& max, Tensor& out) {
  return clamp<backs::clamp_max_out>(context, self, std::nullopt, max, out);
}

Error clamp_min_Tensor_out(KernelContext&, const Tensor& self, const Tensor& min, Tensor& out) {
  return bound_from(true, self, min, out);
}

Error clamp_max_Tensor_out(KernelContext&, const Tensor& self, const Tensor& max, Tensor& out) {
  return bound_from(false, self, max, out);
}

Error clamp_tensor_out(KernelContext& context, const Tensor& self, const std::optional<Tensor>& min,
                       const std::optional<Tensor>& max, Tensor& out) {
  // With both bounds PyTorch does not support bool; with one bound it does.
  constexpr TypeSet kBoth = selected_types("aten::clamp.Tensor_out") & types::kReal;
  RL_CHECK(min.has_value() || max.has_value(), Error::InvalidArgument, "expected min or max");
  const auto both = [](auto x, auto least, auto most) { return at_most(at_least(x, least), most); };
  const TensorBoundsProblem problem = {self, min ? &*min : nullptr, max ? &*max : nullptr, out};
  return backs::clamp_tensor_out(context, problem, [&] {
    if (!max) return bound_from(true, self, *min, out);
    if (!min) return bound_from(false, self, *max, out);
    return elementwise<kBoth>(result_type(self, *min, *max), out, both, self, *min, *max);
  });
}

}  // namespace rushlight::kernels
