// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/nonzero.h"

#include <cstring>

#include "kernels/ukernel/loops.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Bits are an unsigned integer of the width of a part, of which an element has kParts; the shift removes the
// sign bit.
template <class Bits, size_t kParts>
[[gnu::always_inline]] inline uint8_t is_set(const Bits* parts, unsigned shift) {
  Bits bits = parts[0];
  if constexpr (kParts == 2) bits = static_cast<Bits>(bits | parts[1]);
  return static_cast<Bits>(bits << shift) != 0 ? 1 : 0;
}

#ifndef __OPTIMIZE_SIZE__
// Contiguous elements; compilers vectorize the loop.
template <class Bits, size_t kParts>
RL_LOOPS void find_dense(const Bits* parts, unsigned shift, size_t n, uint8_t* set) {
  for (size_t i = 0; i < n; ++i) set[i] = is_set<Bits, kParts>(parts + kParts * i, shift);
}
#endif

template <class Bits, size_t kParts = 1>
void find(const char* source, ptrdiff_t stride, unsigned shift, size_t n, uint8_t* set) {
#ifndef __OPTIMIZE_SIZE__
  if (stride == static_cast<ptrdiff_t>(kParts * sizeof(Bits)) && ukernel::runs_loops()) {
    return find_dense<Bits, kParts>(reinterpret_cast<const Bits*>(source), shift, n, set);
  }
#endif
  for (size_t i = 0; i < n; ++i, source += stride) {
    set[i] = is_set<Bits, kParts>(reinterpret_cast<const Bits*>(source), shift);
  }
}

// Writes the positions of ones among n <= kLength, and returns their number.
constexpr size_t kLength = 128;
size_t positions_of(const uint8_t* set, size_t n, uint8_t* found) {
  size_t count = 0;
  size_t i = 0;
#ifndef __OPTIMIZE_SIZE__
  // Eight zeros are skipped together.
  for (; n - i >= 8; i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, set + i, sizeof(eight));
    if (eight == 0) continue;
    for (size_t k = i; k < i + 8; ++k) {
      found[count] = static_cast<uint8_t>(k);
      count += set[k];
    }
  }
#endif
  // Without a branch, which would be mispredicted: the entry is overwritten unless the element is set.
  for (; i < n; ++i) {
    found[count] = static_cast<uint8_t>(i);
    count += set[i];
  }
  return count;
}

}  // namespace

void find_set(const char* source, ptrdiff_t stride, ScalarType type, size_t n, uint8_t* set) {
  const bool is_pair = is_complex(type);
  const size_t part = element_size(type) / (is_pair ? 2 : 1);
  const unsigned shift = is_pair || is_floating(type) ? 1 : 0;
  switch (part) {
    case 1:
      return find<uint8_t>(source, stride, shift, n, set);
    case 2:
      return is_pair ? find<uint16_t, 2>(source, stride, shift, n, set)
                     : find<uint16_t>(source, stride, shift, n, set);
    case 4:
      return is_pair ? find<uint32_t, 2>(source, stride, shift, n, set)
                     : find<uint32_t>(source, stride, shift, n, set);
    default:
      return is_pair ? find<uint64_t, 2>(source, stride, shift, n, set)
                     : find<uint64_t>(source, stride, shift, n, set);
  }
}

size_t count_set(const Tensor& self) {
  uint8_t set[kLength];
  size_t count = 0;
  // In memory order: the elements of a tensor are adjacent in any dim order.
  const char* source = self.const_data_ptr<char>();
  for (size_t left = self.numel(); left > 0;) {
    const size_t n = left < kLength ? left : kLength;
    find_set(source, static_cast<ptrdiff_t>(self.element_size()), self.scalar_type(), n, set);
    uint8_t some = 0;  // at most kLength
    for (size_t i = 0; i < n; ++i) some = static_cast<uint8_t>(some + set[i]);
    count += some;
    source += n * self.element_size();
    left -= n;
  }
  return count;
}

// Elements of a fiber differ in their last index alone: a fiber takes a division for each other dimension.
size_t write_set(const Tensor& self, size_t most, const Tensor& out) {
  if (self.numel() == 0) return 0;
  const View view = at_least_1d(self);
  const auto rank = static_cast<size_t>(self.dim());
  const ptrdiff_t steps[] = {byte_stride(out, 0), byte_stride(out, 1)};
  char* row = out.mutable_data_ptr<char>();
  size_t left = most;
  int64_t fiber = 0;
  static_cast<void>(for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    int64_t index[kTensorDimensionLimit];
    int64_t rest = fiber++;
    for (size_t d = view.dim - 1; d-- > 0; rest /= view.sizes[d]) index[d] = rest % view.sizes[d];
    uint8_t set[kLength];
    uint8_t found[kLength];
    const auto size = static_cast<size_t>(fibers[0].size);
    for (size_t first = 0; first < size; first += kLength) {
      const size_t n = size - first < kLength ? size - first : kLength;
      find_set(fibers[0].data + static_cast<ptrdiff_t>(first) * fibers[0].stride, fibers[0].stride, view.type,
               n, set);
      size_t count = positions_of(set, n, found);
      if (count > left) count = left;
      left -= count;
      for (size_t i = 0; i < count; ++i, row += steps[0]) {
        char* at = row;
        for (size_t d = 0; d + 1 < rank; ++d, at += steps[1]) *reinterpret_cast<int64_t*>(at) = index[d];
        if (rank != 0) *reinterpret_cast<int64_t*>(at) = static_cast<int64_t>(first + found[i]);
      }
    }
    return Error::Ok;
  }));
  return most - left;
}

}  // namespace rushlight::kernels
