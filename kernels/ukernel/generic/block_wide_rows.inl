// SPDX-License-Identifier: BSD-3-Clause
// The functions of block_gemm for variants whose quantized rows are int16 in depth order. Before it includes
// this, a variant defines kRows and multiply_rows<kIsByte, kCount>(product, first row) for kCount = kRows and
// 1.
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <bool kIsByte>
void multiply(const BlockGemm& p) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kIsByte, kRows>(p, i);
  for (; i < p.rows; ++i) multiply_rows<kIsByte, 1>(p, i);
}

}  // namespace

size_t block_row_bytes(const BlockForm& form) {
  return header_bytes(form) + whole(form.blocks() * form.block_depth() * sizeof(int16_t));
}

void quantize_block_row(const BlockForm& form, const float* from, void* to) {
  auto* numbers = reinterpret_cast<int16_t*>(static_cast<char*>(to) + header_bytes(form));
  const size_t depth = form.block_depth();
  quantize_blocks(form, from, to, [&](size_t block, const int32_t* q) {
    for (size_t k = 0; k < depth; ++k) numbers[block * depth + k] = static_cast<int16_t>(q[k]);
  });
}

void multiply_blocks(const BlockGemm& p) {
  if (p.form.is_byte) {
    multiply<true>(p);
  } else {
    multiply<false>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
