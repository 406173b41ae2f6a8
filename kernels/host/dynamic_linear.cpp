// SPDX-License-Identifier: BSD-3-Clause
// Linear layers with dynamically quantized input: quantizes a block of rows and multiplies it by all panels.
// If blocks are fewer than threads, the panels of a block are divided among threads, each of which quantizes
// the rows again.
#include "kernels/host/int8/grouped_linear.h"
#include "kernels/quantization/dynamic_range.h"
#include "kernels/ukernel/dynamic_gemm.h"

namespace rushlight::kernels::host {

namespace {

// Bytes of quantized rows that stay in cache.
constexpr size_t kNear = 65536;

PanelLayout panels_of(const GroupedWeight& weight) {
  return {0xd131, ukernel::dynamic_gemm_columns(), ukernel::dynamic_panel_bytes(weight.form),
          [](const ukernel::GroupedWeights& from, size_t columns, void* panel) {
            ukernel::pack_dynamic(from, columns, panel);
          }};
}

// A multiple of 8 rows, which fills tiles of 2, 4 or 8 rows.
size_t block_of(const GroupedWeight& weight, size_t rows) {
  const size_t fitting = std::max(kNear / ukernel::dynamic_row_bytes(weight.form) / 8, size_t{1}) * 8;
  return std::min(fitting, std::max<size_t>(rows, 1));
}

// Scratch memory of one thread.
size_t scratch_bytes(const GroupedWeight& weight, size_t rows) {
  return block_of(weight, rows) * ukernel::dynamic_row_bytes(weight.form);
}

DynamicScale scale_of(const DynamicRange& range, const float* from, size_t count) {
  DynamicExtent extent;
  // find_extent() is false if an element is NaN, which makes the scale NaN.
  if (!ukernel::find_extent(count, from, &extent.min, &extent.max)) extent.include(__builtin_nanf(""));
  return choose_scale(range, extent);
}

ukernel::DynamicQuantization quantization(const DynamicRange& range, const DynamicScale& scale) {
  return {scale.inverse,
          scale.scale,
          scale.zero_point,
          static_cast<int32_t>(range.low),
          static_cast<int32_t>(range.high),
          range.mapping == RangeMapping::kNearerEnd};
}

// The product of the rows of a problem with packed panels. The scale of a whole input is found once, that of
// a token with its row.
class Product {
 public:
  Product(const DynamicLinearProblem& problem, const LinearRows& rows, const PanelLayout& panels,
          const void* packed)
      : problem_(problem), rows_(rows), panels_(panels), packed_(static_cast<const char*>(packed)) {
    if (!problem.per_token) {
      whole_ = scale_of(problem.range, problem.input.const_data_ptr<float>(), problem.input.numel());
    }
  }

  void quantize(size_t first, size_t count, char* to) const {
    const GroupedWeight& weight = problem_.weight;
    for (size_t i = first; i < first + count; ++i, to += ukernel::dynamic_row_bytes(weight.form)) {
      const float* row = rows_.input + static_cast<ptrdiff_t>(i) * rows_.input_stride;
      const DynamicScale scale = problem_.per_token ? scale_of(problem_.range, row, weight.depth()) : whole_;
      ukernel::quantize_dynamic_row(weight.form, quantization(problem_.range, scale), row, to);
    }
  }

  // Multiplies quantized rows [first, first + count) by panels [begin, end).
  void multiply(size_t first, size_t count, const char* quantized, size_t begin, size_t end) const {
    const GroupedWeight& weight = problem_.weight;
    ukernel::DynamicGemm gemm;
    gemm.form = weight.form;
    gemm.rows = count;
    gemm.left = quantized;
    gemm.left_stride = static_cast<ptrdiff_t>(ukernel::dynamic_row_bytes(weight.form));
    gemm.out_stride = rows_.out_stride;
    for (size_t panel = begin; panel < end; ++panel) {
      const size_t column = panel * panels_.columns;
      gemm.columns = std::min(panels_.columns, weight.features - column);
      gemm.panel = packed_ + panel * panels_.bytes;
      gemm.bias = problem_.bias == nullptr ? nullptr : problem_.bias + column;
      gemm.out = rows_.out + static_cast<ptrdiff_t>(first) * rows_.out_stride + column;
      ukernel::multiply_dynamic(gemm);
    }
  }

 private:
  const DynamicLinearProblem& problem_;
  const LinearRows& rows_;
  const PanelLayout& panels_;
  const char* packed_;
  DynamicScale whole_;
};

}  // namespace

std::optional<Error> dynamic_linear(KernelContext& context, const DynamicLinearProblem& problem) {
  const GroupedWeight& weight = problem.weight;
  const std::optional<LinearRows> rows = find_rows(problem);
  if (!rows) return std::nullopt;
  if (rows->count == 0 || weight.features == 0) return Error::Ok;
  const PanelLayout panels = panels_of(weight);
  const void* packed = packed_panels(context, panels, weight);
  const size_t each = scratch_bytes(weight, rows->count);
  auto* scratch = static_cast<char*>(context.allocate_temp(each * context.threads(), 64));
  if (packed == nullptr || scratch == nullptr) return std::nullopt;
  const Product product(problem, *rows, panels, packed);
  const size_t block = block_of(weight, rows->count), count = panels.count(weight.features);
  const size_t blocks = (rows->count + block - 1) / block;
  // `cuts` parts of the panels for each block of rows: enough that every thread has work, but none below the
  // size that is worth a thread.
  const size_t most = count / items_for_piece(block * panels.columns * weight.depth());
  const size_t cuts =
      std::clamp<size_t>((context.threads() + blocks - 1) / blocks, 1, std::max<size_t>(most, 1));
  const size_t per_cut = (count + cuts - 1) / cuts;
  const size_t grain = items_for_piece(block * per_cut * panels.columns * weight.depth());
  context.parallel_for(blocks * cuts, grain, [&](size_t begin, size_t end, size_t thread) {
    char* const quantized = scratch + each * thread;
    for (size_t item = begin; item < end; ++item) {
      const size_t first = item / cuts * block, number = std::min(block, rows->count - first);
      // Each item quantizes its rows itself, so threads need not wait for each other.
      product.quantize(first, number, quantized);
      const size_t panel = item % cuts * per_cut;
      product.multiply(first, number, quantized, panel, std::min(panel + per_cut, count));
    }
  });
  return Error::Ok;
}

Error dynamic_linear_prepare(KernelContext& context, const DynamicLinearProblem& problem) {
  const GroupedWeight& weight = problem.weight;
  const size_t rows = weight.features == 0 ? 0 : problem.out.numel() / weight.features;
  context.need_products(problem.out.numel() * weight.depth());
  prepare_panels(context, panels_of(weight), problem, scratch_bytes(weight, rows) * context.threads());
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
