// SPDX-License-Identifier: BSD-3-Clause
// The named data of a program file.
#pragma once

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/named_data_map.h>

#include "compat/detail/data_map.h"
#include "runtime/program/program_data_map.h"

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

class PteDataMap final : public rushlight::compat::OfficialDataMap<rushlight::ProgramDataMap> {
 public:
  // `program` outlives the map.
  explicit PteDataMap(const rushlight::Program& program)
      : OfficialDataMap(rushlight::ProgramDataMap(program)) {}
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
