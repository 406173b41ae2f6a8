// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4, M7 and M33: four channels, two taps at a time. The words of both taps are split into halves,
// whose bytes widen to the pairs that SMLAD multiplies. In assembler, so that everything stays in registers:
// 17 instructions for eight products.
#include <cstdint>
#include <cstring>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kGroup = 4;
constexpr size_t kTapBytes = 8;

// Assembler reads the members by their offsets.
struct Taps {
  const int8_t* const* in;
  const int32_t* weights;
  size_t channel;
  size_t taps;
  const int32_t* bias;
  int32_t* sums;  // a pixel in each of four rows that are 64 bytes apart
  const int32_t* sums_end;
};

inline Taps taps_of(const int8_t* weights, size_t taps, const int32_t* bias, const int8_t* const* in,
                    size_t channel) {
  return {in, reinterpret_cast<const int32_t*>(weights), channel, taps, bias, nullptr, nullptr};
}

// Any alignment: these cores load unaligned words.
inline uint32_t load(const int8_t* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
// Bytes 0 and 2 of a word, or 1 and 3.
inline uint32_t even_bytes(uint32_t word) {
  asm("sxtb16 %0, %0" : "+r"(word));
  return word;
}
inline uint32_t odd_bytes(uint32_t word) {
  asm("sxtb16 %0, %0, ror #8" : "+r"(word));
  return word;
}

// Packs the weights of two taps to one word for each channel, the first tap in the lower half; a missing tap
// is 0.
[[gnu::noinline]] inline void widen(const int8_t* weights, ptrdiff_t stride, size_t taps, int8_t* to) {
  auto* words = reinterpret_cast<uint32_t*>(to);
  for (; taps > 0; taps -= 2, weights += 2 * stride, words += 4) {
    const uint32_t first = load(weights);
    const uint32_t second = taps < 2 ? 0 : load(weights + stride);
    const uint32_t low = (first & 0xffff) | second << 16;
    const uint32_t high = first >> 16 | (second & 0xffff0000);
    words[0] = even_bytes(low);
    words[1] = odd_bytes(low);
    words[2] = even_bytes(high);
    words[3] = odd_bytes(high);
    if (taps < 2) break;
  }
}

// Uses all registers but sp: pointers to taps, weights, channel, count, four sums, bytes, widened bytes and
// weights, `work`.
[[gnu::naked, gnu::noinline]] void add_taps([[maybe_unused]] Taps& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "mov lr, r0\n"
      "ldr r0, [lr]\n"
      "1:\n"
      // The next pixel: sums start from the biases.
      "ldr r3, [lr, #16]\n"
      "ldmia r3, {r4-r7}\n"
      "ldr r1, [lr, #4]\n"
      "ldr r2, [lr, #8]\n"
      "ldr r3, [lr, #12]\n"
      "subs r3, r3, #2\n"
      "blt 3f\n"
      "2:\n"
      // Two taps of four channels.
      "ldr r8, [r0], #4\n"
      "ldr r9, [r0], #4\n"
      "ldr r8, [r8, r2]\n"
      "ldr r9, [r9, r2]\n"
      "pkhbt r10, r8, r9, lsl #16\n"
      "pkhtb r9, r9, r8, asr #16\n"
      "ldmia r1!, {r11, r12}\n"
      "sxtb16 r8, r10\n"
      "sxtb16 r10, r10, ror #8\n"
      "smlad r4, r8, r11, r4\n"
      "smlad r5, r10, r12, r5\n"
      "ldmia r1!, {r11, r12}\n"
      "sxtb16 r8, r9\n"
      "sxtb16 r9, r9, ror #8\n"
      "smlad r6, r8, r11, r6\n"
      "smlad r7, r9, r12, r7\n"
      "subs r3, r3, #2\n"
      "bge 2b\n"
      "3:\n"
      // The last tap of an odd number: its weights are paired with zeros, so that upper halves of the inputs
      // do not matter.
      "cmp r3, #-2\n"
      "beq 4f\n"
      "ldr r8, [r0], #4\n"
      "ldr r8, [r8, r2]\n"
      "ldmia r1, {r9-r12}\n"
      "sxtb16 r3, r8\n"
      "smlad r4, r3, r9, r4\n"
      "sxtb16 r3, r8, ror #8\n"
      "smlad r5, r3, r10, r5\n"
      "sxtb16 r3, r8, ror #16\n"
      "smlad r6, r3, r11, r6\n"
      "sxtb16 r3, r8, ror #24\n"
      "smlad r7, r3, r12, r7\n"
      "4:\n"
      // Stores the sums of four channels, 64 bytes apart.
      "ldrd r8, r9, [lr, #20]\n"
      "str r5, [r8, #64]\n"
      "str r6, [r8, #128]\n"
      "str r7, [r8, #192]\n"
      "str r4, [r8], #4\n"
      "str r8, [lr, #20]\n"
      "cmp r8, r9\n"
      "bne 1b\n"
      "str r0, [lr]\n"
      "pop {r4-r11, pc}\n");
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_depthwise_groups.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {
static_assert(kPixels * sizeof(int32_t) == 64);
}
