// SPDX-License-Identifier: BSD-3-Clause
// The .pte schema as slot numbers: the field order of each table is the file format.
#pragma once

#include <cstdint>

#include "runtime/program/flatbuffer.h"

namespace rushlight::schema {

namespace program {
enum : unsigned {
  kVersion,
  kExecutionPlan,
  kConstantBuffer,
  kBackendDelegateData,
  kSegments,
  kConstantSegment,
  kMutableDataSegments,
  kNamedData,
};
}
namespace plan {
enum : unsigned {
  kName,
  kContainerMetaType,
  kValues,
  kInputs,
  kOutputs,
  kChains,
  kOperators,
  kDelegates,
  kNonConstBufferSizes,
  kNonConstBufferDevice,
};
}
namespace tensor {
enum : unsigned {
  kScalarType,
  kStorageOffset,
  kSizes,
  kDimOrder,
  kRequiresGrad,
  kDataBufferIdx,
  kAllocationInfo,
  kLayout,
  kShapeDynamism,
  kExtraTensorInfo,
};
}
namespace allocation {
enum : unsigned { kMemoryId, kMemoryOffsetLow, kMemoryOffsetHigh };
}
namespace extra {
enum : unsigned { kMutableDataSegmentsIdx, kFullyQualifiedName, kLocation, kDeviceType, kDeviceIndex };
}
namespace evalue {
enum : unsigned { kKind, kValue };
}
namespace boxed {  // Int, Bool, Double, String and the lists have one field each
enum : unsigned { kItem };
}
namespace chain {
enum : unsigned { kInputs, kOutputs, kInstructions, kStacktrace };
}
namespace instruction {
enum : unsigned { kKind, kArguments };
}
namespace kernel_call {
enum : unsigned { kOpIndex, kArgs };
}
namespace delegate_call {
enum : unsigned { kDelegateIndex, kArgs };
}
namespace move_call {
enum : unsigned { kFrom, kTo };
}
namespace jump_false_call {
enum : unsigned { kCondValueIndex, kDestinationInstruction };
}
namespace free_call {
enum : unsigned { kValueIndex };
}
namespace operator_name {
enum : unsigned { kName, kOverload };
}
namespace delegate {
enum : unsigned { kId, kProcessed, kCompileSpecs };
}
namespace delegate_reference {
enum : unsigned { kLocation, kIndex };
}
namespace compile_spec {
enum : unsigned { kKey, kValue };
}
namespace buffer_device {
enum : unsigned { kBufferIdx, kDeviceType, kDeviceIndex };
}
namespace named_data {
enum : unsigned { kKey, kSegmentIndex };
}
namespace segment {
enum : unsigned { kOffset, kSize };
}
namespace subsegment {
enum : unsigned { kSegmentIndex, kOffsets };
}
namespace buffer {
enum : unsigned { kStorage };
}

enum class ValueKind : uint8_t {
  Null = 1,
  Int,
  Bool,
  Double,
  Tensor,
  String,
  IntList,
  DoubleList,
  BoolList,
  TensorList,
  OptionalTensorList,
};

enum class TensorDataLocation : uint8_t { Segment, External };
enum class DelegateDataLocation : uint8_t { Inline, Segment };

enum class InstructionKind : uint8_t { KernelCall = 1, DelegateCall, MoveCall, JumpFalseCall, FreeCall };

// All tables of a program, the root first, for flatbuffer::verify.
extern const flatbuffer::TableType kProgramTables[];
// Likewise of a data file (.ptd) and of a bundled program (.bpte); beside their readers.
extern const flatbuffer::TableType kDataFileTables[];
extern const flatbuffer::TableType kBundledProgramTables[];

}  // namespace rushlight::schema
