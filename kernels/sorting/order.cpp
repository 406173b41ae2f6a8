// SPDX-License-Identifier: BSD-3-Clause
// Elements of all dtypes are compared by int64 keys, so sorts are compiled once: a radix sort in scratch
// memory, and heap selection and heapsort in the output itself.
#include "kernels/sorting/order.h"

#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kWholes = types::kIntegral | types::kUnsignedWide | types::kBool;
constexpr TypeSet kHeld = held_in(kConvertibleTypes & (types::kFloating | kWholes), Signs::kMatter);

// The bits of a float as an integer of its size with the same order; both zeros are 0.
template <class I, class T>
I ordered_bits(T value) {
  static_assert(sizeof(I) == sizeof(T));
  I bits;
  std::memcpy(&bits, &value, sizeof bits);
  // Floats are sign and magnitude: the difference reverses the order of negative ones, as two's complement
  // needs.
  constexpr I kLeast = std::is_same_v<I, int32_t> ? INT32_MIN : INT64_MIN;
  return bits < 0 ? kLeast - bits : bits;
}

// Keys of one dtype are comparable: 32-bit floats, 64-bit floats, signed integers, and uint64 with its
// highest bit inverted.
template <class T>
int64_t order_key(T value, bool descending, NanOrder nan) {
  int64_t key = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (is_nan(value)) return descending || nan == NanOrder::kFirst ? INT64_MIN : INT64_MAX;
    key = ordered_bits<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    key = static_cast<int64_t>(value ^ (uint64_t{1} << 63));
  } else {
    key = value;
  }
  // The complement reverses the order, and unlike negation never overflows.
  return descending ? ~key : key;
}

// Writes the first `values.size` elements of a fiber in order, and their indices.
class Ranking {
 public:
  Ranking(const Fiber& values, const Fiber& indices, ScalarType type, bool descending)
      : values_(values), indices_(indices), type_(type), size_(element_size(type)), descending_(descending) {}

  void rank(const Fiber& source) {
    const ptrdiff_t count = values_.size;
    if (count == 0) return;
    for (ptrdiff_t i = 0; i < count; ++i) put(i, entry(source, i, i));
    // A heap with the last element in order at the top, which is replaced by every element that precedes it.
    // Builds the heap from the bottom: O(count). Each of the other elements costs one comparison, and a sift
    // if it belongs to the first `count`.
    for (ptrdiff_t i = count / 2; i-- > 0;) sift(i, get(i), count);
    for (ptrdiff_t i = count; i < source.size; ++i) {
      const Entry next = entry(source, i, i);
      if (precedes(next, get(0))) sift(0, next, count);
    }
    // Heapsort: moves the last in order to the end, and repairs the heap in front of it.
    for (ptrdiff_t end = count - 1; end > 0; --end) {
      const Entry last = get(end);
      put(end, get(0));
      sift(0, last, end);
    }
  }

 private:
  struct Entry {
    int64_t key;
    int64_t index;
    char value[8];
  };

  [[nodiscard]] Entry entry(const Fiber& fiber, ptrdiff_t at, int64_t index) const {
    Entry entry;
    entry.index = index;
    const char* const value = fiber.data + at * fiber.stride;
    copy_elements(entry.value, 0, value, 0, 1, size_);
    order_keys(value, 0, type_, 1, descending_, NanOrder::kAsLargest, &entry.key);
    return entry;
  }
  [[nodiscard]] Entry get(ptrdiff_t i) const { return entry(values_, i, indices_.at<int64_t>(i)); }
  void put(ptrdiff_t i, const Entry& entry) const {
    copy_elements(values_.data + i * values_.stride, 0, entry.value, 0, 1, size_);
    indices_.at<int64_t>(i) = entry.index;
  }

  // Equal keys are ordered by index, which makes the sort stable.
  static bool precedes(const Entry& a, const Entry& b) {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }

  // Inserts `entry` into the heap of `size` entries whose position `at` is free.
  void sift(ptrdiff_t at, const Entry& entry, ptrdiff_t size) const {
    while (2 * at + 1 < size) {
      ptrdiff_t child = 2 * at + 1;
      Entry below = get(child);
      if (child + 1 < size) {
        const Entry sibling = get(child + 1);
        if (precedes(below, sibling)) {
          ++child;
          below = sibling;
        }
      }
      if (!precedes(entry, below)) break;
      put(at, below);
      at = child;
    }
    put(at, entry);
  }

  Fiber values_;
  Fiber indices_;
  ScalarType type_;
  size_t size_;
  bool descending_;
};

// Ranks by sorting all keys of the fiber, and then copies the elements. `entries` and `buffer` have an entry
// for each element.
[[maybe_unused]] void rank_by_keys(const Fiber* fibers, ScalarType type, bool descending,
                                   KeyedPosition* entries, KeyedPosition* buffer) {
  const Fiber& source = fibers[0];
  read_keys(source, type, descending, entries);
  sort_by_key(entries, buffer, static_cast<size_t>(source.size));
  const size_t element = element_size(type);
  const auto copy = [&](auto of) {
    using T = decltype(of);
    for (ptrdiff_t i = 0; i < fibers[1].size; ++i) {
      fibers[1].at<T>(i) = source.at<T>(entries[i].position);
      fibers[2].at<int64_t>(i) = entries[i].position;
    }
  };
  if (element == 1) return copy(uint8_t{});
  if (element == 2) return copy(uint16_t{});
  return element == 4 ? copy(uint32_t{}) : copy(uint64_t{});
}

}  // namespace

void read_keys(const Fiber& fiber, ScalarType type, bool descending, KeyedPosition* entries) {
  for_each_keys(fiber, type, descending, [&](ptrdiff_t first, const int64_t* keys, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i) entries[first + i] = {keys[i], first + i};
    return true;
  });
}

void sort_by_key(KeyedPosition* entries, KeyedPosition* buffer, size_t count) {
  constexpr size_t kShort = 32;
  if (count <= kShort) {  // insertion sort
    for (size_t i = 1; i < count; ++i) {
      const KeyedPosition entry = entries[i];
      size_t at = i;
      for (; at > 0 && entries[at - 1].key > entry.key; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
    return;
  }
  // Differences from the least key are unsigned, and often have few bytes.
  int64_t least = entries[0].key;
  int64_t most = entries[0].key;
  for (size_t i = 1; i < count; ++i) {
    least = entries[i].key < least ? entries[i].key : least;
    most = entries[i].key > most ? entries[i].key : most;
  }
  const auto distance = [&](int64_t key) {
    return static_cast<uint64_t>(key) - static_cast<uint64_t>(least);
  };
  const uint64_t range = distance(most);
  KeyedPosition* from = entries;
  KeyedPosition* to = buffer;
  for (unsigned shift = 0; shift < 64 && (range >> shift) != 0; shift += 8) {
    uint32_t starts[257] = {};
    for (size_t i = 0; i < count; ++i) ++starts[(distance(from[i].key) >> shift & 0xff) + 1];
    if (starts[(distance(from[0].key) >> shift & 0xff) + 1] == count) continue;  // all have the same byte
    for (size_t digit = 0; digit < 256; ++digit) starts[digit + 1] += starts[digit];
    for (size_t i = 0; i < count; ++i) to[starts[distance(from[i].key) >> shift & 0xff]++] = from[i];
    KeyedPosition* const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != entries) std::memcpy(entries, buffer, count * sizeof(KeyedPosition));
}

void order_keys(const char* source, ptrdiff_t stride, ScalarType type, size_t n, bool descending,
                NanOrder nan, int64_t* keys) {
#ifdef __OPTIMIZE_SIZE__
  // Dtypes that are not held themselves are converted into the array of keys and read from there.
  const ScalarType held = held_type(kConvertibleTypes, type);
  static_cast<void>(dispatch<kHeld>(held, [&](auto of) {
    using T = typename decltype(of)::Element;
    constexpr auto kKey = static_cast<ptrdiff_t>(sizeof(int64_t));
    const char* from = source;
    ptrdiff_t step = stride;
    if (type != held || std::is_same_v<T, bool>) {
      convert_span(keys, kKey, held, source, stride, type, n);
      from = reinterpret_cast<const char*>(keys);
      step = kKey;
    }
    for (size_t i = 0; i < n; ++i, from += step) {
      T value;
      std::memcpy(&value, from, sizeof value);
      keys[i] = order_key(value, descending, nan);
    }
    return Error::Ok;
  }));
#else
  // Blocks of contiguous elements, so that compilers vectorize conversions and keys.
  const ScalarType held = held_type(kConvertibleTypes, type);
  static_cast<void>(dispatch<kHeld>(held, [&](auto of) {
    using T = typename decltype(of)::Element;
    constexpr size_t kBlock = 128;
    T block[kBlock];
    for (size_t first = 0; first < n; first += kBlock, source += stride * static_cast<ptrdiff_t>(kBlock)) {
      const size_t length = n - first < kBlock ? n - first : kBlock;
      const T* values = block;
      if (type == held && stride == ptrdiff_t{sizeof(T)} && !std::is_same_v<T, bool>) {
        values = reinterpret_cast<const T*>(source);
      } else {
        convert_span(block, sizeof(T), held, source, stride, type, length);
      }
      for (size_t i = 0; i < length; ++i) keys[first + i] = order_key(values[i], descending, nan);
    }
    return Error::Ok;
  }));
#endif
}

Error check_indices_dtype(const Tensor& indices) {
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "out: expected dtype int64 for indices, got %s", to_string(indices.scalar_type()));
  return Error::Ok;
}

Error rank_fibers([[maybe_unused]] KernelContext& context, TypeSet types, const Tensor& self, size_t dim,
                  ptrdiff_t count, bool descending, const Tensor& values, const Tensor& indices) {
  RL_TRY(check_same_dtype(self, values, "self and values"));
  RL_TRY(check_indices_dtype(indices));
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  Shape shape;
  for (const SizesType size : self.sizes()) shape.push(shape.dim == dim ? count : ptrdiff_t{size});
  RL_TRY(resize_out(values, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  const View views[] = {at_least_1d(self), at_least_1d(values), at_least_1d(indices)};
#ifndef __OPTIMIZE_SIZE__
  // A heap of few elements of many takes one comparison for most of the others.
  constexpr ptrdiff_t kFew = 16;
  const auto size = static_cast<size_t>(views[0].sizes[dim]);
  if (count * kFew >= views[0].sizes[dim] && size > 0) {
    constexpr size_t kEntry = 2 * sizeof(KeyedPosition);
    auto* const entries = static_cast<KeyedPosition*>(context.allocate_temp(size * kEntry, alignof(int64_t)));
    if (entries != nullptr) {
      return for_each_fiber(views, dim, [&](const Fiber* fibers) {
        rank_by_keys(fibers, self.scalar_type(), descending, entries, entries + size);
        return Error::Ok;
      });
    }
  }
#endif
  return for_each_fiber(views, dim, [&](const Fiber* fibers) {
    Ranking(fibers[1], fibers[2], self.scalar_type(), descending).rank(fibers[0]);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
