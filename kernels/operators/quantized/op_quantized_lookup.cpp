// SPDX-License-Identifier: BSD-3-Clause
// A function of one quantized number, as a table of its 256 results.
#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_lookup.h"
#include "kernels/checks/checks.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = kByteTypes & (selected_types("rushlight::quantized_lookup.out") |
                                         selected_types("cortex_m::quantized_activation.out"));
constexpr size_t kBytes = 256;

Error look_up(const QuantizedLookupProblem& problem) {
  PairedLoops(View::of(problem.out), View::of(problem.input))
      .for_each_run([&](char* to, const char* from, const auto& loop) {
        for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source)
          *to = static_cast<char>(problem.table[static_cast<uint8_t>(*from)]);
      });
  return Error::Ok;
}

}  // namespace

Error quantized_lookup_out(KernelContext& context, const Tensor& input, const Tensor& table, Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_type(out, kTypes, "out"));
  RL_TRY(check_same_dtype(table, out, "table and out"));
  RL_CHECK(table.dim() == 1 && table.numel() == kBytes, Error::InvalidArgument,
           "table: expected 256 elements in one dimension, got %lu in %d",
           static_cast<unsigned long>(table.numel()), static_cast<int>(table.dim()));
  RL_TRY(resize_out(out, input.sizes()));
  // The table counts from the least number on: of int8 the one whose byte is 128.
  const size_t first = input.scalar_type() == ScalarType::Char ? kBytes / 2 : 0;
  const auto* numbers = table.const_data_ptr<uint8_t>();
  uint8_t bytes[kBytes];
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = numbers[i ^ first];
  const QuantizedLookupProblem problem{input, bytes, out};
  return backs::quantized_lookup_out(context, problem, [&] { return look_up(problem); });
}

}  // namespace rushlight::kernels
