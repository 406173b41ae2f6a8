// SPDX-License-Identifier: BSD-3-Clause
// The default number of threads for runners.
#pragma once

#include <cstdint>

namespace executorch::extension::cpuinfo {

// Number of physical cores that this process may use, of any speed.
uint32_t get_num_performant_cores();

}  // namespace executorch::extension::cpuinfo

namespace torch::executorch::cpuinfo {
using ::executorch::extension::cpuinfo::get_num_performant_cores;
}
