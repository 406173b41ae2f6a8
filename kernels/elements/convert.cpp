// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/convert.h"

#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/ukernel/convert.h"
#include "kernels/ukernel/loops.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/base/assert.h"
#include "runtime/tensor/dispatch.h"

// A loop for each pair of dtypes would be a large part of a library. There are loops between each dtype and
// its kind (int64, uint64, float or double), and between kinds. Other conversions are two or three of these,
// a span of elements at a time through buffers on the stack.
namespace rushlight::kernels {

namespace {

using Loop = void (*)(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                      size_t n);

constexpr TypeSet kRealTypes = kConvertibleTypes & ~types::kComplex;
constexpr bool kHasIntegers = contains(kConvertibleTypes, ScalarType::Long);
constexpr ScalarType kIntegerKind = kHasIntegers ? ScalarType::Long : ScalarType::Bool;
constexpr TypeSet kKinds =
    kConvertibleTypes & type_set(kIntegerKind, ScalarType::UInt64, ScalarType::Float, ScalarType::Double);

// The kind holds every value of the dtype, so the detour does not round.
ScalarType kind_of(ScalarType type) {
  if (contains(kKinds, type)) return type;
  return is_floating(type) ? ScalarType::Float : kIntegerKind;
}

// The microkernel that converts contiguous elements, if there is one; 16-bit floats are passed as their bits,
// and bool as bytes.
template <class To, class From>
constexpr std::nullptr_t kVectors = nullptr;
#ifndef __OPTIMIZE_SIZE__
template <>
constexpr auto kVectors<float, Half> = &ukernel::half_to_f32;
template <>
constexpr auto kVectors<Half, float> = &ukernel::f32_to_half;
template <>
constexpr auto kVectors<float, BFloat16> = &ukernel::bfloat16_to_f32;
template <>
constexpr auto kVectors<BFloat16, float> = &ukernel::f32_to_bfloat16;
template <>
constexpr auto kVectors<float, double> = &ukernel::f64_to_f32;
template <>
constexpr auto kVectors<double, float> = &ukernel::f32_to_f64;
template <>
constexpr auto kVectors<float, uint8_t> = &ukernel::u8_to_f32;
template <>
constexpr auto kVectors<float, int8_t> = &ukernel::i8_to_f32;
template <>
constexpr auto kVectors<float, int32_t> = &ukernel::i32_to_f32;
template <>
constexpr auto kVectors<float, int64_t> = &ukernel::i64_to_f32;
template <>
constexpr auto kVectors<int64_t, float> = &ukernel::f32_to_i64;
template <>
constexpr auto kVectors<float, bool> = &ukernel::bool_to_f32;
template <>
constexpr auto kVectors<bool, float> = &ukernel::f32_to_bool;
template <>
constexpr auto kVectors<int64_t, bool> = &ukernel::bool_to_i64;
template <>
constexpr auto kVectors<bool, int64_t> = &ukernel::i64_to_bool;
template <>
constexpr auto kVectors<int64_t, int32_t> = &ukernel::i32_to_i64;
template <>
constexpr auto kVectors<int32_t, int64_t> = &ukernel::i64_to_i32;

template <class To, class From>
void convert_vectors(void (*convert)(size_t n, const From* x, To* out), char* target, const char* source,
                     size_t n) {
  convert(n, reinterpret_cast<const From*>(source), reinterpret_cast<To*>(target));
}
#endif

// Contiguous elements; compilers vectorize the loop.
template <class To, class From>
RL_LOOPS void convert_dense(char* target, const char* source, size_t n) {
  auto* const to = reinterpret_cast<To*>(target);
  const auto* const from = reinterpret_cast<const From*>(source);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) to[i] = convert<To>(load(from + i));
}

// In builds for speed contiguous spans have a microkernel, or the loop above. Source and target are the
// same memory or do not overlap; microkernels take the latter only.
template <class To, class From>
void convert_loop(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                  size_t n) {
#ifndef __OPTIMIZE_SIZE__
  if (target_stride == ptrdiff_t{sizeof(To)} && source_stride == ptrdiff_t{sizeof(From)}) {
    if constexpr (kVectors<To, From> != nullptr) {
      if (target != source) return convert_vectors(kVectors<To, From>, target, source, n);
    } else if (ukernel::runs_loops()) {
      return convert_dense<To, From>(target, source, n);
    }
  }
#endif
  for (; n > 0; --n, target += target_stride, source += source_stride) {
    *reinterpret_cast<To*>(target) = convert<To>(load(reinterpret_cast<const From*>(source)));
  }
}

template <class To, class From>
constexpr Loop loop_if_selected() {
  constexpr bool kSelected =
      contains(kConvertibleTypes, scalar_type_of<To>) && contains(kConvertibleTypes, scalar_type_of<From>);
  if constexpr (kSelected) return convert_loop<To, From>;
  return nullptr;
}

// Index of a dtype in the tables of loops.
constexpr size_t kTypes = 19;
constexpr size_t type_index(ScalarType type) {
  // Dtypes from UInt16 (27) on follow the first 16 in the tables; kernels have no dtypes between.
  const auto number = static_cast<size_t>(type);
  return number < 16 ? number : number - 11;
}
constexpr size_t kKindCount = 4;
constexpr size_t kind_index(ScalarType kind) {
  if (is_floating(kind)) return kind == ScalarType::Float ? 0 : 1;
  return kind == ScalarType::UInt64 ? 3 : 2;
}

using Integer = std::conditional_t<kHasIntegers, int64_t, bool>;

// Entries of dtypes that the build does not have are null and are never called.
struct Loops {
  Loop load[kTypes] = {};   // from the dtype to its kind
  Loop store[kTypes] = {};  // from the kind to the dtype
  Loop between_kinds[kKindCount][kKindCount] = {};
  Loop to_bool[kKindCount] = {};
#ifndef __OPTIMIZE_SIZE__
  // Without the detour: narrow integers to float32, in which functions compute them; bytes and bool.
  Loop to_float[kTypes] = {};
  Loop bytes_to_bool = loop_if_selected<bool, uint8_t>();
  Loop bool_to_bytes = loop_if_selected<uint8_t, bool>();
#endif

  template <class Kind, class T>
  constexpr void add() {
    load[type_index(scalar_type_of<T>)] = loop_if_selected<Kind, T>();
    store[type_index(scalar_type_of<T>)] = loop_if_selected<T, Kind>();
#ifndef __OPTIMIZE_SIZE__
    if constexpr (std::is_integral_v<T>)
      to_float[type_index(scalar_type_of<T>)] = loop_if_selected<float, T>();
#endif
  }
  template <class To, class From>
  constexpr void add_kinds() {
    between_kinds[kind_index(scalar_type_of<To>)][kind_index(scalar_type_of<From>)] =
        loop_if_selected<To, From>();
  }
  constexpr Loops() {
    add<int64_t, uint8_t>();
    add<int64_t, int8_t>();
    add<int64_t, int16_t>();
    add<int64_t, int32_t>();
    add<int64_t, uint16_t>();
    add<int64_t, uint32_t>();
    add<Integer, bool>();
    add<float, Half>();
    add<float, BFloat16>();
    add_kinds<float, float>();
    add_kinds<float, double>();
    add_kinds<float, Integer>();
    add_kinds<float, uint64_t>();
    add_kinds<double, float>();
    add_kinds<double, double>();
    add_kinds<double, Integer>();
    add_kinds<double, uint64_t>();
    add_kinds<Integer, float>();
    add_kinds<Integer, double>();
    add_kinds<Integer, Integer>();
    add_kinds<uint64_t, float>();
    add_kinds<uint64_t, double>();
    to_bool[kind_index(ScalarType::Float)] = loop_if_selected<bool, float>();
    to_bool[kind_index(ScalarType::Double)] = loop_if_selected<bool, double>();
  }
};

constexpr Loops kLoops;

#ifndef __OPTIMIZE_SIZE__
// Converts strided elements as contiguous blocks, for which `loop` has a microkernel.
void convert_blocks(Loop loop, char* target, ptrdiff_t target_stride, size_t to, const char* source,
                    ptrdiff_t source_stride, size_t from, size_t n) {
  constexpr size_t kBlock = 64;
  alignas(8) char in[kBlock * 8];
  alignas(8) char out[kBlock * 8];
  while (n > 0) {
    const size_t length = n < kBlock ? n : kBlock;
    const auto count = static_cast<ptrdiff_t>(length);
    copy_elements(in, static_cast<ptrdiff_t>(from), source, source_stride, length, from);
    loop(out, static_cast<ptrdiff_t>(to), in, static_cast<ptrdiff_t>(from), length);
    copy_elements(target, target_stride, out, static_cast<ptrdiff_t>(to), length, to);
    target += target_stride * count;
    source += source_stride * count;
    n -= length;
  }
}
#endif

// Precondition: at least one of the dtypes is its own kind.
Loop loop_between(ScalarType to, ScalarType from) {
  if (contains(kKinds, to) && contains(kKinds, from)) {
    return kLoops.between_kinds[kind_index(to)][kind_index(from)];
  }
  if (contains(kKinds, to)) return kLoops.load[type_index(from)];
  if (to == ScalarType::Bool && is_floating(from)) return kLoops.to_bool[kind_index(from)];
  return kLoops.store[type_index(to)];
}

#ifndef __OPTIMIZE_SIZE__
// A complex number is true if either part is not 0.
void convert_complex_to_bool(char* target, ptrdiff_t target_stride, const char* source,
                             ptrdiff_t source_stride, ScalarType part, size_t n) {
  constexpr size_t kRun = 128;
  uint8_t real[kRun];
  uint8_t imag[kRun];
  for (size_t start = 0; start < n; start += kRun) {
    const size_t length = n - start < kRun ? n - start : kRun;
    convert_span(real, 1, ScalarType::Bool, source, source_stride, part, length);
    convert_span(imag, 1, ScalarType::Bool, source + element_size(part), source_stride, part, length);
    for (size_t i = 0; i < length; ++i, target += target_stride)
      *target = static_cast<char>(real[i] | imag[i]);
    source += source_stride * static_cast<ptrdiff_t>(length);
  }
}
#endif

// Converts if `from` or `to` is complex: the parts as real elements further apart. In place, and in builds
// for size, a copy of some source elements is converted.
void convert_complex_run(char* target, ptrdiff_t target_stride, ScalarType to, const char* source,
                         ptrdiff_t source_stride, ScalarType from, size_t n) {
  constexpr size_t kRun = 16;
  const ScalarType to_part = component_type(to);
  const ScalarType from_part = component_type(from);
  const size_t part = element_size(to_part);
  const size_t step = element_size(from);
  alignas(16) char numbers[kRun * 16];
  const char* const imag = numbers + element_size(from_part);
#ifndef __OPTIMIZE_SIZE__
  if (target != source) {
    if (to == ScalarType::Bool) {
      return convert_complex_to_bool(target, target_stride, source, source_stride, from_part, n);
    }
    convert_span(target, target_stride, to_part, source, source_stride, from_part, n);
    if (!is_complex(to)) return;
    if (is_complex(from)) {
      return convert_span(target + part, target_stride, to_part, source + element_size(from_part),
                          source_stride, from_part, n);
    }
    for (; n > 0; --n, target += target_stride) std::memset(target + part, 0, part);
    return;
  }
#endif
  while (n > 0) {
    const size_t length = n < kRun ? n : kRun;
    for (size_t i = 0; i < length; ++i, source += source_stride) {
      std::memcpy(numbers + i * step, source, step);
    }
    const auto convert_parts = [&](char* out, const char* in, size_t count) {
      convert_span(out, target_stride, to_part, in, static_cast<ptrdiff_t>(step), from_part, count);
    };
    convert_parts(target, numbers, length);
    if (is_complex(to) && is_complex(from)) convert_parts(target + part, imag, length);
    for (size_t i = 0; i < length; ++i, target += target_stride) {
      if (!is_complex(from)) std::memset(target + part, 0, part);
      // A complex number is true if either part is not 0.
      if (to == ScalarType::Bool && *target == 0) convert_parts(target, imag + i * step, 1);
    }
    n -= length;
  }
}

}  // namespace

void convert_span(void* target, ptrdiff_t target_stride, ScalarType to, const void* source,
                  ptrdiff_t source_stride, ScalarType from, size_t n) {
  auto* out = static_cast<char*>(target);
  const auto* in = static_cast<const char*>(source);
  if constexpr (kRealTypes != kConvertibleTypes) {
#ifndef __OPTIMIZE_SIZE__
    const bool are_complex = is_complex(to) && is_complex(from);
    if (are_complex && target_stride == static_cast<ptrdiff_t>(element_size(to)) &&
        source_stride == static_cast<ptrdiff_t>(element_size(from)) && out != in) {
      // Contiguous complex elements are twice as many contiguous parts.
      return convert_span(out, target_stride / 2, component_type(to), in, source_stride / 2,
                          component_type(from), 2 * n);
    }
#endif
    if (is_complex(to) || is_complex(from)) {
      return convert_complex_run(out, target_stride, to, in, source_stride, from, n);
    }
  }
  // A build with one dtype needs one loop and no table.
  if constexpr ((kRealTypes & (kRealTypes - 1)) == 0) {
    static_cast<void>(dispatch<kRealTypes>(to, [&](auto type) {
      using T = typename decltype(type)::Element;
      convert_loop<T, T>(out, target_stride, in, source_stride, n);
      return Error::Ok;
    }));
    return;
  }
  // uint64 and int64 have the same bits when converted from or to other integers.
  if (to == ScalarType::UInt64 && !is_floating(from)) to = ScalarType::Long;
  if (from == ScalarType::UInt64 && !is_floating(to)) from = ScalarType::Long;
  if constexpr (kRealTypes == kKinds) {  // at most one step
    return loop_between(to, from)(out, target_stride, in, source_stride, n);
  }
#ifndef __OPTIMIZE_SIZE__
  if (to == ScalarType::Float && kLoops.to_float[type_index(from)] != nullptr) {
    return kLoops.to_float[type_index(from)](out, target_stride, in, source_stride, n);
  }
  constexpr bool kHasBytes = contains(kRealTypes, ScalarType::Bool) && contains(kRealTypes, ScalarType::Byte);
  const auto is_byte = [](ScalarType type) { return type == ScalarType::Byte || type == ScalarType::Char; };
  if (to == ScalarType::Bool && is_byte(from) && kHasBytes) {
    return kLoops.bytes_to_bool(out, target_stride, in, source_stride, n);
  }
  if (from == ScalarType::Bool && is_byte(to) && kHasBytes) {
    return kLoops.bool_to_bytes(out, target_stride, in, source_stride, n);
  }
  // One step, the most frequent case.
  const bool loads = contains(kKinds, to) && kind_of(from) == to;
  if (loads || (contains(kKinds, from) && kind_of(to) == from)) {
    constexpr size_t kFewest = 16;  // fewer take less time one by one
    const size_t to_size = element_size(to);
    const size_t from_size = element_size(from);
    const bool is_half = to == ScalarType::Half || from == ScalarType::Half;
    if (is_half && n >= kFewest && out != in &&
        (target_stride != static_cast<ptrdiff_t>(to_size) ||
         source_stride != static_cast<ptrdiff_t>(from_size))) {
      return convert_blocks(loop_between(to, from), out, target_stride, to_size, in, source_stride, from_size,
                            n);
    }
    return loop_between(to, from)(out, target_stride, in, source_stride, n);
  }
#endif
  // from, its kind, the kind of `to`, to: without repetitions, so three steps at most. For example: int8,
  // int64, float32, float16.
  ScalarType path[4] = {from};
  size_t steps = 0;
  const auto then = [&](ScalarType type) {
    if (type != path[steps]) path[++steps] = type;
  };
  then(kind_of(from));
  // Float to bool skips the integer kind: a fraction would become 0.
  if (to != ScalarType::Bool || !is_floating(from)) then(kind_of(to));
  then(to);

  if (steps <= 1) return loop_between(to, from)(out, target_stride, in, source_stride, n);
  constexpr size_t kMaxElementSize = 8;
#ifdef __OPTIMIZE_SIZE__
  // One buffer with the widest element as its stride, so that a step converts in place.
  constexpr size_t kBuffers = 1;
  constexpr size_t kRun = 32;
  const auto stride_of = [](ScalarType) { return static_cast<ptrdiff_t>(kMaxElementSize); };
#else
  // Contiguous elements in two buffers in turn: compilers vectorize the loops of contiguous elements.
  constexpr size_t kBuffers = 2;
  constexpr size_t kRun = 128;
  const auto stride_of = [](ScalarType type) { return static_cast<ptrdiff_t>(element_size(type)); };
#endif
  alignas(kMaxElementSize) char buffers[kBuffers][kRun * kMaxElementSize];
  for (; n > 0;) {
    const size_t length = n < kRun ? n : kRun;
    for (size_t step = 0; step < steps; ++step) {
      // The first step reads the source, the last one writes the target, all others stay in the buffers.
      const bool first = step == 0;
      const bool last = step + 1 == steps;
      char* const written = buffers[step % kBuffers];
      const char* const read = buffers[(step + 1) % kBuffers];
      loop_between(path[step + 1], path[step])(
          last ? out : written, last ? target_stride : stride_of(path[step + 1]), first ? in : read,
          first ? source_stride : stride_of(path[step]), length);
    }
    out += static_cast<ptrdiff_t>(length) * target_stride;
    in += static_cast<ptrdiff_t>(length) * source_stride;
    n -= length;
  }
}

Error check_convertible(ScalarType type) {
  return contains(kConvertibleTypes, type) ? Error::Ok : unsupported_type(type);
}

}  // namespace rushlight::kernels
