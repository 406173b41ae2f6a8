// SPDX-License-Identifier: BSD-3-Clause
// The loop from a request to its response, shared by the runners of programs and of baked programs.
#pragma once

#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/runner/case_stream.h"

namespace rushlight {

// Reads the calls of `request` in order and writes the response to the file `outputs`. call(reader, writer,
// begin_with_calls) executes the next call; `begin_with_calls` is the number of calls for the first one, then
// 0. Stops at the first error. Errors: InvalidArgument (not a case stream), AccessFailed (the file), or as
// a call.
template <class Call>
Error answer_calls(Span<const uint8_t> request, const char* outputs, bool* fresh_methods, Call&& call) {
  // `fresh_methods` receives the request's flag: load a new method for each call.
  CaseReader reader(request);
  uint32_t calls = 0;
  RL_CHECK(reader.begin(&calls, fresh_methods), Error::InvalidArgument, "request: not a case stream");
  const int file = platform::file_open(outputs, platform::FileMode::Write);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: cannot be written", outputs);
  CaseWriter writer(file);
  Error error = Error::Ok;
  for (uint32_t i = 0; i < calls && error == Error::Ok; ++i)
    error = call(&reader, &writer, i == 0 ? calls : 0);
  platform::file_close(file);
  if (error != Error::Ok) return error;
  RL_CHECK(writer.ok(), Error::AccessFailed, "%s: cannot be written", outputs);
  return Error::Ok;
}

}  // namespace rushlight
