// SPDX-License-Identifier: BSD-3-Clause
// A frame is a small arena: the parts of the method's own that hold the arguments of one call.
#include "runtime/executor/method_calls.h"

#include "runtime/base/log.h"
#include "runtime/executor/arena_block.h"
#include "runtime/program/layout.h"
#include "runtime/program/schema.h"

namespace rushlight {

using flatbuffer::FieldPair;
using flatbuffer::Table;

Result<ArenaLayout> MethodCalls::frame_layout() const {
  PlanCounts all;
  RL_TRY(count_plan(method_.plan_, &all));
  PlanCounts counts;
  for (const ArenaPart part :
       {ArenaPart::Made, ArenaPart::IntLists, ArenaPart::IntListItems, ArenaPart::TensorLists,
        ArenaPart::TensorListItems, ArenaPart::OptionalTensorLists, ArenaPart::OptionalTensorListItems,
        ArenaPart::Arguments}) {
    counts[part] = all[part];
  }
  return lay_out_arena(counts, sizeof(void*));
}

Result<size_t> MethodCalls::frame_bytes() const {
  RL_TRY_ASSIGN(const ArenaLayout layout, frame_layout());
  RL_CHECK(layout.size <= SIZE_MAX, Error::MemoryAllocationFailed, "frame: needs %lu bytes",
           log_number(layout.size));
  return static_cast<size_t>(layout.size);
}

Result<CallFrame> MethodCalls::make_frame(Arena* memory, Arena* temporary, ThreadPool* threads) const {
  RL_TRY_ASSIGN(const ArenaLayout layout, frame_layout());
  void* block = layout.size > SIZE_MAX ? nullptr : memory->allocate(static_cast<size_t>(layout.size), 8);
  RL_CHECK(block != nullptr, Error::MemoryAllocationFailed, "frame: needs %lu bytes",
           log_number(layout.size));
  CallFrame frame;
  MethodValues::ValueTables values = method_.frame_.values.value_tables();
  assign_frame(ArenaBlock(layout, static_cast<uint8_t*>(block)), &values, &frame.arguments);
  frame.values = MethodValues(method_.plan_.tables(schema::plan::kValues), values);
  frame.temporary = temporary;
  frame.threads = threads;
  return frame;
}

Error MethodCalls::make(CallFrame& frame, const CallSite& site) {
  if (method_.is_folded(site.number)) return Error::Ok;
  FieldPair call(schema::kernel_call::kOpIndex, schema::kernel_call::kArgs);
  call.find(site.call);
  return method_.call_kernel(frame, call, site.number);
}

Error MethodCalls::make(const CallSite& site) {
  const Error error = make(method_.frame_, site);
  return error == Error::Ok ? error : report(error, site);
}

const KernelEntry& MethodCalls::kernel(Table call) const {
  return *method_.kernels_[call.scalar<int32_t>(schema::kernel_call::kOpIndex)];
}

}  // namespace rushlight
