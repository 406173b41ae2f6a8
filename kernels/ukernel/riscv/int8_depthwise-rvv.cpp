// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: two pixels by as many channels as eight registers hold sums of. Weights
// are widened to 16 bits once for both. Adjacent pixels with few channels are treated as one pixel with more
// channels.
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/riscv/quantize_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

inline vint16m4_t load_wide(const int8_t* from, size_t lanes) {
  return __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(from, lanes), lanes);
}

constexpr size_t kTiledLanes = 64;
constexpr size_t kTiledWeights = 1024;

// Copies the elements `at` of an array, for `lanes` lanes; null stays null.
inline const int8_t* gather(const int8_t* from, vuint8m2_t at, size_t lanes, int8_t* to) {
  if (from == nullptr) return nullptr;
  __riscv_vse8_v_i8m2(to, __riscv_vluxei8_v_i8m2(from, at, lanes), lanes);
  return to;
}
template <class T>
inline const T* gather(const T* from, vuint8m2_t at, size_t lanes, T* to) {
  static_assert(sizeof(T) == sizeof(int32_t) && kTiledLanes * sizeof(T) <= 256);
  if (from == nullptr) return nullptr;
  const vuint8m2_t bytes = __riscv_vsll_vx_u8m2(at, 2, lanes);
  const auto* words = reinterpret_cast<const int32_t*>(from);
  __riscv_vse32_v_i32m8(reinterpret_cast<int32_t*>(to), __riscv_vluxei8_v_i32m8(words, bytes, lanes), lanes);
  return to;
}

// Adjacent pixels that share a vector: with few channels a vector of one pixel is nearly empty.
size_t pixels_of_vector(const Int8Depthwise& strip) {
  const auto channels = static_cast<ptrdiff_t>(strip.channels);
  if (channels == 0 || strip.pixel_stride != channels || strip.out_stride != channels) return 1;
  const size_t lanes = most_lanes() < kTiledLanes ? most_lanes() : kTiledLanes;
  size_t together = lanes / strip.channels;
  while (together > 1 && strip.taps * strip.channels * together > kTiledWeights) --together;
  // Repeating weights and scales pays off from four vectors on.
  return together > 1 && strip.pixels >= 4 * together ? together : 1;
}

void convolve(const Int8Depthwise& strip, size_t first_pixel);

// Treats adjacent pixels as fewer pixels with more channels. Returns the number of pixels done. Not inlined,
// to keep its arrays off the caller's stack.
[[gnu::noinline]] size_t convolve_together(const Int8Depthwise& strip, size_t together) {
  int8_t weights[kTiledWeights], shifts[kTiledLanes];
  int32_t bias[kTiledLanes], multipliers[kTiledLanes];
  float scales[kTiledLanes];
  Int8Depthwise wide = strip;
  // The strip with `together` times the channels and repeated constants.
  wide.channels *= together;
  wide.pixels /= together;
  wide.pixel_stride = wide.out_stride = static_cast<ptrdiff_t>(wide.channels);
  const size_t lanes = wide.channels;
  // Repeats the channels.
  const vuint8m2_t at =
      __riscv_vremu_vx_u8m2(__riscv_vid_v_u8m2(lanes), static_cast<uint8_t>(strip.channels), lanes);
  for (size_t t = 0; t < strip.taps; ++t) {
    gather(strip.weights + static_cast<ptrdiff_t>(t) * strip.weight_stride, at, lanes, weights + t * lanes);
  }
  wide.weights = weights;
  wide.weight_stride = static_cast<ptrdiff_t>(lanes);
  wide.bias = gather(strip.bias, at, lanes, bias);
  if (strip.to.step != 0) {
    wide.to.multipliers = gather(strip.to.multipliers, at, lanes, multipliers);
    wide.to.shifts = gather(strip.to.shifts, at, lanes, shifts);
    wide.to.scales = gather(strip.to.scales, at, lanes, scales);
  }
  convolve(wide, 0);
  return wide.pixels * together;
}

// Computes the pixels from `first_pixel` on, which is 0 if each pixel has its own pointers.
void convolve(const Int8Depthwise& strip, size_t first_pixel) {
  Block block;
  block.to = &strip.to;
  block.out_stride = strip.out_stride;
  const size_t most = most_lanes();
  const int8_t* const* in = strip.in;
  const size_t pixel_taps = strip.pixel_stride == 0 ? strip.taps : 0;
  ptrdiff_t offset = static_cast<ptrdiff_t>(first_pixel) * strip.pixel_stride;
  int8_t* out = strip.out + static_cast<ptrdiff_t>(first_pixel) * strip.out_stride;
  for (size_t rest = strip.pixels - first_pixel; rest > 0; rest -= block.rows) {
    block.rows = rest < 2 ? rest : 2;
    // A missing pixel repeats the last one.
    const int8_t* const* second = in + (block.rows == 2 ? pixel_taps : 0);
    const ptrdiff_t second_offset = offset + (block.rows == 2 ? strip.pixel_stride : 0);
    for (size_t channel = 0; channel < strip.channels; channel += block.columns) {
      const size_t lanes = strip.channels - channel < most ? strip.channels - channel : most;
      block.columns = lanes;
      block.first = channel;
      block.out = out + channel;
      // 16 registers of sums, four of weights and four of inputs.
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

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  const size_t together = pixels_of_vector(strip);
  const size_t done = together > 1 ? convolve_together(strip, together) : 0;
  if (done < strip.pixels) convolve(strip, done);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
