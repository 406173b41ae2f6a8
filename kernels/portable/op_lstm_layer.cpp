// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/lstm.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error lstm_out(KernelContext&, const Tensor& gates, const Tensor& hidden, const Tensor& cell,
               const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("rushlight::lstm.out");
  const Lstm lstm = {gates, hidden, cell, weight, reverse, out0, out1, out2};
  LstmSizes sizes;
  RL_TRY(plan_lstm(lstm, &sizes));
  return dispatch<kTypes>(gates.scalar_type(), [&](auto type) {
    run_lstm<typename decltype(type)::Element>(lstm, sizes);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
