// SPDX-License-Identifier: BSD-3-Clause
// Results of a run, to be compared with the results of another configuration: a copy of each output tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::fuzz {

struct Results {
  Error error = Error::NotFound;
  std::vector<std::vector<SizesType>> shapes;
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<ScalarType> types;

  // Appends the tensor's current shape and elements.
  void add(const TensorImpl& tensor);
};

// True if results are equal bit for bit.
bool are_same(const Results& a, const Results& b);

// True if float32 results differ only as by another order of additions: by at most 1e-3 of the tensor's
// largest magnitude plus 1e-6. NaN and infinities match anything, because overflow depends on the order;
// other dtypes must be equal.
bool are_close(const Results& a, const Results& b);

}  // namespace rushlight::fuzz
