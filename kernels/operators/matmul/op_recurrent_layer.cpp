// SPDX-License-Identifier: BSD-3-Clause
// One direction of a recurrent layer. The exporter computes the input's part of all gates as one matrix
// product; only the recurrent part remains. kernels/matmul/recurrence.h has the equations and shapes.
#include "kernels/backs/backs.h"
#include "kernels/backs/recurrence.h"
#include "kernels/matmul/recurrence.h"

namespace rushlight::kernels {

namespace {

// Plans the layer and computes it by `back`, a function of the problem and of the portable code.
template <TypeSet kTypes, class Unit, class Back>
Error run(const Recurrence& layer, Back back) {
  RecurrenceSizes sizes;
  RL_TRY(plan_recurrence(layer, Unit::kGates, &sizes));
  const RecurrenceProblem problem = {layer, sizes};
  return back(problem, [&] {
    return dispatch<kTypes>(problem.type(), [&](auto type) {
      using T = typename decltype(type)::Element;
      run_recurrence<T>(layer, sizes, &Unit::template advance<Accumulator<T>>);
      return Error::Ok;
    });
  });
}

// Plans as run() does; the call itself reports errors.
template <class Unit, class Prepare>
Error prepare(const Recurrence& layer, Prepare prepare_back) {
  RecurrenceSizes sizes;
  if (plan_recurrence(layer, Unit::kGates, &sizes) != Error::Ok) return Error::Ok;
  return prepare_back(RecurrenceProblem{layer, sizes});
}

Recurrence gru(const Tensor& gates, const Tensor& hidden, const Tensor& weight,
               const std::optional<Tensor>& bias, bool reverse, const Tensor& out0, const Tensor& out1) {
  return {gates, hidden, nullptr, weight, bias ? &*bias : nullptr, reverse, out0, out1, nullptr};
}

}  // namespace

Error lstm_out(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& cell,
               const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("rushlight::lstm.out");
  const Recurrence layer = {gates, hidden, &cell, weight, nullptr, reverse, out0, out1, &out2};
  return run<kTypes, LstmUnit>(layer, [&](const RecurrenceProblem& problem, auto portable) {
    return backs::lstm_out(context, problem, portable);
  });
}

Error lstm_out_prepare(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& cell,
                       const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1, Tensor& out2) {
  const Recurrence layer = {gates, hidden, &cell, weight, nullptr, reverse, out0, out1, &out2};
  return prepare<LstmUnit>(
      layer, [&](const RecurrenceProblem& problem) { return backs::lstm_out_prepare(context, problem); });
}

Error gru_out(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& weight,
              const std::optional<Tensor>& bias, bool reverse, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("rushlight::gru.out");
  const Recurrence layer = gru(gates, hidden, weight, bias, reverse, out0, out1);
  return run<kTypes, GruUnit>(layer, [&](const RecurrenceProblem& problem, auto portable) {
    return backs::gru_out(context, problem, portable);
  });
}

Error gru_out_prepare(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& weight,
                      const std::optional<Tensor>& bias, bool reverse, Tensor& out0, Tensor& out1) {
  return prepare<GruUnit>(
      gru(gates, hidden, weight, bias, reverse, out0, out1),
      [&](const RecurrenceProblem& problem) { return backs::gru_out_prepare(context, problem); });
}

Error rnn_tanh_out(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& weight,
                   bool reverse, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("rushlight::rnn_tanh.out");
  const Recurrence layer = {gates, hidden, nullptr, weight, nullptr, reverse, out0, out1, nullptr};
  return run<kTypes, TanhUnit>(layer, [&](const RecurrenceProblem& problem, auto portable) {
    return backs::rnn_tanh_out(context, problem, portable);
  });
}

Error rnn_tanh_out_prepare(KernelContext& context, const Tensor& gates, const Tensor& hidden,
                           const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1) {
  const Recurrence layer = {gates, hidden, nullptr, weight, nullptr, reverse, out0, out1, nullptr};
  return prepare<TanhUnit>(
      layer, [&](const RecurrenceProblem& problem) { return backs::rnn_tanh_out_prepare(context, problem); });
}

Error rnn_relu_out(KernelContext& context, const Tensor& gates, const Tensor& hidden, const Tensor& weight,
                   bool reverse, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("rushlight::rnn_relu.out");
  const Recurrence layer = {gates, hidden, nullptr, weight, nullptr, reverse, out0, out1, nullptr};
  return run<kTypes, ReluUnit>(layer, [&](const RecurrenceProblem& problem, auto portable) {
    return backs::rnn_relu_out(context, problem, portable);
  });
}

Error rnn_relu_out_prepare(KernelContext& context, const Tensor& gates, const Tensor& hidden,
                           const Tensor& weight, bool reverse, Tensor& out0, Tensor& out1) {
  const Recurrence layer = {gates, hidden, nullptr, weight, nullptr, reverse, out0, out1, nullptr};
  return prepare<ReluUnit>(
      layer, [&](const RecurrenceProblem& problem) { return backs::rnn_relu_out_prepare(context, problem); });
}

}  // namespace rushlight::kernels
