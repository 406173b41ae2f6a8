// SPDX-License-Identifier: BSD-3-Clause
// Spans of 32 elements are converted to the compute type, quantized to int64 and converted to the dtype, so
// one loop for each compute type serves all pairs of dtypes.
#include "kernels/quantization/affine.h"

#include <type_traits>

#include "kernels/checks/sizes.h"
#include "kernels/elements/convert.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::kernels {

namespace {

// Elements converted at a time.
constexpr ptrdiff_t kRun = 32;

// The compute dtypes of this build.
constexpr TypeSet kComputed =
    type_set(ScalarType::Float) | (kConvertibleTypes & type_set(ScalarType::Double));

template <class C>
void quantize_elements(const Quantizer<int64_t, C>& quantizer, int64_t* to, const C* from, ptrdiff_t n) {
  const Quantizer<int64_t, C> quantize = quantizer;  // a copy, which stays in registers
  for (ptrdiff_t i = 0; i < n; ++i) to[i] = quantize(from[i]);
}

template <class C>
void dequantize_elements(const Affine& affine, C* to, const int64_t* from, ptrdiff_t n) {
  const auto scale = static_cast<C>(affine.scale);
  const auto zero_point = static_cast<C>(affine.zero_point);
  // All quantized dtypes fit in int32, which FPUs convert in one instruction.
  for (ptrdiff_t i = 0; i < n; ++i) {
    to[i] = (static_cast<C>(static_cast<int32_t>(from[i])) - zero_point) * scale;
  }
}

// Calls f(first element, n) for parts of a span that fit in a buffer.
template <class F>
void for_each_part(ptrdiff_t n, F f) {
  for (ptrdiff_t first = 0; first < n; first += kRun) f(first, n - first < kRun ? n - first : kRun);
}

}  // namespace

Error check_type(const Tensor& tensor, TypeSet types, const char* name) {
  RL_CHECK(contains(types, tensor.scalar_type()), Error::InvalidType, "%s: dtype %s is not supported", name,
           to_string(tensor.scalar_type()));
  return Error::Ok;
}

// The dtype is an argument of the program: any integer. UInt16 and Byte begin at 0, the others at -2^(bits -
// 1).
Error check_range(int64_t dtype, const AffineRange& range) {
  const auto type = static_cast<ScalarType>(dtype);
  RL_CHECK(dtype >= 0 && dtype < 32 && contains(kQuantizedTypes, type), Error::InvalidType,
           "dtype: expected a quantized dtype, got %ld", static_cast<long>(dtype));
  const auto bits = static_cast<unsigned>(8 * element_size(type));
  const bool is_signed = type != ScalarType::Byte && type != ScalarType::UInt16;
  const int64_t count = int64_t{1} << bits;
  const int64_t lowest = is_signed ? -count / 2 : 0;
  RL_CHECK(range.min >= lowest && range.min <= range.max && range.max < lowest + count,
           Error::InvalidArgument, "quant_min, quant_max: %ld to %ld is no range of %s",
           static_cast<long>(range.min), static_cast<long>(range.max), to_string(type));
  return Error::Ok;
}

namespace {

Error check_quantized_dtype(const Tensor& quantized, int64_t dtype) {
  RL_CHECK(dtype == static_cast<int64_t>(quantized.scalar_type()), Error::InvalidType,
           "dtype: expected the quantized tensor's %s, got %ld", to_string(quantized.scalar_type()),
           static_cast<long>(dtype));
  return Error::Ok;
}

}  // namespace

Error check_quantized(const Tensor& quantized, int64_t dtype, const AffineRange& range) {
  RL_TRY(check_quantized_dtype(quantized, dtype));
  return check_range(dtype, range);
}

// The range is only checked to be one: values outside of it are dequantized as they are.
Error check_dequantized(const Tensor& quantized, int64_t dtype, const AffineRange& range) {
  RL_TRY(check_quantized_dtype(quantized, dtype));
  RL_CHECK(range.min <= range.max, Error::InvalidArgument, "quant_min, quant_max: %ld to %ld is no range",
           static_cast<long>(range.min), static_cast<long>(range.max));
  return Error::Ok;
}

double number_at(const Tensor& tensor, size_t index) {
  double number = 0;
  const Error error = dispatch<(kScaleTypes | kZeroPointTypes)>(tensor.scalar_type(), [&](auto type) {
    number = static_cast<double>(tensor.const_data_ptr<typename decltype(type)::Element>()[index]);
    return Error::Ok;
  });
  static_cast<void>(error);
  return number;
}

void write_number(const Tensor& tensor, size_t index, double number) {
  // Converted outside of dispatch(), whose body is instantiated for each dtype.
  const int64_t whole = EValue(number).to_int();
  const Error error = dispatch<(kScaleTypes | kZeroPointTypes)>(tensor.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    if constexpr (std::is_integral_v<T>) {
      tensor.mutable_data_ptr<T>()[index] = static_cast<T>(whole);
    } else {
      tensor.mutable_data_ptr<T>()[index] = static_cast<T>(number);
    }
    return Error::Ok;
  });
  static_cast<void>(error);
}

Error read_single(const Tensor& tensor, TypeSet types, const char* name, double* number) {
  // Scales and zero points of one mapping are tensors with one element.
  RL_TRY(check_type(tensor, types, name));
  RL_CHECK(tensor.numel() == 1, Error::InvalidArgument, "%s: expected one element, got %lu", name,
           static_cast<unsigned long>(tensor.numel()));
  *number = number_at(tensor, 0);
  return Error::Ok;
}

Error AffineList::check(size_t count) const {
  RL_TRY(check_type(scales, kScaleTypes, "scales"));
  RL_CHECK(scales.numel() == count, Error::InvalidArgument, "scales: expected %lu values, got %lu",
           static_cast<unsigned long>(count), static_cast<unsigned long>(scales.numel()));
  if (zero_points == nullptr) return Error::Ok;
  RL_TRY(check_type(*zero_points, kScaleTypes | kZeroPointTypes, "zero_points"));
  RL_CHECK(zero_points->numel() == count, Error::InvalidArgument, "zero_points: expected %lu values, got %lu",
           static_cast<unsigned long>(count), static_cast<unsigned long>(zero_points->numel()));
  return Error::Ok;
}

Error check_tokens(const Tensor& input, const char* name, size_t* tokens) {
  RL_CHECK(input.dim() >= 1, Error::InvalidArgument, "%s: expected rank 1 at least, got 0", name);
  RL_CHECK(is_row_major(input.dim_order(), input.sizes()), Error::InvalidArgument,
           "%s: expected a row-major dim order", name);
  // The product of all dimensions but the last.
  *tokens = 1;
  for (ptrdiff_t d = 0; d < input.dim() - 1; ++d) *tokens *= static_cast<size_t>(input.size(d));
  return Error::Ok;
}

// One pass, in blocks of kRun elements that are converted to float32. NaN fails both comparisons, so it needs
// the separate test.
Error find_extent(const View& elements, RealExtent* extent) {
  RL_TRY(check_convertible(elements.type));
  bool any = false;
  bool ordered = true;
  PairedLoops(elements, elements)
      .for_each_span([&](const char*, const char* from, const PairedLoops::Loop& run) {
        any = true;
        for_each_part(run.size, [&](ptrdiff_t first, ptrdiff_t n) {
          float values[kRun];
          convert_span(values, sizeof(float), ScalarType::Float, from + first * run.source, run.source,
                       elements.type, static_cast<size_t>(n));
          for (ptrdiff_t i = 0; i < n; ++i) {
            extent->min = values[i] < extent->min ? values[i] : extent->min;
            extent->max = values[i] > extent->max ? values[i] : extent->max;
            ordered = ordered && values[i] == values[i];
          }
        });
      });
  RL_CHECK(any, Error::InvalidArgument, "input: expected elements");
  RL_CHECK(ordered, Error::InvalidArgument, "input: an element is NaN");
  return Error::Ok;
}

Error AffineSpans::check() const {
  RL_TRY(check_convertible(quantized));
  RL_TRY(check_convertible(real));
  return check_convertible(computed);
}

// Three loops over a block on the stack: convert to the compute dtype, quantize to int64, convert to the
// dtype.
Error AffineSpans::quantize(const View& target, const View& source, const Affine& affine,
                            const AffineRange& range, ZeroPoint order) const {
  return dispatch<kComputed>(computed, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Element;
    // Clamps to the range, so the last conversion does not change the value.
    const Quantizer<int64_t, C> quantizer(affine, range, order);
    PairedLoops(target, source).for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
      for_each_part(loop.size, [&](ptrdiff_t first, ptrdiff_t n) {
        C values[kRun];
        int64_t whole[kRun];
        convert_span(values, sizeof(C), computed, from + first * loop.source, loop.source, real,
                     static_cast<size_t>(n));
        quantize_elements(quantizer, whole, values, n);
        convert_span(to + first * loop.target, loop.target, quantized, whole, sizeof(int64_t),
                     ScalarType::Long, static_cast<size_t>(n));
      });
    });
    return Error::Ok;
  });
}

// The same loops in the opposite order.
Error AffineSpans::dequantize(const View& target, const View& source, const Affine& affine) const {
  return dispatch<kComputed>(computed, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Element;
    PairedLoops(target, source).for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
      for_each_part(loop.size, [&](ptrdiff_t first, ptrdiff_t n) {
        C values[kRun];
        int64_t whole[kRun];
        convert_span(whole, sizeof(int64_t), ScalarType::Long, from + first * loop.source, loop.source,
                     quantized, static_cast<size_t>(n));
        dequantize_elements(affine, values, whole, n);
        convert_span(to + first * loop.target, loop.target, real, values, sizeof(C), computed,
                     static_cast<size_t>(n));
      });
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
