// SPDX-License-Identifier: BSD-3-Clause
// The default number of threads for runners.
#pragma once

#include <cstdint>

namespace executorch::extension::cpuinfo {

// Number of physical cores that this process may use, of any speed: ExecuTorch counts fast cores only. On
// Linux, cores of the affinity mask without counting hyperthreads twice; elsewhere the processors online. At
// least 1. Reads sysfs on each call.
uint32_t get_num_performant_cores();

}  // namespace executorch::extension::cpuinfo

namespace torch::executorch::cpuinfo {
using ::executorch::extension::cpuinfo::get_num_performant_cores;
}
