// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/calls/flat_writer.h"

namespace rushlight {

// Serialises a list of calls as a program file (.pte) with one method. Constants become external
// tensors: the file holds their keys, and the list serves their bytes when the program is loaded. Use it
// once.
class ProgramWriter {
 public:
  // Precondition: plan_storages() (plan.h) has set the offsets of the list's storages; `planned` is the size
  // of planned memory in bytes. The list must outlive the writer.
  ProgramWriter(const CallList& list, uint64_t planned);

  // Returns the file. Error: OutOfResources (more than 2 GiB).
  [[nodiscard]] Result<std::vector<uint8_t>> write();

 private:
  using Position = FlatWriter::Position;

  // Write the execution plan; a value, with its contents as a plain box or a tensor; a call. Each returns the
  // position of its table, which the caller links.
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
