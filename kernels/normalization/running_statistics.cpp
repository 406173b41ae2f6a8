// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/normalization/running_statistics.h"

#include "kernels/elements/element_access.h"

namespace rushlight::kernels {

namespace {

void keep(const Tensor& running, size_t channel, double momentum, double value) {
  char* const at = running.mutable_data_ptr<char>() + channel * running.element_size();
  const double kept = load_number(at, running.scalar_type());
  store_number(at, running.scalar_type(), momentum * value + (1 - momentum) * kept);
}

}  // namespace

void RunningStatistics::update(size_t channel, double batch_mean, double biased_variance,
                               size_t count) const {
  const auto n = static_cast<double>(count);
  keep(mean, channel, momentum, batch_mean);
  keep(var, channel, momentum, biased_variance * n / (n - 1));
}

}  // namespace rushlight::kernels
