// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: two pixels by as many channels as eight registers hold sums of. Weights
// are widened to 16 bits once for both.
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/riscv/quantize_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

inline vint16m4_t load_wide(const int8_t* from, size_t lanes) {
  return __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(from, lanes), lanes);
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  Block block;
  block.to = &strip.to;
  block.out_stride = strip.out_stride;
  const size_t most = most_lanes();
  const int8_t* const* in = strip.in;
  const size_t pixel_taps = strip.pixel_stride == 0 ? strip.taps : 0;
  ptrdiff_t offset = 0;
  int8_t* out = strip.out;
  for (size_t rest = strip.pixels; rest > 0; rest -= block.rows) {
    block.rows = rest < 2 ? rest : 2;
    // A pixel that is not there repeats the last one.
    const int8_t* const* second = in + (block.rows == 2 ? pixel_taps : 0);
    const ptrdiff_t second_offset = offset + (block.rows == 2 ? strip.pixel_stride : 0);
    for (size_t channel = 0; channel < strip.channels; channel += block.columns) {
      const size_t lanes = strip.channels - channel < most ? strip.channels - channel : most;
      block.columns = lanes;
      block.first = channel;
      block.out = out + channel;
      vint32m8_t a = load_bias(strip.bias, channel, lanes), b = a;
      const int8_t* weights = strip.weights + channel;
      const auto first = offset + static_cast<ptrdiff_t>(channel);
      const auto next = second_offset + static_cast<ptrdiff_t>(channel);
      for (size_t t = 0; t < strip.taps; ++t, weights += strip.weight_stride) {
        const vint16m4_t factors = load_wide(weights, lanes);
        a = __riscv_vwmacc_vv_i32m8(a, load_wide(in[t] + first, lanes), factors, lanes);
        b = __riscv_vwmacc_vv_i32m8(b, load_wide(second[t] + next, lanes), factors, lanes);
      }
      __riscv_vse32_v_i32m8(block.sums, a, lanes);
      __riscv_vse32_v_i32m8(block.sums + lanes, b, lanes);
      quantize_block(block);
    }
    in += block.rows * pixel_taps;
    offset += static_cast<ptrdiff_t>(block.rows) * strip.pixel_stride;
    out += static_cast<ptrdiff_t>(block.rows) * strip.out_stride;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
