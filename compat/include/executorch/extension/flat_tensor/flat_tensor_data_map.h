// SPDX-License-Identifier: BSD-3-Clause
// A .ptd file, with weights outside of the program: rushlight::FlatTensor under the official interface. Its
// directory is read and verified at load, data on request; lookup is logarithmic in the number of keys.
//
//   auto weights = FlatTensorDataMap::load(&loader);
//   auto method = program->load_method("forward", &memory, nullptr, &*weights);
//
// The functions of NamedDataMap are implemented by OfficialDataMap. get_data() returns the loader's memory in
// place if the loader permits.
#pragma once

#include <memory>
#include <vector>

#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/platform/compiler.h>

#include "compat/detail/data_map.h"
#include "runtime/program/flat_tensor.h"

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

class FlatTensorDataMap final : public rushlight::compat::OfficialDataMap<rushlight::FlatTensor> {
 public:
  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;

  // `loader` must outlive the map and the data that it returns. Errors: InvalidExternalData (damaged, or not
  // a .ptd), NotSupported (unknown schema version), InvalidArgument (null loader), or the loader's.
  static executorch::runtime::Result<FlatTensorDataMap> load(executorch::runtime::DataLoader* loader);

 private:
  FlatTensorDataMap(std::unique_ptr<rushlight::compat::OurLoader> loader, rushlight::FlatTensor map,
                    std::vector<uint32_t> sorted)
      : OfficialDataMap(std::move(map)), loader_(std::move(loader)), sorted_(std::move(sorted)) {}

  std::unique_ptr<rushlight::compat::OurLoader> loader_;
  std::vector<uint32_t> sorted_;  // sorted keys; their address is stable if the vector moves
};

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE
