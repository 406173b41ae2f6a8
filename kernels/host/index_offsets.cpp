// SPDX-License-Identifier: BSD-3-Clause
// The loops stop at the first index out of range, so each has one comparison: negative indices are large as
// unsigned values. Contiguous indices and elements have their own loop with constant strides.
#include "kernels/host/index_offsets.h"

#include <cstring>
#include <type_traits>

#include "kernels/index/index.h"

namespace rushlight::kernels::host {

namespace {

// Returns false, and stores the index in `wrong`, if one is out of range. Adds index * step to each offset,
// up to the first index out of range.
template <class T>
bool add(const IndexSpan& run, const char* at, size_t n, ptrdiff_t* offsets, int64_t* wrong) {
  for (size_t i = 0; i < n; ++i, at += run.stride) {
    // Read once: the value that is checked is the value that is used.
    T read;
    std::memcpy(&read, at, sizeof(T));
    const auto index = static_cast<int64_t>(read);
    const int64_t wrapped = run.wraps && index < 0 ? index + run.size : index;
    if (static_cast<uint64_t>(wrapped) >= static_cast<uint64_t>(run.size)) {
      *wrong = index;
      return false;
    }
    offsets[i] += static_cast<ptrdiff_t>(wrapped) * run.step;
  }
  return true;
}

struct Wide {
  uint64_t halves[2];
};

// Calls f with a value of the type that copies an element of `bytes` bytes.
template <class F>
auto with_element(size_t bytes, F f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Wide{});
  }
}

template <class T>
void copy(size_t n, const char* from, const ptrdiff_t* offsets, char* to, ptrdiff_t stride) {
  const auto each = [&](auto step) {
#pragma GCC unroll 4
    for (size_t i = 0; i < n; ++i, to += step) {
      T value;
      std::memcpy(&value, from + offsets[i], sizeof(T));
      std::memcpy(to, &value, sizeof(T));
    }
  };
  // A constant stride folds the address arithmetic.
  constexpr std::integral_constant<ptrdiff_t, sizeof(T)> kDense;
  stride == kDense ? each(kDense) : each(stride);
}

// Byte strides: of the indices, of the indexed elements, and of both ends of the copy. One template for both:
// constants in one instance, variables in the other.
struct AnySteps {
  ptrdiff_t index, named, from, to;
};
template <class Element, class Index>
struct DenseSteps {
  static constexpr ptrdiff_t index = sizeof(Index), named = sizeof(Element), from = 0, to = sizeof(Element);
};

template <class Element, class Index, class Steps>
bool copy_span(Steps steps, const IndexSpan& run, size_t n, const char* from, char* to, int64_t* wrong) {
  const char* at = run.data;
  const int64_t size = run.size;
#pragma GCC unroll 4
  for (size_t i = 0; i < n; ++i, at += steps.index, from += steps.from, to += steps.to) {
    Index read;
    std::memcpy(&read, at, sizeof(Index));
    const auto index = static_cast<int64_t>(read);
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size)) {
      *wrong = index;
      return false;
    }
    Element value;
    std::memcpy(&value, from + static_cast<ptrdiff_t>(index) * steps.named, sizeof(Element));
    std::memcpy(to, &value, sizeof(Element));
  }
  return true;
}

template <class Element, class Index>
bool copy_span(const AnySteps& steps, const IndexSpan& run, size_t n, const char* from, char* to,
               int64_t* wrong) {
  // The strides of a dense span are constants, which lets the compiler fold the address arithmetic.
  using Dense = DenseSteps<Element, Index>;
  if (steps.index == Dense::index && steps.named == Dense::named && steps.from == 0 &&
      steps.to == Dense::to) {
    return copy_span<Element, Index, Dense>({}, run, n, from, to, wrong);
  }
  return copy_span<Element, Index, AnySteps>(steps, run, n, from, to, wrong);
}

}  // namespace

// The error is found again by the function that logs it, so the loop carries no message.
Error add_index_offsets(const IndexSpan& run, size_t first, size_t n, ptrdiff_t* offsets) {
  const char* at = run.data + static_cast<ptrdiff_t>(first) * run.stride;
  int64_t wrong = 0;
  const bool all = run.type == ScalarType::Int ? add<int32_t>(run, at, n, offsets, &wrong)
                                               : add<int64_t>(run, at, n, offsets, &wrong);
  if (all) return Error::Ok;
  return run.wraps ? wrap_index(&wrong, run.size) : check_index(wrong, run.size);
}

void copy_at_offsets(size_t element, size_t n, const char* from, const ptrdiff_t* offsets, char* to,
                     ptrdiff_t stride) {
  with_element(element, [&](auto type) { copy<decltype(type)>(n, from, offsets, to, stride); });
}

Error copy_named(const IndexSpan& run, size_t element, size_t n, const char* from, ptrdiff_t from_step,
                 char* to, ptrdiff_t to_step) {
  const AnySteps steps{run.stride, run.step, from_step, to_step};
  int64_t wrong = 0;
  const auto copied = [&](auto type) {
    using Element = decltype(type);
    return run.type == ScalarType::Int ? copy_span<Element, int32_t>(steps, run, n, from, to, &wrong)
                                       : copy_span<Element, int64_t>(steps, run, n, from, to, &wrong);
  };
  return with_element(element, copied) ? Error::Ok : check_index(wrong, run.size);
}

}  // namespace rushlight::kernels::host
