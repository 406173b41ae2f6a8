// SPDX-License-Identifier: BSD-3-Clause
// Limits of one core: clock, multiply-adds of each vector width, and copy bandwidth. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kRuns = 60;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The least time of several calls of `work`.
template <typename Work>
double least(Work work) {
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const double start = seconds();
    work();
    best = std::min(best, seconds() - start);
  }
  return best;
}

// A chain of dependent additions, one a cycle.
double gigahertz() {
  constexpr long kCount = 1'000'000;
  const double time = least([] {
    long sum = 1;
    for (long i = 0; i < kCount; ++i) {
      sum += 3;
      asm volatile("" : "+r"(sum));
    }
  });
  return kCount / time / 1e9;
}

// Twelve independent sums: more than latency times execution units.
#define RL_DEFINE_PEAK(name, bytes, attribute)                                            \
  attribute double name() {                                                               \
    using Vec = float __attribute__((vector_size(bytes)));                                \
    constexpr int kCount = 200'000;                                                       \
    float scale = 1.0f;                                                                   \
    asm volatile("" : "+m"(scale));                                                       \
    const Vec factor = Vec{} + scale;                                                     \
    Vec sums[12] = {};                                                                    \
    double best = 1e9;                                                                    \
    for (int run = 0; run < kRuns; ++run) {                                               \
      const double start = seconds();                                                     \
      Vec a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5];   \
      Vec g = sums[6], h = sums[7], i = sums[8], j = sums[9], k = sums[10], l = sums[11]; \
      for (int n = 0; n < kCount; ++n) {                                                  \
        a = a * factor + factor, b = b * factor + factor, c = c * factor + factor;        \
        d = d * factor + factor, e = e * factor + factor, f = f * factor + factor;        \
        g = g * factor + factor, h = h * factor + factor, i = i * factor + factor;        \
        j = j * factor + factor, k = k * factor + factor, l = l * factor + factor;        \
      }                                                                                   \
      sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = e, sums[5] = f;       \
      sums[6] = g, sums[7] = h, sums[8] = i, sums[9] = j, sums[10] = k, sums[11] = l;     \
      asm volatile("" : "+m"(sums));                                                      \
      best = std::min(best, seconds() - start);                                           \
    }                                                                                     \
    return 2.0 * 12 * kCount * (bytes / sizeof(float)) / best / 1e9;                      \
  }

RL_DEFINE_PEAK(peak_native, 16, )
#if defined(__x86_64__)
RL_DEFINE_PEAK(peak_avx2, 32, __attribute__((target("avx2,fma"))))
RL_DEFINE_PEAK(peak_avx512, 64, __attribute__((target("avx512f"))))
#endif

// Bytes read and written in a nanosecond.
double copy_bandwidth(size_t bytes) {
  std::vector<char> source(bytes, 1), destination(bytes, 2);
  const int calls = static_cast<int>(std::max<size_t>(1, (4u << 20) / bytes));
  const double time = least([&] {
    for (int call = 0; call < calls; ++call) {
      std::memcpy(destination.data(), source.data(), bytes);
      asm volatile("" : : "r"(destination.data()) : "memory");
    }
  });
  return 2.0 * static_cast<double>(bytes) * calls / time / 1e9;
}

}  // namespace

int main() {
  std::printf("{\"gigahertz\": %.3f, \"gflops\": {\"16 bytes\": %.1f", gigahertz(), peak_native());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) std::printf(", \"avx2\": %.1f", peak_avx2());
  if (__builtin_cpu_supports("avx512f")) std::printf(", \"avx512\": %.1f", peak_avx512());
#endif
  std::printf("}, \"copy_gigabytes\": {");
  std::printf("\"16 KiB\": %.1f, \"512 KiB\": %.1f, \"64 MiB\": %.1f}}\n", copy_bandwidth(16u << 10),
              copy_bandwidth(512u << 10), copy_bandwidth(64u << 20));
}
