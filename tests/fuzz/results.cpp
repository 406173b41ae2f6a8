// SPDX-License-Identifier: BSD-3-Clause
// are_close() allows 1e-3 of the largest finite element for float32, because prepared weights are summed in
// another order. Infinite and NaN elements pass: a sum may overflow in one order only. Other dtypes are
// compared bit by bit.
#include "tests/fuzz/results.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rushlight::fuzz {

namespace {

bool are_close(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, ScalarType type) {
  if (a.size() != b.size()) return false;
  if (type != ScalarType::Float) return a == b;
  std::vector<float> x(a.size() / sizeof(float));
  std::vector<float> y(x.size());
  if (!x.empty()) {
    std::memcpy(x.data(), a.data(), a.size());
    std::memcpy(y.data(), b.data(), b.size());
  }
  double largest = 0;
  for (const float value : x) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    const double error = std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (error > 1e-3 * largest + 1e-6) return false;
  }
  return true;
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
