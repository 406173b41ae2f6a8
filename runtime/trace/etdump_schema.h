// SPDX-License-Identifier: BSD-3-Clause
// Tables of an ETDump file: the slot numbers of their fields, in the order of ExecuTorch's
// etdump_schema_flatcc.fbs.
#pragma once

#include <cstdint>

namespace rushlight::etdump {

// File identifier and schema version in the root table.
inline constexpr char kIdentifier[] = "ED00";
inline constexpr uint32_t kVersion = 0;

namespace file {
enum : uint16_t { kVersion, kRunData };  // the root table
}
namespace run {
enum : uint16_t { kName, kBundledInputIndex, kAllocators, kEvents };  // one block of events
}
// The allocators of a block; events refer to them by number, counted from 1.
namespace allocator {
enum : uint16_t { kName };
}
namespace event {
enum : uint16_t { kProfile, kAllocation, kDebug };  // exactly one field is set
}
// An event with a start and an end, in units of the tracer's clock. Events of delegates have one of the two
// delegate ids; others have a name instead. kMetadata holds bytes of the backend.
namespace profile {
enum : uint16_t {
  kName,
  kChainIndex,
  kInstructionId,
  kDelegateIdInt,
  kDelegateIdStr,
  kMetadata,
  kStartTime,
  kEndTime
};
}
// Bytes that were allocated from one of the block's allocators.
namespace allocation {
enum : uint16_t { kAllocatorId, kSize };
}
// A logged value (kEntry), with the ids of the instruction, or also of the delegate's part, that produced it.
namespace debug {
enum : uint16_t { kChainIndex, kInstructionId, kEntry, kDelegateIdInt, kDelegateIdStr };
}
// A logged value: kKind tells which field holds it. kOutput is set for outputs of the method.
namespace value {
enum : uint16_t { kKind, kTensor, kTensorList, kInt, kFloat, kDouble, kBool, kOutput };
enum class Kind : uint8_t { Null, Int, Bool, Float, Double, Tensor, TensorList, String };
}  // namespace value
// A logged tensor: its bytes are at kOffset in the data sink; -1 if there are none.
namespace tensor {
enum : uint16_t { kScalarType, kSizes, kStrides, kOffset };
}
namespace tensor_list {
enum : uint16_t { kTensors };
}
// Numbers and bools are tables with one field.
namespace boxed_number {
enum : uint16_t { kValue };
}

}  // namespace rushlight::etdump
