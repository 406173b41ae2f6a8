// SPDX-License-Identifier: BSD-3-Clause
// Heads of 16-bit floats or int8: the queries of a piece are converted once for a head, keys and values block
// by block. The result is float32 until store() rounds it, so it is rounded once.
#include "kernels/host/attention/widened_heads.h"

#include "kernels/matmul/attention_rows.h"
#include "kernels/matmul/quantized_attention.h"
#include "kernels/ukernel/convert.h"

namespace rushlight::kernels::host {

namespace {

HeadMatrix floats_at(float* data, size_t columns) {
  return {reinterpret_cast<char*>(data), static_cast<ptrdiff_t>(columns * sizeof(float)), sizeof(float)};
}

// Converts rows [begin, end) of a matrix of `type` with contiguous rows to contiguous rows of float32.
void widen_rows(const HeadMatrix& from, ScalarType type, const TokenScales& tokens, size_t begin, size_t end,
                size_t columns, float* to) {
  for (size_t row = begin; row < end; ++row) {
    float* target = to + (row - begin) * columns;
    if (type == ScalarType::Half) {
      ukernel::half_to_f32(columns, element_at<uint16_t>(from, row, 0), target);
    } else if (type == ScalarType::BFloat16) {
      ukernel::bfloat16_to_f32(columns, element_at<uint16_t>(from, row, 0), target);
    } else {
      ukernel::dequantize_i8(columns, element_at<int8_t>(from, row, 0), tokens.scale_of(row),
                             tokens.zero_of(row), target);
    }
  }
}

}  // namespace

bool WidenedHeads::takes(const AttentionProblem& problem) {
  const AttentionPlan& plan = problem.plan;
  const AttentionPlan::Head head = plan.head(0);
  // Conversion needs contiguous rows; the distance between rows is free.
  const auto step = static_cast<ptrdiff_t>(element_size(problem.type()));
  const bool keys = plan.depth() == 1 || (head.query.column == step && head.key.column == step);
  return keys &&
         (plan.width() == 1 || (head.value.column == step &&
                                head.out.column == static_cast<ptrdiff_t>(problem.out.element_size())));
}

WidenedHeads::WidenedHeads(const AttentionProblem& problem, size_t block, void* scratch)
    : problem_(problem),
      query_(static_cast<float*>(scratch)),
      out_(query_ + problem.plan.queries() * problem.plan.depth()),
      key_(out_ + problem.plan.queries() * problem.plan.width()),
      value_(key_ + block * problem.plan.depth()) {}

AttentionPlan::Head WidenedHeads::load(size_t index, size_t begin, size_t end) {
  const AttentionPlan& plan = problem_.plan;
  // Scales and zero points for each position, of int8 heads only.
  if (problem_.tokens != nullptr) tokens_ = problem_.tokens->head(index);
  head_ = plan.head(index);
  widen_rows(head_.query, problem_.type(), tokens_.query, begin, end, plan.depth(),
             query_ + begin * plan.depth());
  const bool direct = problem_.out.scalar_type() == ScalarType::Float;
  return {floats_at(query_, plan.depth()),
          {},
          {},
          head_.mask,
          direct ? head_.out : floats_at(out_, plan.width())};
}

FloatRows WidenedHeads::keys(size_t first, size_t count) {
  const size_t depth = problem_.plan.depth();
  widen_rows(head_.key, problem_.type(), tokens_.key, first, first + count, depth, key_);
  return {key_, static_cast<ptrdiff_t>(depth), 1};
}

FloatRows WidenedHeads::values(size_t first, size_t count) {
  const size_t width = problem_.plan.width();
  widen_rows(head_.value, problem_.type(), tokens_.value, first, first + count, width, value_);
  return {value_, static_cast<ptrdiff_t>(width), 1};
}

// Converts rows that were computed in float32; a float32 result was written in place.
void WidenedHeads::store(size_t begin, size_t end) const {
  const size_t columns = problem_.plan.width();
  for (size_t row = begin; row < end; ++row) {
    const float* from = out_ + row * columns;
    if (problem_.out.scalar_type() == ScalarType::Half) {
      ukernel::f32_to_half(columns, from, element_at<uint16_t>(head_.out, row, 0));
    } else if (problem_.out.scalar_type() == ScalarType::BFloat16) {
      ukernel::f32_to_bfloat16(columns, from, element_at<uint16_t>(head_.out, row, 0));
    }
  }
}

}  // namespace rushlight::kernels::host
