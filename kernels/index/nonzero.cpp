// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/nonzero.h"

#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Bits are an unsigned integer of the element's width; the shift removes the sign bit.
template <class Bits>
void find(const char* source, ptrdiff_t stride, unsigned shift, size_t n, uint8_t* set) {
#ifndef __OPTIMIZE_SIZE__
  if (stride == static_cast<ptrdiff_t>(sizeof(Bits))) {  // compilers vectorize this loop
    const auto* const bits = reinterpret_cast<const Bits*>(source);
    for (size_t i = 0; i < n; ++i) set[i] = static_cast<Bits>(bits[i] << shift) != 0 ? 1 : 0;
    return;
  }
#endif
  for (size_t i = 0; i < n; ++i, source += stride) {
    set[i] = static_cast<Bits>(*reinterpret_cast<const Bits*>(source) << shift) != 0 ? 1 : 0;
  }
}

void find_bits(const char* source, ptrdiff_t stride, size_t element, unsigned shift, size_t n, uint8_t* set) {
  switch (element) {
    case 1:
      return find<uint8_t>(source, stride, shift, n, set);
    case 2:
      return find<uint16_t>(source, stride, shift, n, set);
    case 4:
      return find<uint32_t>(source, stride, shift, n, set);
    default:
      return find<uint64_t>(source, stride, shift, n, set);
  }
}

}  // namespace

void find_set(const char* source, ptrdiff_t stride, ScalarType type, size_t n, uint8_t* set) {
  const bool is_pair = is_complex(type);
  const size_t element = element_size(type) / (is_pair ? 2 : 1);
  const unsigned shift = is_pair || is_floating(type) ? 1 : 0;
  if (!is_pair) return find_bits(source, stride, element, shift, n, set);
  // A complex element is tested as two floating ones, some elements at a time.
  constexpr size_t kLength = 32;
  uint8_t imag[kLength];
  for (size_t first = 0; first < n; first += kLength) {
    const size_t length = n - first < kLength ? n - first : kLength;
    const char* const at = source + static_cast<ptrdiff_t>(first) * stride;
    find_bits(at, stride, element, shift, length, set + first);
    find_bits(at + element, stride, element, shift, length, imag);
    for (size_t i = 0; i < length; ++i) set[first + i] |= imag[i];
  }
}

size_t count_set(const Tensor& self) {
  constexpr size_t kLength = 128;
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

}  // namespace rushlight::kernels
