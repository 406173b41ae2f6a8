// SPDX-License-Identifier: BSD-3-Clause
// Tests which variants a processor supports, given its feature words, and which of them is chosen.
#include "kernels/ukernel/variants.h"

#if RUSHLIGHT_UKERNEL_VARIANTS

#include <cstdlib>

#include <gtest/gtest.h>

#include "kernels/ukernel/detect.h"

namespace rushlight::ukernel {
namespace {

// The bit of a variant.
constexpr uint32_t set_of(Variant variant) { return 1u << static_cast<int>(variant); }
constexpr uint32_t kNative = set_of(Variant::Native);

#if defined(__x86_64__)

constexpr uint32_t kAvx2 = set_of(Variant::Avx2), kAvxvnni = set_of(Variant::Avxvnni);
constexpr uint32_t kAvx512 = set_of(Variant::Avx512), kAvx512vnni = set_of(Variant::Avx512vnni);
constexpr uint32_t kAvx512bf16 = set_of(Variant::Avx512bf16);

// FMA, OSXSAVE, AVX and F16C.
constexpr uint32_t kFirst = 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29;
// AVX2; with F, DQ, BW and VL of AVX-512.
constexpr uint32_t kSeventh = 1u << 5;
constexpr uint32_t kSeventhWide = kSeventh | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
constexpr uint32_t kYmm = 0x7, kZmm = 0xe7;

// A processor with these feature words; all other bits are 0.
struct Said {
  uint32_t first_ecx = kFirst;
  uint32_t seventh_ebx = kSeventh;
  uint32_t seventh_ecx = 0;
  uint32_t seventh_1_eax = 0;
  uint32_t saved = kYmm;

  [[nodiscard]] Cpu::Registers cpuid(uint32_t leaf, uint32_t subleaf) const {
    if (leaf == 1) return {0, 0, first_ecx, 0};
    if (leaf == 7 && subleaf == 0) return {0, seventh_ebx, seventh_ecx, 0};
    if (leaf == 7 && subleaf == 1) return {seventh_1_eax, 0, 0, 0};
    return {};
  }
  [[nodiscard]] uint32_t xcr0() const { return saved; }
};

TEST(Detection, Haswell_RunsAvx2) { EXPECT_EQ(runnable_variants(Said{}), kNative | kAvx2); }

TEST(Detection, SkylakeServer_RunsAvx512WithoutProductsOfInt8) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 0, 0, kZmm}), kNative | kAvx2 | kAvx512);
}

TEST(Detection, IceLake_RunsAvx512Vnni) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 1u << 11, 0, kZmm}),
            kNative | kAvx2 | kAvx512 | kAvx512vnni);
}

TEST(Detection, AlderLake_RunsAvxVnni) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventh, 0, 1u << 4, kYmm}), kNative | kAvx2 | kAvxvnni);
}

TEST(Detection, CooperLake_RunsAvx512Bf16) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 1u << 11, 1u << 5, kZmm}),
            kNative | kAvx2 | kAvx512 | kAvx512vnni | kAvx512bf16);
}

TEST(Detection, SapphireRapids_RunsAll) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 1u << 11, 1u << 4 | 1u << 5, kZmm}),
            kNative | kAvx2 | kAvxvnni | kAvx512 | kAvx512vnni | kAvx512bf16);
}

TEST(Detection, RegistersThatTheSystemDoesNotSave_AreNotUsed) {
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 1u << 11, 0, kYmm}), kNative | kAvx2);
  EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide, 1u << 11, 1u << 4, 0x3}), kNative);
}

TEST(Detection, EveryBitThatIsMissing_IsMissed) {
  for (const int bit : {12, 27, 28, 29}) {
    EXPECT_EQ(runnable_variants(Said{kFirst & ~(1u << bit), kSeventhWide, 1u << 11, 1u << 4, kZmm}), kNative);
  }
  for (const int bit : {16, 17, 30, 31}) {
    EXPECT_EQ(runnable_variants(Said{kFirst, kSeventhWide & ~(1u << bit), 1u << 11, 0, kZmm}),
              kNative | kAvx2);
  }
}

TEST(Detection, ThisMachine_AsTheCompilersLibrarySays) {
  const uint32_t runnable = runnable_variants(Cpu{});
  const bool runs_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool runs_avx512 = runs_avx2 && __builtin_cpu_supports("avx512bw") != 0 &&
                           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  EXPECT_EQ((runnable & kAvx2) != 0, runs_avx2);
  EXPECT_EQ((runnable & kAvx512) != 0, runs_avx512);
  EXPECT_EQ((runnable & kAvx512vnni) != 0, runs_avx512 && __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ((runnable & kAvx512bf16) != 0, runs_avx512 && __builtin_cpu_supports("avx512bf16") != 0);
}

TEST(Choice, AName_IsTakenIfTheMachineRunsIt) {
  const uint32_t runnable = kNative | kAvx2 | kAvx512;
  EXPECT_TRUE(choose_variant(runnable, nullptr) == Variant::Avx512);
  EXPECT_TRUE(choose_variant(runnable, "native") == Variant::Native);
  EXPECT_TRUE(choose_variant(runnable, "avx2") == Variant::Avx2);
  EXPECT_TRUE(choose_variant(runnable, "avxvnni") == Variant::Avx512);
  EXPECT_TRUE(choose_variant(runnable, "avx512vnni") == Variant::Avx512);
  EXPECT_TRUE(choose_variant(runnable, "") == Variant::Avx512);
}

#elif defined(__aarch64__)

constexpr uint32_t kDotprod = set_of(Variant::Dotprod), kFp16fml = set_of(Variant::Fp16fml);
constexpr uint32_t kI8mm = set_of(Variant::I8mm), kBf16 = set_of(Variant::Bf16);

struct Said {
  uint32_t first;
  uint32_t second = 0;
  [[nodiscard]] uint32_t hwcap() const { return first; }
  [[nodiscard]] uint32_t hwcap2() const { return second; }
};

TEST(Detection, Capabilities_GiveVariants) {
  constexpr uint32_t kHalf = 1u << 9 | 1u << 10 | 1u << 23, kDot = 1u << 20;
  constexpr uint32_t kInt8Products = 1u << 13, kBfloat16 = 1u << 14;
  EXPECT_EQ(runnable_variants(Said{0}), kNative);
  EXPECT_EQ(runnable_variants(Said{kHalf}), kNative);
  EXPECT_EQ(runnable_variants(Said{kDot}), kNative | kDotprod);
  EXPECT_EQ(runnable_variants(Said{kDot | 1u << 9 | 1u << 10}), kNative | kDotprod);
  EXPECT_EQ(runnable_variants(Said{kHalf | kDot}), kNative | kDotprod | kFp16fml);
  EXPECT_EQ(runnable_variants(Said{kDot, kInt8Products}), kNative | kDotprod);
  EXPECT_EQ(runnable_variants(Said{kHalf | kDot, kInt8Products}), kNative | kDotprod | kFp16fml | kI8mm);
  EXPECT_EQ(runnable_variants(Said{kHalf | kDot, kBfloat16}), kNative | kDotprod | kFp16fml);
  EXPECT_EQ(runnable_variants(Said{kHalf | kDot, kInt8Products | kBfloat16}),
            kNative | kDotprod | kFp16fml | kI8mm | kBf16);
}

#endif

TEST(Choice, ThisMachine_RunsWhatIsChosen) {
  EXPECT_TRUE((runnable_variants(Cpu{}) & set_of(variant())) != 0);
  EXPECT_TRUE(choose_variant(runnable_variants(Cpu{}), std::getenv("RUSHLIGHT_CPU")) == variant());
}

}  // namespace
}  // namespace rushlight::ukernel

#endif
