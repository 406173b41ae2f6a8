// SPDX-License-Identifier: BSD-3-Clause
// selfcheck MODE ARGUMENTS...; test_selfcheck.py has the modes and their expected results. Each mode checks
// one thing that the runner relies on: start-up code, memory banks, files, counters, exit status, faults. A
// failure is a fault of the board's port, not of the runtime.
#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "tests/device/selfcheck/memory_checks.h"

extern "C" const uint8_t rushlight_model_start[], rushlight_model_end[];

namespace {

namespace platform = rushlight::platform;

volatile uint32_t initialised[3] = {0x12345678, 0, 0x9abcdef0};
volatile uint8_t cleared[5000];
volatile double factor = 1.5;
volatile float huge = 1000.0f;

#ifdef SELFCHECK_STATIC_OBJECT
struct Constructed {
  Constructed() : value(static_cast<int>(huge)) {}
  int value;
} static_object;
#endif

int failed(const char* what) {
  platform::print_line(what);
  return 1;
}

void print_number(uint64_t value) {
  char text[21] = {};
  char* at = text + 20;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  platform::print_line(at);
}

// A conditional conversion, which a compiler for the Cortex-M55 translates wrongly.
__attribute__((noinline)) float add_unless_zero(float value, double more) {
  return value != 0 ? static_cast<float>(more + value) : value;
}

// Checks the state that a program may rely on when main() begins.
int check_start() {
  if (initialised[0] != 0x12345678 || initialised[2] != 0x9abcdef0) return failed(".data is not in place");
  for (const volatile uint8_t& byte : cleared) {
    if (byte != 0) return failed(".bss is not cleared");
  }
  const float single = static_cast<float>(factor) * huge;
  if (single != 1500.0f || factor * factor != 2.25) return failed("floating point is wrong");
  if (add_unless_zero(single, factor) != 1501.5f || add_unless_zero(0, factor) != 0) {
    return failed("conversion is wrong");
  }
  if (!(std::exp(huge) > 1e38f)) return failed("the mathematics library is wrong");
  errno = 0;
  if (std::strtol("99999999999999999999", nullptr, 10) != LONG_MAX || errno != ERANGE) {
    return failed("errno is not set");
  }
  return 0;
}

// Claims `large` bytes of the large bank and `small` of the fast one.
int check_memory(size_t large, size_t small) {
  const rushlight::Span<uint8_t> first = platform::claim_memory(100);
  const rushlight::Span<uint8_t> second = platform::claim_memory(large);
  if (first.size() != 100 || second.size() != large) return failed("no memory");
  if (reinterpret_cast<uintptr_t>(second.data()) % 16 != 0) return failed("memory is not aligned");
  std::memset(first.data(), 1, first.size());
  std::memset(second.data(), 2, second.size());
  if (first[0] != 1 || first[99] != 1 || second[0] != 2 || second[large - 1] != 2) {
    return failed("memory overlaps");
  }
  const rushlight::Span<uint8_t> fast = platform::claim_memory(small, platform::Bank::Fast);
  if (fast.size() != small) return failed("no fast memory");
  std::memset(fast.data(), 3, fast.size());
  if (first[0] != 1 || second[0] != 2 || second[large - 1] != 2 || initialised[0] != 0x12345678) {
    return failed("fast memory overlaps");
  }
  if (!platform::claim_memory(SIZE_MAX - 65535, platform::Bank::Fast).empty()) {
    return failed("more fast memory than there is");
  }
  if (!platform::claim_memory(SIZE_MAX - 65535).empty()) return failed("more memory than there is");
  const char* mistake = find_memory_mistake();
  return mistake == nullptr ? 0 : failed(mistake);
}

int check_model() {
  const auto size = static_cast<size_t>(rushlight_model_end - rushlight_model_start);
  if (reinterpret_cast<uintptr_t>(rushlight_model_start) % 16 != 0) return failed("model is not aligned");
  if (size != 17 || std::memcmp(rushlight_model_start, "sixteen bytes in\n", size) != 0) {
    return failed("model is not what was embedded");
  }
  return 0;
}

// argv: input, output
int copy_file(char** paths) {
  const int input = platform::file_open(paths[0], platform::FileMode::Read);
  if (input < 0) return failed("input cannot be opened");
  const long size = platform::file_size(input);
  const rushlight::Span<uint8_t> memory = platform::claim_memory(static_cast<size_t>(size));
  // Asks for one byte more than the file has.
  if (platform::file_read(input, memory.data(), memory.size() + 1) != memory.size()) return failed("read");
  platform::file_close(input);
  const int output = platform::file_open(paths[1], platform::FileMode::Write);
  if (output < 0) return failed("output cannot be opened");
  if (platform::file_write(output, memory.data(), memory.size()) != memory.size()) return failed("write");
  platform::file_close(output);
  return 0;
}

// A loop of two instructions, on processors for which the assembly is known.
__attribute__((noinline)) void spin(uint32_t loops) {
#if defined(__thumb__) && !defined(__linux__)
  asm volatile(".syntax unified\n0: subs %0, #1\n bne 0b" : "+r"(loops) : : "cc");
#elif defined(__riscv) && !defined(__linux__)
  asm volatile("0: addi %0, %0, -1\n bnez %0, 0b" : "+r"(loops));
#else
  while (loops-- > 0) asm volatile("");
#endif
}

// Prints the instructions of 1,000 and of 20,000,000 iterations, then the nanoseconds of both.
int count() {
  const uint64_t begin = platform::now_ns();
  constexpr uint32_t kLoops[] = {1000, 20000000};
  for (const uint32_t loops : kLoops) {
    const uint64_t before = platform::instruction_count();
    spin(loops);
    print_number(platform::instruction_count() - before);
  }
  print_number(platform::now_ns() - begin);
  return 0;
}

// The counter and the clock are monotonic over several wraps of the underlying timers.
int check_monotony() {
  uint64_t last_count = 0;
  uint64_t last_ns = 0;
  for (int i = 0; i < 200000; ++i) {
    const uint64_t count = platform::instruction_count();
    const uint64_t ns = platform::now_ns();
    if (count < last_count || ns < last_ns) return failed("time steps back");
    last_count = count;
    last_ns = ns;
    spin(static_cast<uint32_t>(i % 37 + 1));
  }
  return 0;
}

__attribute__((noinline)) int overflow(int depth) {
  volatile uint8_t frame[1000];
  frame[0] = static_cast<uint8_t>(depth);
  return (depth < 100000 ? overflow(depth + 1) : 0) + frame[0];
}

// Prints the peak stack use: before and after a frame of 2,000 bytes, of which the end is used.
__attribute__((noinline)) void use_stack() {
  uint8_t frame[2000];
  frame[0] = 1;
  asm volatile("" : : "r"(frame) : "memory");  // the compiler assumes that all of it is read
}

int measure_stack() {
  print_number(platform::stack_peak());
  use_stack();
  print_number(platform::stack_peak());
  return 0;
}

// Reads a word at an unaligned address.
int read_unaligned() {
  uintptr_t address = reinterpret_cast<uintptr_t>(cleared) + 1;
  asm volatile("" : "+r"(address));  // hides the address from the compiler
  return static_cast<int>(*reinterpret_cast<volatile uint32_t*>(address | 1));
}

// Atomic operations, which a core without instructions for them does in functions.
int check_atomic() {
  static std::atomic<uint32_t> number;
  if (number.fetch_add(3) != 0 || number.exchange(7) != 3) return failed("fetch_add or exchange is wrong");
  uint32_t expected = 6;
  if (number.compare_exchange_strong(expected, 9) || expected != 7) return failed("another value exchanged");
  if (!number.compare_exchange_strong(expected, 9) || number != 9) return failed("value not exchanged");
  return 0;
}

int run(int argc, char** argv) {
  const auto mode = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  if (argc < 2) return failed("no mode");
  if (mode("start")) return check_start();
  if (mode("memory") && argc == 4) {
    return check_memory(static_cast<size_t>(std::atoi(argv[2])), static_cast<size_t>(std::atoi(argv[3])));
  }
  if (mode("atomic")) return check_atomic();
  if (mode("model")) return check_model();
  if (mode("copy") && argc == 4) return copy_file(argv + 2);
  if (mode("count")) return count();
  if (mode("stack")) return measure_stack();
  if (mode("monotony")) return check_monotony();
  if (mode("status") && argc == 3) return std::atoi(argv[2]);
  if (mode("overflow")) return overflow(0);
  if (mode("abort")) platform::abort();
  if (mode("fault")) *reinterpret_cast<volatile uint32_t*>(uintptr_t{0xe8000000} + 0x1000) = 1;
  if (mode("unaligned")) return read_unaligned();
  if (mode("arguments")) {
    for (int i = 2; i < argc; ++i) platform::print_line(argv[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  platform::init();
  return run(argc, argv);
}
