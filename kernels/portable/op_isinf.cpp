// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// No integer is infinite.
template <TypeSet kTypes>
Error is_infinite(const Tensor& self, Tensor& out, bool positive, bool negative) {
  const auto matches = [positive, negative](auto x) {
    return std::isinf(x) && (x > 0 ? positive : negative);
  };
  return classify<kTypes>(self, out, matches);
}

// Unlike isinf, these want a bool out in PyTorch.
constexpr TypeSet kTypes = selected_types("aten::isinf.out") | selected_types("aten::isposinf.out") |
                           selected_types("aten::isneginf.out");

Error check_bool(const Tensor& out) {
  RL_CHECK(out.scalar_type() == ScalarType::Bool, Error::InvalidType, "out: expected dtype bool, got %s",
           to_string(out.scalar_type()));
  return Error::Ok;
}

}  // namespace

Error isinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  return is_infinite<kTypes>(self, out, true, true);
}

Error isposinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_TRY(check_bool(out));
  return is_infinite<kTypes>(self, out, true, false);
}

Error isneginf_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_TRY(check_bool(out));
  return is_infinite<kTypes>(self, out, false, true);
}

}  // namespace rushlight::kernels
