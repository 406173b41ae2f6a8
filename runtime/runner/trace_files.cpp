// SPDX-License-Identifier: BSD-3-Clause
// Collects the trace in claimed memory, because writing to files during the run would distort its times.
#include "runtime/runner/trace_files.h"

#include <cstdio>
#include <new>

#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"

namespace rushlight {

namespace {

constexpr size_t kDefaultEtdumpBytes = size_t{64} << 10;
constexpr size_t kDefaultDebugBytes = size_t{256} << 10;

Result<size_t> parse_size(const char* text, size_t otherwise) {
  if (text == nullptr) return otherwise;
  size_t value = 0;
  const char* at = text;
  // The bound keeps the next multiplication from overflowing; a longer number then fails, because digits are
  // left.
  for (; *at >= '0' && *at <= '9' && value < SIZE_MAX / 16; ++at)
    value = value * 10 + static_cast<size_t>(*at - '0');
  RL_CHECK(at != text && *at == 0, Error::InvalidArgument, "%s: expected a number of bytes", text);
  return value;
}

Result<Span<uint8_t>> claim(size_t size, const char* what) {
  const Span<uint8_t> memory = platform::claim_memory(size);
  RL_CHECK(memory.size() == size, Error::MemoryAllocationFailed, "%s: no memory for %lu bytes", what,
           log_number(size));
  return Span<uint8_t>(memory);
}

Error write_file(const char* path, Span<const uint8_t> bytes) {
  const int file = platform::file_open(path, platform::FileMode::Write);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: cannot be written", path);
  const size_t written = platform::file_write(file, bytes.data(), bytes.size());
  platform::file_close(file);
  RL_CHECK(written == bytes.size(), Error::AccessFailed, "%s: wrote %lu of %lu bytes", path,
           log_number(written), log_number(bytes.size()));
  return Error::Ok;
}

}  // namespace

Error TraceFiles::begin(int argc, char** argv) {
  etdump_file_ = argument(argc, argv, "--etdump");
  debug_file_ = argument(argc, argv, "--debug_output");
  // The trace describes the values in the debug output.
  if (etdump_file_ == nullptr) {
    RL_CHECK(debug_file_ == nullptr, Error::InvalidArgument, "--debug_output needs --etdump");
    return Error::Ok;
  }
  RL_TRY_ASSIGN(const size_t events, parse_size(argument(argc, argv, "--etdump_size"), kDefaultEtdumpBytes));
  RL_TRY_ASSIGN(const Span<uint8_t> memory, claim(events, "--etdump"));
  // If instructions can be counted, they serve as the clock: counts repeat exactly, the times of an emulator
  // do not.
  etdump_ = platform::instruction_count() != 0
                ? new (storage_) ETDump(memory, platform::instruction_count, "instructions")
                : new (storage_) ETDump(memory);
  if (debug_file_ == nullptr) return Error::Ok;
  RL_TRY_ASSIGN(const size_t values, parse_size(argument(argc, argv, "--debug_size"), kDefaultDebugBytes));
  RL_TRY_ASSIGN(const Span<uint8_t> debug, claim(values, "--debug_output"));
  sink_ = BufferDataSink(debug);
  etdump_->set_data_sink(&sink_);
  etdump_->set_debug_level(DebugLevel::IntermediateOutputs);
  return Error::Ok;
}

Error TraceFiles::write() {
  if (etdump_ == nullptr) return Error::Ok;
  // finish() closes the open block, also after a failed execution.
  const Span<const uint8_t> file = etdump_->finish();
  RL_CHECK(!file.empty(), Error::MemoryAllocationFailed, "--etdump_size: too small for any trace");
  RL_TRY(write_file(etdump_file_, file));
  if (debug_file_ != nullptr) RL_TRY(write_file(debug_file_, sink_.written()));
  if (etdump_->lost_events() + etdump_->lost_values() > 0) {
    char line[96];
    std::snprintf(line, sizeof line, "trace: %lu events and %lu values did not fit",
                  log_number(etdump_->lost_events()), log_number(etdump_->lost_values()));
    platform::print_line(line);
  }
  return Error::Ok;
}

}  // namespace rushlight
