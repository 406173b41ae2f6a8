// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4F, M7F, M33F: eight channels with one load each of input and weight.
#define RL_OWN_CHANNELS
#include "kernels/ukernel/generic/patch_planes.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void add_channels(const ChannelSums& sums) {
  size_t c = 0;
  for (; sums.taps > 0 && c + 8 <= sums.channels; c += 8) {
    const float* const* in = sums.in;
    const float* const* weight = sums.weight;
    size_t left = sums.taps;
    const size_t offset = c * sizeof(float);
    const float *a, *b;
    asm volatile(
        "vldmia %[out], {s0-s7}\n"
        "1:\n"
        "ldr %[a], [%[in]], #4\n"
        "ldr %[b], [%[weight]], #4\n"
        "add %[a], %[offset]\n"
        "add %[b], %[offset]\n"
        "vldmia %[a], {s8-s15}\n"
        "vldmia %[b], {s16-s23}\n"
        "vfma.f32 s0, s8, s16\n vfma.f32 s1, s9, s17\n vfma.f32 s2, s10, s18\n vfma.f32 s3, s11, s19\n"
        "vfma.f32 s4, s12, s20\n vfma.f32 s5, s13, s21\n vfma.f32 s6, s14, s22\n vfma.f32 s7, s15, s23\n"
        "subs %[left], %[left], #1\n"
        "bne 1b\n"
        "vstmia %[out], {s0-s7}\n"
        : [in] "+r"(in), [weight] "+r"(weight), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b)
        : [out] "r"(sums.out + c), [offset] "r"(offset)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14",
          "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
  }
  for (; c < sums.channels; ++c) {
    float total = sums.out[c];
    for (size_t t = 0; t < sums.taps; ++t) total += sums.weight[t][c] * sums.in[t][c];
    sums.out[c] = total;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
