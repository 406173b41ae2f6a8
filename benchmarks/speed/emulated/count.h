// SPDX-License-Identifier: BSD-3-Clause
// count_module PROGRAM INPUTS OUTPUTS: one execution of `forward` on one thread between two marks for
// benchmarks/ukernel/count_plugin.cpp, after an empty pair of marks. INPUTS and OUTPUTS are the bytes of the
// tensors, one after the other. count_rushlight.cpp runs it on rushlight, count_executorch.cpp on the
// official runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace counting {

// Executions before the one that counts: the first ones pack weights and choose what runs in parallel.
constexpr int kWarmUps = 2;

// The plugin knows the call by its first argument; 1 begins, 2 ends.
inline void mark(long edge) { syscall(SYS_getpid, 0x726c6d6bL, edge); }

// Executes between marks; `execute` returns true if it succeeds.
template <typename Execute>
bool count(const Execute& execute) {
  mark(1);
  mark(2);
  for (int i = 0; i < kWarmUps; ++i) {
    if (!execute()) return false;
  }
  mark(1);
  const bool done = execute();
  mark(2);
  return done;
}

inline int fail(const char* what, int error) {
  std::fprintf(stderr, "%s: error %d\n", what, error);
  return 1;
}

// The bytes of the inputs, tensor by tensor.
class Inputs {
 public:
  explicit Inputs(const char* path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  // The next `size` bytes, fewer at the end.
  std::vector<uint8_t> next(size_t size) {
    const size_t end = size < bytes_.size() - at_ ? at_ + size : bytes_.size();
    std::vector<uint8_t> part(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                              bytes_.begin() + static_cast<std::ptrdiff_t>(end));
    at_ = end;
    return part;
  }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

}  // namespace counting
