// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/calls/flat_writer.h"

namespace rushlight {

// Serialises a list of calls as a program file (.pte).
class ProgramWriter {
 public:
  // `planned` is the size of planned memory in bytes.
  ProgramWriter(const CallList& list, uint64_t planned);

  // Returns the file. Error: OutOfResources (more than 2 GiB).
  [[nodiscard]] Result<std::vector<uint8_t>> write();

 private:
  using Position = FlatWriter::Position;

  Position plan();
  Position value(const CallList::Value& value);
  Position plain(const CallList::Value& value);
  Position tensor(const CallList::Value& value);
  Position instruction(const CallList::Call& call);

  const CallList& list_;
  uint64_t planned_;
  FlatWriter flat_;
};

}  // namespace rushlight
