// SPDX-License-Identifier: BSD-3-Clause
// Outputs are compared bitwise first; only elements that differ are converted to double and held against a
// tolerance: |got - expected| <= absolute + relative * |expected|. No tolerance applies to integers: as
// doubles, 64-bit integers that differ may look equal.
#include "runtime/bundled/bundled_method.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight {

namespace {

// A tensor over a bundled value's data, or over a copy of it. Copies shape and dim order, which may be
// misaligned in the file.
class BundledTensor {
 public:
  BundledTensor(const BundledValue& value, const void* data) {
    const size_t rank = value.layout.sizes.size();
    if (rank > 0) {
      std::memcpy(sizes_, value.layout.sizes.data(), rank * sizeof(SizesType));
      std::memcpy(dim_order_, value.layout.dim_order.data(), rank * sizeof(DimOrderType));
    }
    new (storage_) TensorImpl(value.layout.scalar_type, static_cast<ptrdiff_t>(rank), sizes_,
                              const_cast<void*>(data), dim_order_, strides_);
  }
  BundledTensor(const BundledTensor&) = delete;
  Tensor tensor() { return Tensor(std::launder(reinterpret_cast<TensorImpl*>(storage_))); }

 private:
  SizesType sizes_[kTensorDimensionLimit];
  DimOrderType dim_order_[kTensorDimensionLimit];
  StridesType strides_[kTensorDimensionLimit];
  alignas(TensorImpl) uint8_t storage_[sizeof(TensorImpl)];
};

Error set_tensor(Method& method, size_t index, const BundledValue& value, Arena* memory) {
  const size_t alignment =
      element_size(value.layout.scalar_type) < 8 ? element_size(value.layout.scalar_type) : size_t{8};
  const void* data = value.data.data();
  RL_TRY_ASSIGN(const TensorInfo info, method.meta().input_tensor(index));
  // Planned inputs are copied, so their alignment does not matter; others are used in place.
  if (!info.is_memory_planned && !is_aligned(data, alignment)) {
    RL_CHECK(memory != nullptr, Error::InvalidArgument, "input %lu: not aligned to %lu bytes in the bundle",
             log_number(index), log_number(alignment));
    void* copy = memory->allocate(value.data.size(), Arena::kDefaultAlignment);
    if (copy == nullptr) return Error::MemoryAllocationFailed;
    if (!value.data.empty()) std::memcpy(copy, data, value.data.size());
    data = copy;
  }
  BundledTensor tensor(value, data);
  return method.set_input(index, EValue(tensor.tensor()));
}

bool same_strides(const Tensor& a, const Tensor& b) {
  // A dimension of size 1 may have any stride: it does not move an element.
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

// Default tolerances by dtype: as in torch.testing.assert_close, with an absolute part of one unit in the
// last place for 16-bit floats. python/rushlight/run/cases.py has the same rows. The absolute part is scaled
// by the largest expected element (resolve()), because rounding errors of a sum grow with its terms, not with
// its result.
struct DtypeTolerance {
  ScalarType type;
  double relative;
  double absolute;
};
constexpr DtypeTolerance kDtypeTolerances[] = {
    {ScalarType::Half, 1e-3, 1e-3},
    {ScalarType::BFloat16, 1.6e-2, 1.6e-2},
    {ScalarType::Float, 1.3e-6, 1e-5},
    {ScalarType::Double, 1e-7, 1e-7},
};

// The difference of an element from its expected value; `is_float` tells if a tolerance applies.
struct Difference {
  double absolute;
  double expected;
  bool is_float;

  [[nodiscard]] double relative() const {
    return absolute == 0 || expected == 0 ? 0 : absolute / std::fabs(expected);
  }
  [[nodiscard]] bool is_within(const BundledTolerance& tolerance) const {
    return absolute == 0 ||
           (is_float && absolute <= tolerance.absolute + tolerance.relative * std::fabs(expected));
  }
};

Difference difference(double got, double want) {
  // NaN equals NaN here: a kernel that should give NaN must give it.
  if (got == want || (std::isnan(got) && std::isnan(want))) return {0, want, true};
  if (!std::isfinite(got) || !std::isfinite(want)) {
    // No tolerance applies to an infinite difference.
    return {std::numeric_limits<double>::infinity(), 1, false};
  }
  return {std::fabs(got - want), want, true};
}

// The difference of integers or booleans that are known to be unequal: as doubles they may be equal.
Difference exact_difference(double got, double want) {
  const double distance = std::fabs(got - want);
  return {distance < 1 ? 1 : distance, want, false};
}

template <class T>
double read_as_double(const uint8_t* at) {
  T value;  // data of a bundle may be misaligned
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

// Reads an element of a non-complex dtype as double.
double element(ScalarType type, const uint8_t* at) {
  switch (type) {
    case ScalarType::Char:
    case ScalarType::QInt8:
      return read_as_double<int8_t>(at);
    case ScalarType::Short:
      return read_as_double<int16_t>(at);
    case ScalarType::Int:
    case ScalarType::QInt32:
      return read_as_double<int32_t>(at);
    case ScalarType::Long:
      return read_as_double<int64_t>(at);
    case ScalarType::Half:
      return read_as_double<Half>(at);
    case ScalarType::BFloat16:
      return read_as_double<BFloat16>(at);
    case ScalarType::Float:
      return read_as_double<float>(at);
    case ScalarType::Double:
      return read_as_double<double>(at);
    case ScalarType::UInt16:
      return read_as_double<uint16_t>(at);
    case ScalarType::UInt32:
      return read_as_double<uint32_t>(at);
    case ScalarType::UInt64:
      return read_as_double<uint64_t>(at);
    default:  // Byte, Bool, QUInt8: a byte of a file may not be a valid bool
      return *at;
  }
}

// The dtype of the real and imaginary parts; other types return themselves.
ScalarType part_of(ScalarType type) {
  if (type == ScalarType::ComplexHalf) return ScalarType::Half;
  if (type == ScalarType::ComplexFloat) return ScalarType::Float;
  return type == ScalarType::ComplexDouble ? ScalarType::Double : type;
}

// The largest finite |element| of an expected tensor or number; for complex dtypes, of the components.
double largest_magnitude(const BundledValue& want) {
  if (want.tag != Tag::Tensor) return std::fabs(want.number.to_double());
  const ScalarType type = part_of(want.layout.scalar_type);
  const size_t width = element_size(type);
  // Steps over components, so that complex tensors need no separate case.
  double largest = 0;
  for (size_t at = 0; at + width <= want.data.size(); at += width) {
    const double magnitude = std::fabs(element(type, want.data.data() + at));
    if (std::isfinite(magnitude) && magnitude > largest) largest = magnitude;
  }
  return largest;
}

// Replaces kByDtype in `tolerance` by the values for a floating-point output. Numbers use the row of float32,
// in which most were computed.
BundledTolerance resolve(BundledTolerance tolerance, const BundledValue& want) {
  if (want.tag != Tag::Tensor && want.tag != Tag::Double) return tolerance;
  const ScalarType type = want.tag == Tag::Tensor ? part_of(want.layout.scalar_type) : ScalarType::Float;
  for (const DtypeTolerance& row : kDtypeTolerances) {
    if (row.type != type) continue;
    // A tolerance that the caller gave (not negative) is kept.
    if (tolerance.relative < 0) tolerance.relative = row.relative;
    if (tolerance.absolute < 0) {
      const double largest = largest_magnitude(want);
      tolerance.absolute = row.absolute * (largest > 1 ? largest : 1);
    }
  }
  return tolerance;
}

// Checks that an output has the dtype, shape and layout of the expected tensor.
Error check_alike(size_t index, const Tensor& got, const Tensor& want) {
  RL_CHECK(got.scalar_type() == want.scalar_type(), Error::InvalidArgument,
           "output %lu: expected dtype %s, got %s", log_number(index), to_string(want.scalar_type()),
           to_string(got.scalar_type()));
  RL_CHECK(got.dim() == want.dim(), Error::InvalidArgument, "output %lu: expected %lu dimensions, got %lu",
           log_number(index), log_number(want.sizes().size()), log_number(got.sizes().size()));
  for (ptrdiff_t d = 0; d < got.dim(); ++d) {
    RL_CHECK(got.size(d) == want.size(d), Error::InvalidArgument,
             "output %lu: expected size %lu in dimension %lu, got %lu", log_number(index),
             log_number(static_cast<size_t>(want.size(d))), log_number(static_cast<size_t>(d)),
             log_number(static_cast<size_t>(got.size(d))));
  }
  RL_CHECK(same_strides(got, want), Error::InvalidArgument, "output %lu: dim order differs",
           log_number(index));
  RL_CHECK(got.numel() == 0 || got.const_data_ptr() != nullptr, Error::InvalidArgument,
           "output %lu: has no memory", log_number(index));
  return Error::Ok;
}

template <class Visit>
Error visit_tensor(size_t index, const Tensor& got, const BundledValue& want, Visit&& visit) {
  BundledTensor expected(want, want.data.data());
  RL_TRY(check_alike(index, got, expected.tensor()));
  const ScalarType type = part_of(got.scalar_type());
  const size_t width = element_size(type);
  const auto* a = got.const_data_ptr<uint8_t>();
  const uint8_t* b = want.data.data();
  // Elements are visited in memory order: both tensors have the same strides, and are dense.
  for (size_t i = 0; i < want.data.size() / width; ++i, a += width, b += width) {
    Difference found{0, element(type, b), false};
    if (std::memcmp(a, b, width) != 0) {
      const double one = element(type, a);
      found = is_floating(type) ? difference(one, found.expected) : exact_difference(one, found.expected);
    }
    RL_TRY(visit(index, i, found));
  }
  return Error::Ok;
}

// Calls `visit(output, element, Difference)` for all elements and numbers of all outputs, after checking each
// output's kind and layout. Stops at the first error.
template <class Visit>
Error visit_outputs(const Method& method, const BundledCase& test_case, Visit&& visit) {
  const size_t count = method.meta().num_outputs();
  RL_CHECK(test_case.num_outputs() != 0, Error::NotSupported, "case: has no expected outputs");
  RL_CHECK(test_case.num_outputs() == count, Error::InvalidArgument, "case: expected %lu outputs, got %lu",
           log_number(test_case.num_outputs()), log_number(count));
  for (size_t i = 0; i < count; ++i) {
    const BundledValue want = test_case.expected_output(i);
    const EValue& got = method.output(i);
    RL_CHECK(got.tag == want.tag, Error::InvalidArgument, "output %lu: expected %s, got %s", log_number(i),
             to_string(want.tag), to_string(got.tag));
    if (want.tag == Tag::Tensor) {
      RL_TRY(visit_tensor(i, got.to_tensor(), want, visit));
    } else if (want.tag == Tag::Double) {
      RL_TRY(visit(i, size_t{0}, difference(got.to_double(), want.number.to_double())));
    } else {
      const int64_t a = got.to_int();
      const int64_t b = want.number.to_int();
      RL_TRY(visit(i, size_t{0},
                   a == b ? Difference{0, static_cast<double>(b), false}
                          : exact_difference(static_cast<double>(a), static_cast<double>(b))));
    }
  }
  return Error::Ok;
}

}  // namespace

Error load_bundled_input(Method& method, const BundledCase& test_case, Arena* memory) {
  const size_t count = method.meta().num_inputs();
  RL_CHECK(test_case.num_inputs() == count, Error::InvalidArgument,
           "case: has %lu inputs, method %s takes %lu", log_number(test_case.num_inputs()),
           method.meta().name(), log_number(count));
  for (size_t i = 0; i < count; ++i) {
    const BundledValue value = test_case.input(i);
    if (value.tag == Tag::Tensor) {
      RL_TRY(set_tensor(method, i, value, memory));
    } else {
      RL_TRY(method.set_input(i, value.number));
    }
  }
  return Error::Ok;
}

Error verify_method_outputs(const Method& method, const BundledCase& test_case,
                            const BundledTolerance& tolerance) {
  // Most elements are bitwise equal, so a tensor's tolerance is resolved only at its first difference.
  size_t resolved_output = SIZE_MAX;
  BundledTolerance resolved;
  return visit_outputs(method, test_case, [&](size_t output, size_t at, const Difference& found) -> Error {
    if (found.absolute != 0 && output != resolved_output) {
      resolved = resolve(tolerance, test_case.expected_output(output));
      resolved_output = output;
    }
    RL_CHECK(found.is_within(resolved), Error::InvalidArgument, "output %lu: element %lu differs",
             log_number(output), log_number(at));
    return Error::Ok;
  });
}

Result<BundledErrorStats> compute_method_output_error_stats(const Method& method,
                                                            const BundledCase& test_case) {
  BundledErrorStats stats;
  size_t count = 0;
  RL_TRY(visit_outputs(method, test_case, [&](size_t, size_t, const Difference& found) -> Error {
    // The means are over all elements, also the equal ones.
    const double relative = found.relative();
    stats.mean_absolute += found.absolute;
    stats.mean_relative += relative;
    if (found.absolute > stats.max_absolute) stats.max_absolute = found.absolute;
    if (relative > stats.max_relative) stats.max_relative = relative;
    ++count;
    return Error::Ok;
  }));
  if (count > 0) {
    stats.mean_absolute /= static_cast<double>(count);
    stats.mean_relative /= static_cast<double>(count);
  }
  return stats;
}

}  // namespace rushlight
