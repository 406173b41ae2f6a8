// SPDX-License-Identifier: BSD-3-Clause
// Memory between two protected pages, for code that must not read or write past its arrays: a test that does
// so crashes at once. Elements end at the page after them, or with Edge::kFront begin after the page before
// them. Machines without memory protection surround the elements with bytes 0xff (NaN as floats):
// out-of-bounds reads show in results, and writes are found when the memory is freed.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace rushlight::testing {

// The side of the elements that adjoins a protected page.
enum class Edge { kFront, kBack };

// An array of `count` elements of T, which needs no construction. With Edge::kBack the array is aligned to
// sizeof(T) only.
//
//   Guarded<float> out(7);               // out[7] faults
//   Guarded<float> in(7, Edge::kFront);  // in[-1] faults
template <class T>
class Guarded {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // All elements are zero.
  explicit Guarded(size_t count, [[maybe_unused]] Edge edge = Edge::kBack) : count_(count) {
#if defined(__linux__)
    // One mapping: a protected page, whole pages that hold the elements, a protected page.
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = count * sizeof(T);
    const size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* all = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    base_ = static_cast<char*>(all);
    if (inner != 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = reinterpret_cast<T*>(base_ + page + (edge == Edge::kBack ? inner - bytes : 0));
#else
    size_ = count * sizeof(T) + 2 * kAround;
    base_ = static_cast<char*>(std::malloc(size_));
    if (base_ == nullptr) std::abort();
    std::memset(base_, 0xff, size_);
    data_ = reinterpret_cast<T*>(base_ + kAround);
    std::memset(data_, 0, count * sizeof(T));
#endif
  }
  ~Guarded() {
#if defined(__linux__)
    munmap(base_, size_);
#else
    // Writes on either side have changed the pattern.
    for (size_t i = 0; i < kAround; ++i) {
      if (base_[i] != static_cast<char>(0xff) || base_[size_ - 1 - i] != static_cast<char>(0xff)) {
        std::puts("written outside of what was given");
        std::abort();
      }
    }
    std::free(base_);
#endif
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] size_t size() const { return count_; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + count_; }
  [[nodiscard]] T& operator[](size_t i) { return data_[i]; }
  [[nodiscard]] const T& operator[](size_t i) const { return data_[i]; }

 private:
  // Bytes of 0xff on each side.
  static constexpr size_t kAround = 256;

  size_t count_;
  size_t size_ = 0;
  char* base_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace rushlight::testing
