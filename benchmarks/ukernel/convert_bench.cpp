// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/convert.h"
#include "kernels/ukernel/reference/convert.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Conversions {
  const char* name;
  void (*from_half)(size_t, const uint16_t*, float*);
  void (*to_half)(size_t, const float*, uint16_t*);
  void (*to_bfloat16)(size_t, const float*, uint16_t*);
  void (*from_u8)(size_t, const uint8_t*, float*);
  void (*to_i32)(size_t, const float*, int32_t*);
  void (*quantize)(size_t, const float*, const ukernel::Quantization&, int8_t*);
  void (*dequantize)(size_t, const int8_t*, float, float, float*);
};
RL_EXACT_VARIANTS(Conversions, variants, half_to_f32, f32_to_half, f32_to_bfloat16, u8_to_f32, f32_to_i32,
                  quantize_i8, dequantize_i8)

constexpr int kHalf = 10, kBfloat16 = 7;  // bits of their fractions

void from_half(size_t n, const uint16_t* x, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = ukernel::reference::value_of(x[i], kHalf);
}
template <int kFraction>
void to_bits(size_t n, const float* x, uint16_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = ukernel::reference::bits_of(x[i], kFraction);
}
void from_u8(size_t n, const uint8_t* x, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i]);
}
void to_i32(size_t n, const float* x, int32_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = ukernel::reference::whole<int32_t>(x[i]);
}
void quantize(size_t n, const float* x, const ukernel::Quantization& how, int8_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = ukernel::reference::quantize<int8_t>(x[i], how);
}
void dequantize(size_t n, const int8_t* x, float scale, float zero_point, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = ukernel::reference::dequantize(x[i], scale, zero_point);
}

}  // namespace

RL_BENCHMARK(convert, bench) {
  constexpr size_t kCount = 2048;
  const bench::Floats x = bench::some_floats(kCount);
  bench::Floats out(kCount);
  std::vector<uint16_t> halves(kCount);
  std::vector<uint8_t> bytes(kCount);
  std::vector<int8_t> quantized(kCount);
  std::vector<int32_t> whole(kCount);
  to_bits<kHalf>(kCount, x.data(), halves.data());
  std::memcpy(bytes.data(), x.data(), kCount);
  const ukernel::Quantization how{100.0f, 3.0f, -128.0f, 127.0f};
  const Conversions reference{"reference", from_half, to_bits<kHalf>, to_bits<kBfloat16>,
                              from_u8,     to_i32,    quantize,       dequantize};
  for (const Conversions& each : bench::with_reference(variants(), reference)) {
    const auto time = [&](const char* name, double bytes_each, auto call) {
      bench.time({std::string("convert 2048 ") + name, each.name, 0, bytes_each * kCount}, call);
    };
    time("half to float32", 6, [&] { each.from_half(kCount, halves.data(), out.data()); });
    time("float32 to half", 6, [&] { each.to_half(kCount, x.data(), halves.data()); });
    time("float32 to bfloat16", 6, [&] { each.to_bfloat16(kCount, x.data(), halves.data()); });
    time("uint8 to float32", 5, [&] { each.from_u8(kCount, bytes.data(), out.data()); });
    time("float32 to int32", 8, [&] { each.to_i32(kCount, x.data(), whole.data()); });
    time("quantized to int8", 5, [&] { each.quantize(kCount, x.data(), how, quantized.data()); });
    time("dequantized from int8", 5,
         [&] { each.dequantize(kCount, quantized.data(), 0.01f, 3.0f, out.data()); });
  }
}
