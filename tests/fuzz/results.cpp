// SPDX-License-Identifier: BSD-3-Clause
// are_close() allows a part of the largest finite element of floats, because prepared weights are summed in
// another order; the parts of complex numbers are such elements. Infinite and NaN elements pass: a sum may
// overflow in one order only. Other dtypes are compared bit by bit.
#include "tests/fuzz/results.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/tensor/float16.h"

namespace rushlight::fuzz {

namespace {

template <class T>
std::vector<double> numbers_of(const std::vector<uint8_t>& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T number{};
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(
        static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(number));
  }
  return numbers;
}

// `part` of the largest element is allowed, and `least` of any.
template <class T>
bool are_close(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, double part, double least) {
  const std::vector<double> x = numbers_of<T>(a);
  const std::vector<double> y = numbers_of<T>(b);
  double largest = 0;
  for (const double value : x) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    if (std::fabs(x[i] - y[i]) > part * largest + least) return false;
  }
  return true;
}

bool are_close(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, ScalarType type) {
  if (a.size() != b.size()) return false;
  switch (type) {
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return are_close<float>(a, b, 1e-3, 1e-6);
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return are_close<double>(a, b, 1e-9, 1e-12);
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return are_close<Half>(a, b, 1e-2, 1e-5);
    case ScalarType::BFloat16:
      return are_close<BFloat16>(a, b, 5e-2, 1e-5);
    default:
      return a == b;
  }
}

}  // namespace

void Results::add(const TensorImpl& tensor) {
  const auto sizes = tensor.sizes();
  const auto* from = static_cast<const uint8_t*>(tensor.data());
  shapes.emplace_back(sizes.begin(), sizes.end());
  bytes.emplace_back(from, from + tensor.nbytes());
  types.push_back(tensor.scalar_type());
}

bool are_same(const Results& a, const Results& b) {
  return a.shapes == b.shapes && a.bytes == b.bytes && a.types == b.types;
}

bool are_close(const Results& a, const Results& b) {
  if (a.shapes != b.shapes || a.types != b.types) return false;
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if (!are_close(a.bytes[i], b.bytes[i], a.types[i])) return false;
  }
  return true;
}

}  // namespace rushlight::fuzz
