// SPDX-License-Identifier: BSD-3-Clause
// Event blocks, profiling events and the file structure; etdump_values.cpp logs values. Every addition first
// compares the free memory with an upper bound on its size, so that the file can always be completed.
#include "runtime/trace/etdump.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/trace/etdump_schema.h"

namespace rushlight {

using etdump::Builder;
using etdump::Field;
using etdump::number;
using etdump::number_unless;
using etdump::reference;

namespace {

// Bytes reserved for closing the current block and for finishing the file.
constexpr size_t kBlockEnd = 2 * Builder::vector_bound(0) + Builder::table_bound(4) + sizeof(etdump::Ref);
constexpr size_t kFileEnd = Builder::vector_bound(0) + Builder::table_bound(2) + Builder::kHeaderBound;
constexpr size_t kEventBound = Builder::table_bound(1) + sizeof(etdump::Ref);
constexpr size_t kProfileBound = Builder::table_bound(8) + kEventBound;

constexpr int64_t kLost = -1;

// For the slots of names_ only; the value is not stored in the file.
uint32_t hash(const char* text, size_t length) {
  uint32_t value = 2166136261u;  // FNV-1a
  for (size_t i = 0; i < length; ++i) value = (value ^ static_cast<uint8_t>(text[i])) * 16777619u;
  return value;
}

}  // namespace

void ETDump::reset() {
  builder_.reset();
  if (sink_ != nullptr) sink_->restart();
  file_ = {};
  std::memset(names_, 0, sizeof names_);
  ++file_number_;
  num_blocks_ = 0;
  num_allocators_ = 0;
  num_events_ = 0;
  lost_events_ = 0;
  lost_values_ = 0;
  state_ = State::Empty;
}

bool ETDump::fits(size_t bytes) const { return builder_.free_bytes() >= bytes + kBlockEnd + kFileEnd; }

// Returns true if an event of at most `bytes` bytes fits; opens the block "Default" if none is open.
// Events may begin before the first block does.
bool ETDump::ready_for(size_t bytes) {
  if (state_ == State::Empty) create_event_block("Default");
  return state_ == State::InBlock && fits(bytes);
}

// Limit for block names with a unit.
constexpr size_t kLongestBlockName = 47;

// Writes a name, or returns the existing copy while its slot in the hash table still holds it. Precondition:
// the string fits. Each slot holds one name: a collision costs a second copy in the file, and needs no memory
// for a chain.
ETDump::Ref ETDump::name(const char* text) {
  const size_t length = std::strlen(text);
  Ref& known = names_[hash(text, length) % kNames];
  if (known == 0 || !builder_.is_string(known, text, length)) known = builder_.string(text, length);
  return known;
}

// Returns the name of a block with the unit of its times, truncated to kLongestBlockName bytes.
ETDump::Ref ETDump::block_name(const char* text) {
  if (unit_ == nullptr) return name(text);
  char whole[kLongestBlockName + 1];
  size_t at = 0;
  for (const char* part : {text, " [", unit_, "]"})
    for (; *part != 0 && at < kLongestBlockName; ++part) whole[at++] = *part;
  whole[at] = 0;
  return name(whole);
}

void ETDump::create_event_block(const char* text) {
  if (state_ == State::Finished) reset();
  if (state_ == State::InBlock) close_block();
  const size_t length = unit_ == nullptr ? std::strlen(text) : kLongestBlockName;
  state_ = fits(Builder::string_bound(length)) ? State::InBlock : State::Full;
  if (state_ == State::Full) return;
  block_name_ = block_name(text);
  block_input_ = bundled_input_index();
  ++num_blocks_;
}

void ETDump::close_block() {
  // The stack of waiting references holds finished blocks, then this block's allocators, then its events;
  // track_allocator() refuses allocators after the first event to keep this order.
  const Ref events = builder_.vector_of_waiting(num_events_);
  const Ref allocators = num_allocators_ == 0 ? 0 : builder_.vector_of_waiting(num_allocators_);
  const Field fields[] = {
      reference(etdump::run::kName, block_name_),
      number_unless(etdump::run::kBundledInputIndex, block_input_, kUnsetBundledInputIndex),
      reference(etdump::run::kAllocators, allocators),
      reference(etdump::run::kEvents, events),
  };
  builder_.wait(builder_.table(fields, 4));
  num_events_ = 0;
  num_allocators_ = 0;
}

Span<const uint8_t> ETDump::finish() {
  if (state_ == State::Finished) return file_;
  if (state_ == State::InBlock) close_block();
  state_ = State::Finished;
  // file_ is empty then.
  if (builder_.free_bytes() < kFileEnd) return file_;  // the memory is smaller than the reserved bytes
  const Field fields[] = {
      number(etdump::file::kVersion, etdump::kVersion),
      reference(etdump::file::kRunData, builder_.vector_of_waiting(builder_.waiting())),
  };
  file_ = builder_.finish(builder_.table(fields, 2), etdump::kIdentifier);
  if (lost_events_ + lost_values_ > 0) {
    RL_LOG(Error, "trace: lost %lu events and %lu values", log_number(lost_events_),
           log_number(lost_values_));
  }
  return file_;
}

void ETDump::add_event(uint16_t slot, Ref event) {
  const Field field = reference(slot, event);
  builder_.wait(builder_.table(&field, 1));
  ++num_events_;
}

// The upper half of an entry's event_id identifies the file, the lower half holds the name or index.
EventTracerEntry ETDump::start(const char* text, DelegateIdKind kind) {
  EventTracerEntry entry;
  entry.delegate_id_kind = kind;
  entry.chain_id = chain_id();
  entry.debug_handle = debug_handle();
  const bool fits = ready_for(text == nullptr ? 0 : Builder::string_bound(std::strlen(text)));
  const Ref ref = fits && text != nullptr ? name(text) : 0;
  // At most 31 bits of the file number, so that the id is never negative and cannot equal kLost.
  entry.event_id = fits ? static_cast<int64_t>(uint64_t{file_number_ & INT32_MAX} << 32 | ref) : kLost;
  return entry;
}

EventTracerEntry ETDump::start_profiling(const char* text, ChainId chain, DebugHandle handle) {
  EventTracerEntry entry = start(text, DelegateIdKind::None);
  if (chain != kUnsetChainId) {
    entry.chain_id = chain;
    entry.debug_handle = handle;
  }
  entry.start_time = clock_();
  return entry;
}

EventTracerEntry ETDump::start_profiling_delegate(DelegateEventId id) {
  EventTracerEntry entry = start(id.name, id.name != nullptr ? DelegateIdKind::Name : DelegateIdKind::Index);
  if (id.name == nullptr && entry.event_id != kLost) entry.event_id |= static_cast<uint32_t>(id.index);
  entry.start_time = clock_();
  return entry;
}

void ETDump::end_profiling(const EventTracerEntry& entry) { end(entry, clock_(), {}); }

void ETDump::end_profiling_delegate(const EventTracerEntry& entry, Span<const uint8_t> metadata) {
  end(entry, clock_(), metadata);
}

// Starts an event to write its name, then replaces the time.
void ETDump::log_profiling_delegate(DelegateEventId id, uint64_t start_time, uint64_t end_time,
                                    Span<const uint8_t> metadata) {
  EventTracerEntry entry = start_profiling_delegate(id);
  entry.start_time = start_time;
  end(entry, end_time, metadata);
}

void ETDump::end(const EventTracerEntry& entry, uint64_t end_time, Span<const uint8_t> metadata) {
  // An event that began before reset() refers to a name of the discarded file.
  const bool lost = entry.event_id == kLost || (entry.event_id >> 32) != (file_number_ & INT32_MAX);
  if (lost || !ready_for(kProfileBound + Builder::vector_bound(metadata.size()))) {
    ++lost_events_;
    return;
  }
  const auto id = static_cast<uint32_t>(entry.event_id);
  const DelegateIdKind kind = entry.delegate_id_kind;
  const bool of_delegate = kind != DelegateIdKind::None;
  const Field fields[] = {
      reference(etdump::profile::kName, of_delegate ? 0 : id),
      number(etdump::profile::kChainIndex, entry.chain_id),
      number(etdump::profile::kInstructionId, entry.debug_handle),
      number_unless(etdump::profile::kDelegateIdInt,
                    kind == DelegateIdKind::Index ? static_cast<int32_t>(id) : kUnsetDelegateIndex,
                    kUnsetDelegateIndex),
      reference(etdump::profile::kDelegateIdStr, kind == DelegateIdKind::Name ? id : 0),
      reference(etdump::profile::kMetadata, of_delegate ? builder_.bytes(metadata) : 0),
      number(etdump::profile::kStartTime, entry.start_time),
      number(etdump::profile::kEndTime, end_time),
  };
  add_event(etdump::event::kProfile, builder_.table(fields, 8));
}

AllocatorId ETDump::track_allocator(const char* text) {
  if (!ready_for(Builder::string_bound(std::strlen(text)) + Builder::table_bound(1) + sizeof(Ref)) ||
      num_events_ > 0) {
    ++lost_events_;
    return 0;
  }
  const Field field = reference(etdump::allocator::kName, name(text));
  builder_.wait(builder_.table(&field, 1));
  return static_cast<AllocatorId>(++num_allocators_);
}

void ETDump::track_allocation(AllocatorId id, size_t size) {
  if (!ready_for(Builder::table_bound(2) + kEventBound)) {
    ++lost_events_;
    return;
  }
  const Field fields[] = {
      number(etdump::allocation::kAllocatorId, id),
      number(etdump::allocation::kSize, uint64_t{size}),
  };
  add_event(etdump::event::kAllocation, builder_.table(fields, 2));
}

}  // namespace rushlight
