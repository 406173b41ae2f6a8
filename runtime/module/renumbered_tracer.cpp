// SPDX-License-Identifier: BSD-3-Clause
// The base class keeps the present instruction without a virtual call, so each report passes it on first.
#include "runtime/module/renumbered_tracer.h"

namespace rushlight {

void RenumberedTracer::adopt_levels() {
  set_debug_level(outer_.debug_level());
  set_profiling_level(outer_.profiling_level());
}

// Reports outside of instructions have no chain.
DebugHandle RenumberedTracer::stated(ChainId chain, DebugHandle handle) const {
  return chain == kUnsetChainId || handle >= stated_.size() ? handle : stated_[handle];
}

void RenumberedTracer::number() {
  outer_.set_chain_debug_handle(chain_id(), stated(chain_id(), debug_handle()));
}

void RenumberedTracer::create_event_block(const char* name) {
  outer_.create_event_block(name);
  adopt_levels();
}

EventTracerEntry RenumberedTracer::start_profiling(const char* name, ChainId chain, DebugHandle handle) {
  number();
  return outer_.start_profiling(name, chain, stated(chain, handle));
}

void RenumberedTracer::end_profiling(const EventTracerEntry& entry) {
  number();
  outer_.end_profiling(entry);
}

EventTracerEntry RenumberedTracer::start_profiling_delegate(DelegateEventId id) {
  number();
  return outer_.start_profiling_delegate(id);
}

void RenumberedTracer::end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) {
  outer_.end_profiling_delegate(entry, metadata);
}

void RenumberedTracer::log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                                              Span<const uint8_t> metadata) {
  number();
  outer_.log_profiling_delegate(id, start_time, end_time, metadata);
}

Result<bool> RenumberedTracer::log_value(const EValue& value, LoggedValue kind) {
  number();
  return outer_.log_value(value, kind);
}

Result<bool> RenumberedTracer::log_delegate_output(DelegateEventId id, const EValue& value) {
  number();
  return outer_.log_delegate_output(id, value);
}

Result<bool> RenumberedTracer::log_delegate_output(DelegateEventId id, Span<const Tensor> values) {
  number();
  return outer_.log_delegate_output(id, values);
}

}  // namespace rushlight
