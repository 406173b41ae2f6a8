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

// Twelve independent sums: more than latency times execution units.
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

#if defined(__x86_64__)
// The same for int8: one instruction `asm` for each vector of 32-bit sums, with two vector operands and
// `products` products a lane. If a separate instruction adds to the sums, the products need a further vector,
// which the sums use alternately.
#define RL_INTEGER_OPERATIONS(name, vector_bytes, products, attribute, add)             \
  attribute double name() {                                                             \
    using Vec = int32_t __attribute__((vector_size(vector_bytes)));                     \
    Vec x[12] = {};                                                                     \
    asm volatile("" : "+m"(x)); /* no two are known to be equal */                      \
    Vec a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7]; \
    Vec i = x[8], j = x[9], k = x[10], l = x[11], t = x[0], u = x[1], v = x[2];         \
    const Vec y = x[0];                                                                 \
    for (int n = 0; n < kCount; ++n) {                                                  \
      add(a, b, c) add(d, e, f) add(g, h, i) add(j, k, l)                               \
    }                                                                                   \
    x[0] = a + b + c + d + e + f + g + h + i + j + k + l + t + u + v;                   \
    asm volatile("" : "+m"(x));                                                         \
    return 2.0 * 12 * kCount * products;                                                \
  }
#define RL_ADD_PAIRS_SSE2(p, q, r)                                             \
  asm("movdqa %6, %3\n\tpmaddwd %6, %3\n\tmovdqa %6, %4\n\tpmaddwd %6, %4\n\t" \
      "movdqa %6, %5\n\tpmaddwd %6, %5\n\t"                                    \
      "paddd %3, %0\n\tpaddd %4, %1\n\tpaddd %5, %2"                           \
      : "+x"(p), "+x"(q), "+x"(r), "=&x"(t), "=&x"(u), "=&x"(v)                \
      : "x"(y));
#define RL_ADD_PAIRS(p, q, r)                                                 \
  asm("vpmaddwd %6, %6, %3\n\tvpmaddwd %6, %6, %4\n\tvpmaddwd %6, %6, %5\n\t" \
      "vpaddd %3, %0, %0\n\tvpaddd %4, %1, %1\n\tvpaddd %5, %2, %2"           \
      : "+v"(p), "+v"(q), "+v"(r), "=&v"(t), "=&v"(u), "=&v"(v)               \
      : "v"(y));
#define RL_ADD_DOT_VEX(p, q, r)                                                                   \
  asm("%{vex%} vpdpbusd %3, %3, %0\n\t%{vex%} vpdpbusd %3, %3, %1\n\t%{vex%} vpdpbusd %3, %3, %2" \
      : "+x"(p), "+x"(q), "+x"(r)                                                                 \
      : "x"(y));
#define RL_ADD_DOT(p, q, r)                                               \
  asm("vpdpbusd %3, %3, %0\n\tvpdpbusd %3, %3, %1\n\tvpdpbusd %3, %3, %2" \
      : "+v"(p), "+v"(q), "+v"(r)                                         \
      : "v"(y));

RL_INTEGER_OPERATIONS(native_int8, 16, 8, , RL_ADD_PAIRS_SSE2)
RL_INTEGER_OPERATIONS(avx2_int8, 32, 16, __attribute__((target("avx2"))), RL_ADD_PAIRS)
RL_INTEGER_OPERATIONS(avxvnni_int8, 32, 32, __attribute__((target("avx2"))), RL_ADD_DOT_VEX)
RL_INTEGER_OPERATIONS(avx512_int8, 64, 32, __attribute__((target("avx512f,avx512bw"))), RL_ADD_PAIRS)
RL_INTEGER_OPERATIONS(avx512vnni_int8, 64, 64, __attribute__((target("avx512f,avx512bw"))), RL_ADD_DOT)
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

double integer_peak(const std::string& variant) {
  static std::map<std::string, double> known;
  double& found = known[variant];
  if (found > 0) return found;
#if defined(__x86_64__)
  if (variant == "avx2") return found = measure(avx2_int8);
  if (variant == "avxvnni") return found = measure(avxvnni_int8);
  if (variant == "avx512") return found = measure(avx512_int8);
  if (variant == "avx512vnni") return found = measure(avx512vnni_int8);
  return found = measure(native_int8);
#else
  return found = measure(native);  // elsewhere the share is of the float32 peak
#endif
}

}  // namespace rushlight::bench
