// SPDX-License-Identifier: BSD-3-Clause
// The inner method reports instructions by index, which is the index of a call in the list: names and handles
// are prepared once, in the constructor.
#include "backends/calls/call_tracer.h"

#include <cstring>
#include <map>

namespace rushlight {

namespace {

constexpr char kOperatorEvent[] = "native_call_";  // prefix of OperatorScope's events
constexpr uint32_t kNoHandle = 65535;              // nodes that the official exporter's passes add

}  // namespace

CallTracer::CallTracer(const CallList& calls) {
  std::map<std::string, size_t> counts;
  for (size_t i = 0; i < calls.num_calls(); ++i) {
    std::string name = calls.operator_name(i);
    // Without the namespace.
    if (const size_t space = name.find("::"); space != std::string::npos) name.erase(0, space + 2);
    const size_t count = ++counts[name];
    const uint32_t handle = calls.debug_handle(i);
    calls_.push_back({name + " #" + std::to_string(count),
                      handle == kNoHandle ? "" : "debug_handle=" + std::to_string(handle)});
  }
}

void CallTracer::report_to(EventTracer* outer) {
  outer_ = outer;
  if (outer == nullptr) return;
  set_debug_level(outer->debug_level());
  set_profiling_level(outer->profiling_level());
}

const CallTracer::Shown* CallTracer::current() const {
  // Events outside of instructions (the method itself) have no chain id.
  const bool in_call = outer_ != nullptr && chain_id() != kUnsetChainId && debug_handle() < calls_.size();
  return in_call ? &calls_[debug_handle()] : nullptr;
}

EventTracerEntry CallTracer::start_profiling(const char* name, ChainId, DebugHandle) {
  const Shown* shown = current();
  // OperatorScope reports the kernel inside of the instruction's event; forwarding both would count the time
  // twice.
  if (shown == nullptr || std::strncmp(name, kOperatorEvent, sizeof kOperatorEvent - 1) != 0) return {};
  return outer_->start_profiling_delegate({shown->name.c_str()});
}

void CallTracer::end_profiling(const EventTracerEntry& entry) {
  const Shown* shown = current();
  if (shown == nullptr || entry.delegate_id_kind == DelegateIdKind::None) return;
  const auto* metadata = reinterpret_cast<const uint8_t*>(shown->metadata.data());
  outer_->end_profiling_delegate(entry, {metadata, shown->metadata.size()});
}

Result<bool> CallTracer::log_value(const EValue& value, LoggedValue kind) {
  const Shown* shown = current();
  // Outputs of the inner method are outputs of its calls, which have been logged.
  if (shown == nullptr || kind != LoggedValue::IntermediateOutput) return false;
  return outer_->log_delegate_output({shown->name.c_str()}, value);
}

}  // namespace rushlight
