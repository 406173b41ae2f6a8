// SPDX-License-Identifier: BSD-3-Clause
// Grouped weights with random elements and scales, for tests of dynamic_gemm and mixed_gemm: linear layers
// whose weights have 8 or 4 bits and a scale per group (grouped_weights.h).
#pragma once

#include <cstdint>

#include "kernels/ukernel/grouped_weights.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"

namespace rushlight::testing {

// Uniform in [-size, size], in steps of size / 10000.
inline void fill_floats(Guarded<float>& numbers, float size) {
  for (float& each : numbers) {
    each = size * (static_cast<float>(int8_bits()() % 20001) / 10000.0F - 1.0F);
  }
}

struct GroupedSample {
  ukernel::GroupedForm form;
  size_t columns;
  size_t gap = 0;  // unused bytes after the elements of a row
};

// A weight of `columns` rows (output channels) of that form between protected pages. The last row has no gap,
// so a read behind it faults.
class GroupedSamples {
 public:
  GroupedSamples(const GroupedSample& sample, Edge edge)
      : row_((bytes_of(sample.form) + sample.gap)),
        numbers_(sample.columns * row_ - (row_ == 0 ? 0 : sample.gap), edge),
        scales_(sample.columns * sample.form.groups, edge),
        form_(sample.form) {
    fill_int8(numbers_);
    fill_floats(scales_, 0.01F);
  }

  // A view of the sample, which must outlive it.
  [[nodiscard]] ukernel::GroupedWeights weights() const {
    return {form_, numbers_.data(), static_cast<ptrdiff_t>(row_), scales_.data(),
            static_cast<ptrdiff_t>(form_.groups)};
  }

 private:
  // Bytes of a row: two elements of 4 bits in a byte.
  static size_t bytes_of(const ukernel::GroupedForm& form) {
    const size_t depth = form.groups * form.group;
    return form.is_packed ? (depth + 1) / 2 : depth;
  }

  size_t row_;
  Guarded<int8_t> numbers_;
  Guarded<float> scales_;
  ukernel::GroupedForm form_;
};

// {groups, elements of a group, packed}: depths of 0 and 1, odd depths, depths below, at and above a vector.
inline const ukernel::GroupedForm kGroupedForms[] = {
    {1, 0, false},  {1, 1, false},  {1, 5, false}, {3, 7, false},  {2, 8, false},  {1, 64, false},
    {4, 32, false}, {1, 0, true},   {1, 1, true},  {1, 7, true},   {3, 2, true},   {2, 10, true},
    {3, 16, true},  {1, 129, true}, {4, 32, true}, {1, 300, true}, {2, 128, false}};

}  // namespace rushlight::testing
