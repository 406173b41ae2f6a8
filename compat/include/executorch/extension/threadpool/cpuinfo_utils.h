// SPDX-License-Identifier: BSD-3-Clause
// How many threads runners start.
#pragma once

#include <cstdint>

namespace executorch::extension::cpuinfo {

// The physical cores that this process may use, whatever their speed.
uint32_t get_num_performant_cores();

}  // namespace executorch::extension::cpuinfo

namespace torch::executorch::cpuinfo {
using ::executorch::extension::cpuinfo::get_num_performant_cores;
}
