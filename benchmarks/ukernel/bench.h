// SPDX-License-Identifier: BSD-3-Clause
// Timing of microkernels: in <family>_bench.cpp
//
//   RL_VARIANTS(Gemm, variants, gemm_tile)           // tests/kernels/ukernel/variants_here.h
//   RL_BENCHMARK(gemm, bench) {
//     for (const Gemm& each : variants()) {
//       bench.time({"gemm 6x64x256", each.name, flops, bytes}, [&] { each.tile(tile); });
//     }
//   }
//
// A time is the least of several rounds, of the process's CPU time: other work on the machine disturbs that
// least. In QEMU, where times mean little, count.py counts the instructions of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace rushlight::bench {

struct Case {
  std::string name;
  std::string variant;  // native, avx2, avx512, neon; reference
  double flops = 0;     // operations of a call: of floats, or of int8 if is_integer
  double bytes = 0;     // read and written by a call
  bool is_integer = false;
};

struct Timing {
  Case what;
  double seconds = 0;
};

class Bench {
 public:
  // Runs only cases whose name contains `filter`. With `counts` each call is made once, between two marks for
  // count_plugin.cpp.
  Bench(std::string filter, bool counts) : filter_(std::move(filter)), counts_(counts) {}

  template <class Call>
  void time(const Case& what, Call call) {
    if (what.name.find(filter_) == std::string::npos) return;
    run(what, [](void* context) { (*static_cast<Call*>(context))(); }, &call);
  }

  [[nodiscard]] const std::vector<Timing>& timings() const { return timings_; }

 private:
  void run(const Case& what, void (*call)(void*), void* context);

  std::string filter_;
  bool counts_;
  std::vector<Timing> timings_;
};

// The peak multiply-adds of one core with the vectors of a variant, in operations a second: of float32, or of
// int8 with exact 32-bit sums.
[[nodiscard]] double peak(const std::string& variant);
[[nodiscard]] double integer_peak(const std::string& variant);

// The families of all files, in the order of their names.
struct Family {
  const char* name;
  void (*run)(Bench&);
};
std::vector<Family>& families();

struct Registration {
  Registration(const char* name, void (*run)(Bench&)) { families().push_back({name, run}); }
};

// Aligned as tensors and packed weights are.
template <class T>
struct Aligned {
  using value_type = T;
  static constexpr size_t kAlignment = 64;

  Aligned() = default;
  template <class Other>
  Aligned(const Aligned<Other>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T* data, size_t) { ::operator delete(data, std::align_val_t(kAlignment)); }
  bool operator==(const Aligned&) const { return true; }
  bool operator!=(const Aligned&) const { return false; }
};
using Floats = std::vector<float, Aligned<float>>;
using Bytes = std::vector<int8_t, Aligned<int8_t>>;

// Appends the reference to the variants of a family.
template <class T>
std::vector<T> with_reference(std::vector<T> variants, const T& reference) {
  variants.push_back(reference);
  return variants;
}

// Values between -1 and 1, always the same.
[[nodiscard]] Floats some_floats(size_t count);
// All values of int8, always the same.
[[nodiscard]] Bytes some_bytes(size_t count);

}  // namespace rushlight::bench

#define RL_BENCHMARK(family, bench)                                                         \
  static void run_##family(::rushlight::bench::Bench& bench);                               \
  static const ::rushlight::bench::Registration registered_##family(#family, run_##family); \
  static void run_##family(::rushlight::bench::Bench& bench)
