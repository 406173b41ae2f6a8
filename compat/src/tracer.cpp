// SPDX-License-Identifier: BSD-3-Clause
// Passes rushlight's events to an official tracer. The current instruction is set before each event that
// records it.
#include "compat/detail/tracer.h"

#include "compat/detail/stack.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::ET_RUNTIME_NAMESPACE;

namespace {

EventTracerEntry ours(const et::EventTracerEntry& entry) {
  return {entry.event_id, entry.chain_id, entry.debug_handle, entry.start_time,
          static_cast<DelegateIdKind>(entry.delegate_event_id_type)};
}

et::EventTracerEntry official(const EventTracerEntry& entry) {
  return {entry.event_id, entry.chain_id, entry.debug_handle, entry.start_time,
          static_cast<et::DelegateDebugIdType>(entry.delegate_id_kind)};
}

Result<bool> ours(const et::Result<bool>& logged) {
  if (!logged.ok()) return ours(logged.error());
  return *logged;
}

}  // namespace

EventTracer* OurTracer::get() {
  if (tracer_ == nullptr) return nullptr;
  // Equal enumerations. The base class holds a copy, which the runtime tests without a virtual call.
  set_debug_level(static_cast<DebugLevel>(tracer_->event_tracer_debug_level()));
  set_profiling_level(static_cast<ProfilingLevel>(tracer_->event_tracer_profiling_level()));
  return this;
}

void OurTracer::create_event_block(const char* name) { tracer_->create_event_block(name); }

EventTracerEntry OurTracer::start_profiling(const char* name, ChainId chain, DebugHandle handle) {
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
  return ours(tracer_->start_profiling(name, chain, handle));
}

void OurTracer::end_profiling(const EventTracerEntry& entry) { tracer_->end_profiling(official(entry)); }

EventTracerEntry OurTracer::start_profiling_delegate(DelegateEventId id) {
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
  return ours(tracer_->start_profiling_delegate(id.name, id.index));
}

void OurTracer::end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) {
  tracer_->end_profiling_delegate(official(entry), metadata.data(), metadata.size());
}

void OurTracer::log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                                       Span<const uint8_t> metadata) {
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
  tracer_->log_profiling_delegate(id.name, id.index, start_time, end_time, metadata.data(), metadata.size());
}

Result<bool> OurTracer::log_value(const EValue& value, LoggedValue kind) {
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
#ifdef USE_ATEN_LIB
  OfficialValues views;
  return ours(tracer_->log_evalue(views.of(value), static_cast<et::LoggedEValueType>(kind)));
#else
  return ours(tracer_->log_evalue(et::EValue(value), static_cast<et::LoggedEValueType>(kind)));
#endif
}

Result<bool> OurTracer::log_delegate_output(DelegateEventId id, const EValue& value) {
  // Numbers are not passed on.
  if (!value.is_tensor()) return Error::NotSupported;
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
#ifdef USE_ATEN_LIB
  const executorch::aten::Tensor tensor = rushlight::aten::alias(value.to_tensor());
#else
  const executorch::aten::Tensor tensor(value.to_tensor());
#endif
  return ours(tracer_->log_intermediate_output_delegate(id.name, id.index, tensor));
}

Result<bool> OurTracer::log_delegate_output(DelegateEventId id, Span<const Tensor> values) {
  tracer_->set_chain_debug_handle(chain_id(), debug_handle());
#ifdef USE_ATEN_LIB
  std::vector<executorch::aten::Tensor> views;
  for (const Tensor& value : values) views.push_back(rushlight::aten::alias(value));
  const executorch::runtime::ArrayRef<executorch::aten::Tensor> tensors(views.data(), views.size());
#else
  const executorch::runtime::ArrayRef<executorch::aten::Tensor> tensors(
      static_cast<const executorch::aten::Tensor*>(values.data()), values.size());
#endif
  return ours(tracer_->log_intermediate_output_delegate(id.name, id.index, tensors));
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
