// SPDX-License-Identifier: BSD-3-Clause
// Quantized linear layers: blocks of rows are spread for the microkernel and multiplied by packed weights.
// int16 inputs use the code in int8/ that packs nothing.
#include "kernels/backs/quantized_linear.h"

#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/host/int8/int8_rows.h"
#include "kernels/int8/multiply_in_place.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::host {

namespace {

constexpr bool kHasInt16 = contains(selected_types("rushlight::quantized_linear.out"), ScalarType::Short);

// [features, depth] as the right factor: columns are features.
Int8Matrix weight_of(const QuantizedLinearProblem& problem) {
  const Tensor& weight = problem.weight;
  return {weight.const_data_ptr<int8_t>(), weight.strides()[1], weight.strides()[0],
          static_cast<size_t>(weight.size(1)), static_cast<size_t>(weight.size(0))};
}

Int8Rows rows_of(const QuantizedLinearProblem& problem) {
  const auto features = static_cast<size_t>(problem.weight.size(0));
  const size_t rows = features == 0 ? 0 : problem.out.numel() / features;
  Int8Rows product{rows,
                   static_cast<size_t>(problem.weight.size(1)),
                   features,
                   nullptr,
                   problem.bias ? problem.bias->const_data_ptr<int32_t>() : nullptr,
                   problem.to};
  product.spread_bytes = product.block() * product.row_bytes();
  return product;
}

}  // namespace

std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem) {
  if constexpr (kHasInt16) {
    if (problem.type() == ScalarType::Short) return multiply_in_place<Int16Elements>(problem);
  }
  // The microkernel has no zero point for weights; exporters write only 0.
  if (problem.weight_zero_point != 0) return std::nullopt;
  // Rows must be contiguous; the distance between them is free but constant.
  const size_t last = problem.input.sizes().size() - 1;
  if (problem.input.strides()[last] != 1 || problem.out.strides()[last] != 1) return std::nullopt;
  Int8Rows product = rows_of(problem);
  product.panels = packed_panels(context, weight_of(problem), 1, 0);
  char* scratch = product.take_scratch(context, false);
  if (product.panels == nullptr || scratch == nullptr) return std::nullopt;
  View source = View::of(problem.input), target = View::of(problem.out);
  const PairedLoops loops(target.select(last, 0), source.select(last, 0));
  if (loops.loops().size() > 1) return std::nullopt;  // rows without a common stride
  loops.for_each_span([&](char* to, const char* from, const auto& rows) {
    const size_t row_bytes = product.row_bytes();
    // Widens rows to the form that the microkernel reads, block by block.
    const auto spread = [&](size_t first, size_t count, char* spread_to) {
      const SpreadRows spread_rows{spread_to, static_cast<ptrdiff_t>(row_bytes)};
      for (size_t i = 0; i < count; ++i, spread_to += row_bytes) {
        const char* row = from + static_cast<ptrdiff_t>(first + i) * rows.source;
        ukernel::spread_int8(spread_to, reinterpret_cast<const int8_t*>(row), product.depth);
      }
      return spread_rows;
    };
    const auto target = [&](size_t first, ptrdiff_t* step) {
      *step = rows.target;
      return reinterpret_cast<int8_t*>(to) + static_cast<ptrdiff_t>(first) * rows.target;
    };
    multiply_rows(context, product, scratch, false, spread, target, [](size_t, size_t, int8_t*) {});
  });
  return Error::Ok;
}

Error quantized_linear_prepare(KernelContext& context, const QuantizedLinearProblem& problem) {
  const auto features = static_cast<size_t>(std::max<ptrdiff_t>(problem.weight.size(0), 1));
  context.need_products(problem.out.numel() * (problem.weight.numel() / features));
  if (kHasInt16 && problem.type() == ScalarType::Short) return Error::Ok;  // packs nothing
  prepare_panels(context, weight_of(problem), 1, 0, is_constant(problem.weight),
                 rows_of(problem).scratch_bytes(false) * context.threads());
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
