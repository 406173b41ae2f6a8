// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/schema.h"

namespace rushlight::schema {

namespace {

using flatbuffer::Field;
using flatbuffer::Kind;

// Numbers of the tables below. Members of a union follow each other in the union's order.
enum : uint8_t {
  kProgram,
  kPlan,
  kContainerMetadata,
  kEValue,
  kNull,
  kInt,
  kBool,
  kDouble,
  kTensor,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
  kAllocation,
  kExtraTensorInfo,
  kChain,
  kInstruction,
  kKernelCall,
  kDelegateCall,
  kMoveCall,
  kJumpFalseCall,
  kFreeCall,
  kOperator,
  kDelegate,
  kDelegateReference,
  kCompileSpec,
  kBufferDevice,
  kBuffer,
  kSegment,
  kSubsegment,
  kNamedData,
};

constexpr Field kProgramFields[] = {{Kind::Scalar32},
                                    {Kind::TableVector, kPlan},
                                    {Kind::TableVector, kBuffer},
                                    {Kind::TableVector, kBuffer},
                                    {Kind::TableVector, kSegment},
                                    {Kind::Table, kSubsegment},
                                    {Kind::TableVector, kSubsegment},
                                    {Kind::TableVector, kNamedData}};
constexpr Field kPlanFields[] = {{Kind::String},
                                 {Kind::Table, kContainerMetadata},
                                 {Kind::TableVector, kEValue},
                                 {Kind::Vector32},
                                 {Kind::Vector32},
                                 {Kind::TableVector, kChain},
                                 {Kind::TableVector, kOperator},
                                 {Kind::TableVector, kDelegate},
                                 {Kind::Vector64},
                                 {Kind::TableVector, kBufferDevice}};
constexpr Field kStrings[] = {{Kind::String}, {Kind::String}};  // ContainerMetadata, Operator, String
constexpr Field kEValueFields[] = {{Kind::UnionKind, 11}, {Kind::Union, kNull}};
constexpr Field kInt64[] = {{Kind::Scalar64}};
constexpr Field kInt8[] = {{Kind::Scalar8}};
constexpr Field kTensorFields[] = {{Kind::Scalar8},
                                   {Kind::Scalar32},
                                   {Kind::Vector32},
                                   {Kind::Vector8},
                                   {Kind::Scalar8},
                                   {Kind::Scalar32},
                                   {Kind::Table, kAllocation},
                                   {Kind::Scalar8},
                                   {Kind::Scalar8},
                                   {Kind::Table, kExtraTensorInfo}};
constexpr Field kVector8[] = {{Kind::Vector8}};
constexpr Field kVector32[] = {{Kind::Vector32}};
constexpr Field kVector64[] = {{Kind::Vector64}};
constexpr Field kInts[] = {{Kind::Scalar32}, {Kind::Scalar32}, {Kind::Scalar32}};
constexpr Field kExtraFields[] = {
    {Kind::Scalar64}, {Kind::String}, {Kind::Scalar8}, {Kind::Scalar8}, {Kind::Scalar8}};
// Stack traces are debug data: nothing reads them, so nothing verifies them.
constexpr Field kChainFields[] = {{Kind::Vector32}, {Kind::Vector32}, {Kind::TableVector, kInstruction}};
constexpr Field kInstructionFields[] = {{Kind::UnionKind, 5}, {Kind::Union, kKernelCall}};
constexpr Field kCallFields[] = {{Kind::Scalar32}, {Kind::Vector32}};
constexpr Field kDelegateFields[] = {
    {Kind::String}, {Kind::Table, kDelegateReference}, {Kind::TableVector, kCompileSpec}};
constexpr Field kReferenceFields[] = {{Kind::Scalar8}, {Kind::Scalar32}};
constexpr Field kCompileSpecFields[] = {{Kind::String}, {Kind::Vector8}};
constexpr Field kDeviceFields[] = {{Kind::Scalar32}, {Kind::Scalar8}, {Kind::Scalar8}};
constexpr Field kSegmentFields[] = {{Kind::Scalar64}, {Kind::Scalar64}};
constexpr Field kSubsegmentFields[] = {{Kind::Scalar32}, {Kind::Vector64}};
constexpr Field kNamedDataFields[] = {{Kind::String}, {Kind::Scalar32}};

}  // namespace

const flatbuffer::TableType kProgramTables[] = {
    {kProgramFields, 8},
    {kPlanFields, 10},
    {kStrings, 2},
    {kEValueFields, 2},
    {nullptr, 0},  // Null
    {kInt64, 1},
    {kInt8, 1},   // Bool
    {kInt64, 1},  // Double
    {kTensorFields, 10},
    {kStrings, 1},
    {kVector64, 1},  // IntList
    {kVector64, 1},  // DoubleList
    {kVector8, 1},   // BoolList
    {kVector32, 1},  // TensorList
    {kVector32, 1},  // OptionalTensorList
    {kInts, 3},      // AllocationDetails
    {kExtraFields, 5},
    {kChainFields, 3},
    {kInstructionFields, 2},
    {kCallFields, 2},  // KernelCall
    {kCallFields, 2},  // DelegateCall
    {kInts, 2},        // MoveCall
    {kInts, 2},        // JumpFalseCall
    {kInts, 1},        // FreeCall
    {kStrings, 2},     // Operator
    {kDelegateFields, 3},
    {kReferenceFields, 2},
    {kCompileSpecFields, 2},
    {kDeviceFields, 3},
    {kVector8, 1},  // Buffer, BackendDelegateInlineData
    {kSegmentFields, 2},
    {kSubsegmentFields, 2},
    {kNamedDataFields, 2},
};

}  // namespace rushlight::schema
