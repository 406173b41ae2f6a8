// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/matmul/lstm.h"

namespace rushlight::kernels {

// One direction of an LSTM layer. The exporter computes the input's part of all gates as one matrix product;
// only the recurrent part remains. kernels/matmul/lstm.h has the shapes.
Error lstm_out(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& cell,
               const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("rushlight::lstm.out");
  const Lstm lstm = {gates, hidden, cell, weight, reverse, out0, out1, out2};
  LstmSizes sizes;
  RL_TRY(plan_lstm(lstm, &sizes));
  return backs::lstm_out(context, LstmProblem{lstm, sizes}, [&] {
    return dispatch<kTypes>(gates.scalar_type(), [&](auto type) {
      run_lstm<typename decltype(type)::Element>(lstm, sizes);
      return Error::Ok;
    });
  });
}

Error lstm_out_prepare(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& cell,
                       const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1, Tensor& out2) {
  const Lstm lstm = {gates, hidden, cell, weight, reverse, out0, out1, out2};
  LstmSizes sizes;
  if (plan_lstm(lstm, &sizes) != Error::Ok) return Error::Ok;  // the call itself reports errors
  return backs::lstm_out_prepare(context, LstmProblem{lstm, sizes});
}

}  // namespace rushlight::kernels
