// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/ukernel/variants.h"

namespace rushlight::bench {

namespace {

constexpr int kRuns = 25;
constexpr double kRunSeconds = 4e-3;
constexpr double kMostCounted = 5e7;  // most operations of a counted call, in an emulator

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double run_once(size_t calls, void (*call)(void*), void* context) {
  const double start = now();
  for (size_t i = 0; i < calls; ++i) call(context);
  return now() - start;
}

// A system call that the plugin recognizes by its argument.
void mark(long edge) { syscall(SYS_getpid, 0x726c6d6bL, edge); }

void print_counted(const Case& what) {
  std::printf("%s\t%s\t%.0f\t%.0f\n", what.name.c_str(), what.variant.c_str(), what.flops, what.bytes);
}

double peak_of(const Case& what) { return what.is_integer ? integer_peak(what.variant) : peak(what.variant); }

void print(const Timing& timing) {
  const Case& what = timing.what;
  std::printf("%-36s %-10s %12.1f ns", what.name.c_str(), what.variant.c_str(), timing.seconds * 1e9);
  if (what.flops > 0) {
    const double speed = what.flops / timing.seconds;
    std::printf(" %8.1f %s %5.1f %%", speed * 1e-9, what.is_integer ? "GOP/s" : "GFLOP/s",
                100 * speed / peak_of(what));
  }
  if (what.bytes > 0) std::printf(" %8.1f GB/s", what.bytes / timing.seconds * 1e-9);
  std::printf("\n");
}

void print_json(const std::vector<Timing>& timings) {
  std::printf("[");
  const char* separator = "\n";
  for (const Timing& each : timings) {
    std::printf(
        "%s  {\"name\": \"%s\", \"variant\": \"%s\", \"seconds\": %.4g, \"flops\": %.0f, \"bytes\": %.0f, "
        "\"peak_flops\": %.4g}",
        separator, each.what.name.c_str(), each.what.variant.c_str(), each.seconds, each.what.flops,
        each.what.bytes, peak_of(each.what));
    separator = ",\n";
  }
  std::printf("\n]\n");
}

}  // namespace

void Bench::run(const Case& what, void (*call)(void*), void* context) {
  if (counts_) {
    if (what.flops > kMostCounted) return;
    call(context);  // selects the variant, fills tables
    mark(1);
    call(context);
    mark(2);
    timings_.push_back({what, 0});
    return;
  }
  size_t calls = 1;
  while (run_once(calls, call, context) < kRunSeconds) calls *= 2;
  Timing timing{what, 1e9};
  for (int i = 0; i < kRuns; ++i) {
    timing.seconds = std::min(timing.seconds, run_once(calls, call, context) / static_cast<double>(calls));
  }
  timings_.push_back(timing);
}

std::vector<Family>& families() {
  static std::vector<Family> all;
  return all;
}

Floats some_floats(size_t count) {
  Floats floats(count);
  uint32_t state = 1;
  for (float& each : floats) {
    state = state * 1664525u + 1013904223u;
    each = static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f;
  }
  return floats;
}

Bytes some_bytes(size_t count) {
  Bytes bytes(count);
  uint32_t state = 1;
  for (int8_t& each : bytes) {
    state = state * 1664525u + 1013904223u;
    each = static_cast<int8_t>(state >> 24);
  }
  return bytes;
}

}  // namespace rushlight::bench

// ukernel_bench [--json | --count] [part of a name]
int main(int argc, char** argv) {
  using namespace rushlight::bench;
  bool json = false;
  bool counts = false;
  std::string filter;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (std::strcmp(argv[i], "--count") == 0) {
      counts = true;
    } else {
      filter = argv[i];
    }
  }
  std::sort(families().begin(), families().end(),
            [](const Family& a, const Family& b) { return std::strcmp(a.name, b.name) < 0; });
#if RUSHLIGHT_UKERNEL_VARIANTS
  std::fprintf(stderr, "variant of this machine: %s\n", rushlight::ukernel::variant_name());
#endif
  Bench bench(filter, counts);
  if (counts) bench.time({filter, "nothing"}, [] {});
  size_t printed = 0;
  for (const Family& family : families()) {
    family.run(bench);
    for (; printed < bench.timings().size() && !json; ++printed) {
      if (counts) {
        print_counted(bench.timings()[printed].what);
      } else {
        print(bench.timings()[printed]);
      }
    }
  }
  if (json) print_json(bench.timings());
  return 0;
}
