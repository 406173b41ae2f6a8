// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quantization/block_weight.h"

#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/sizes.h"
#include "runtime/base/checked.h"
#include "runtime/tensor/float16.h"

namespace rushlight::kernels {

namespace {

// Limits that keep the bytes of a panel in range, even with the largest header and the smallest group.
constexpr int64_t kMostDepth = INT32_MAX / 16;
constexpr int64_t kMostGroup = 65536;

// A group of 16 inputs, or of a multiple of 32, shares a scale, and with has_minimum a minimum.
Error read_form(const BlockArguments& arguments, ukernel::BlockForm* form) {
  const int64_t group = arguments.group;
  RL_CHECK(group == 16 || (group > 0 && group % 32 == 0 && group <= kMostGroup), Error::InvalidArgument,
           "group: expected 16 or a multiple of 32 up to %ld, got %ld", static_cast<long>(kMostGroup),
           static_cast<long>(group));
  const bool is_single = arguments.scales == static_cast<int64_t>(ScalarType::Float);
  RL_CHECK(is_single || arguments.scales == static_cast<int64_t>(ScalarType::Half), Error::InvalidType,
           "scales: expected dtype float16 or float32, got %ld", static_cast<long>(arguments.scales));
  form->group = static_cast<size_t>(group);
  form->is_byte = arguments.bits == 8;
  form->is_single = is_single;
  form->has_minimum = arguments.has_minimum;
  return Error::Ok;
}

}  // namespace

// A byte tensor need not have the alignment of float, hence memcpy.
float BlockWeight::real(const uint8_t* from, size_t feature) const {
  if (form.is_single) {
    float value;
    std::memcpy(&value, from + feature * sizeof(value), sizeof(value));
    return value;
  }
  uint16_t half;
  std::memcpy(&half, from + feature * sizeof(half), sizeof(half));
  return internal::half_to_float(half);
}

// Element (feature, k) of a panel [depth][kBlockFeatures] of float16.
float BlockWeight::half(size_t feature, size_t k) const {
  const uint8_t* panel = panel_data(feature / ukernel::kBlockFeatures);
  uint16_t half;
  std::memcpy(&half, panel + (k * ukernel::kBlockFeatures + feature % ukernel::kBlockFeatures) * sizeof(half),
              sizeof(half));
  return internal::half_to_float(half);
}

Error make_block_weight(const Tensor& weight, const BlockArguments& arguments, BlockWeight* made) {
  RL_CHECK(arguments.depth >= 0 && arguments.depth <= kMostDepth, Error::InvalidArgument,
           "depth: expected 0 to %ld, got %ld", static_cast<long>(kMostDepth),
           static_cast<long>(arguments.depth));
  // The form has to be known first: the expected sizes of the tensor follow from it.
  made->form.depth = static_cast<size_t>(arguments.depth);
  made->is_half = arguments.bits == 16;
  RL_CHECK(made->is_half || arguments.bits == 4 || arguments.bits == 8, Error::InvalidArgument,
           "bits: expected 4, 8 or 16, got %ld", static_cast<long>(arguments.bits));
  if (!made->is_half) RL_TRY(read_form(arguments, &made->form));
  RL_CHECK(arguments.features >= 0 && arguments.features <= INT32_MAX, Error::InvalidArgument,
           "features: expected 0 to %ld, got %ld", static_cast<long>(INT32_MAX),
           static_cast<long>(arguments.features));
  made->features = static_cast<size_t>(arguments.features);
  made->data = weight.const_data_ptr<uint8_t>();
  RL_CHECK(weight.scalar_type() == ScalarType::Byte, Error::InvalidType,
           "weight: expected dtype uint8, got %s", to_string(weight.scalar_type()));
  // One row of bytes for each panel; the last panel is as long as the others.
  const bool has_sizes = weight.dim() == 2 && static_cast<size_t>(weight.size(0)) == made->panels() &&
                         static_cast<size_t>(weight.size(1)) == made->panel_bytes();
  RL_CHECK(has_sizes && is_row_major(weight.dim_order(), weight.sizes()), Error::InvalidArgument,
           "weight: expected [%lu, %lu] bytes in row-major order for %lu x %lu values of %ld bits, got "
           "[%ld, %ld] in rank %d",
           log_number(made->panels()), log_number(made->panel_bytes()), log_number(made->features),
           log_number(made->form.depth), static_cast<long>(arguments.bits),
           weight.dim() > 0 ? static_cast<long>(weight.size(0)) : 0L,
           weight.dim() > 1 ? static_cast<long>(weight.size(1)) : 0L, static_cast<int>(weight.dim()));
  return Error::Ok;
}

}  // namespace rushlight::kernels
