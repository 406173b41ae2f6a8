// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <ctime>
#include <map>

#include "benchmarks/ukernel/bench.h"

namespace rushlight::bench {

namespace {

constexpr int kCount = 200'000;

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Operations of twelve sums that do not wait for each other: more than latency times units.
#define RL_OPERATIONS(name, vector_bytes, attribute)                                    \
  attribute double name() {                                                             \
    using Vec = float __attribute__((vector_size(vector_bytes)));                       \
    Vec x[12] = {};                                                                     \
    asm volatile("" : "+m"(x)); /* no two are known to be equal */                      \
    Vec a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7]; \
    Vec i = x[8], j = x[9], k = x[10], l = x[11];                                       \
    const Vec y = x[0];                                                                 \
    for (int n = 0; n < kCount; ++n) {                                                  \
      a = a * y + y, b = b * y + y, c = c * y + y, d = d * y + y, e = e * y + y;        \
      f = f * y + y, g = g * y + y, h = h * y + y, i = i * y + y, j = j * y + y;        \
      k = k * y + y, l = l * y + y;                                                     \
    }                                                                                   \
    x[0] = a + b + c + d + e + f + g + h + i + j + k + l;                               \
    asm volatile("" : "+m"(x));                                                         \
    return 2.0 * 12 * kCount * (vector_bytes / sizeof(float));                          \
  }

RL_OPERATIONS(native, 16, )
#if defined(__x86_64__)
RL_OPERATIONS(avx2, 32, __attribute__((target("avx2,fma"))))
RL_OPERATIONS(avx512, 64, __attribute__((target("avx512f"))))
#endif

double measure(double (*operations)()) {
  double best = 0;
  for (int run = 0; run < 60; ++run) {
    const double start = now();
    const double count = operations();
    best = std::max(best, count / (now() - start));
  }
  return best;
}

}  // namespace

double peak(const std::string& variant) {
  static std::map<std::string, double> known;
  double& found = known[variant];
  if (found > 0) return found;
#if defined(__x86_64__)
  if (variant == "avx2") return found = measure(avx2);
  if (variant == "avx512") return found = measure(avx512);
#endif
  return found = measure(native);
}

}  // namespace rushlight::bench
