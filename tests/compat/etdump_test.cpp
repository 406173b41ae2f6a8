// SPDX-License-Identifier: BSD-3-Clause
// Runs recorded through the official tracer.
#include <cstdlib>
#include <cstring>

#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <gtest/gtest.h>

namespace {

using executorch::etdump::BufferDataSink;
using executorch::etdump::ETDumpGen;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Span;

bool is_etdump(const executorch::etdump::ETDumpResult& result) {
  // A length, the root's offset, the identifier.
  return result.buf != nullptr && result.size > 12 &&
         std::memcmp(static_cast<const char*>(result.buf) + 8, "ED00", 4) == 0;
}

TEST(ETDumpGen, OverARun_WritesAFile) {
  auto tracer = std::make_unique<ETDumpGen>();
  ETDumpGen* dump = tracer.get();
  Module module(RUSHLIGHT_TEST_PROGRAMS "/mutable_counter/model.pte", Module::LoadMode::File,
                std::move(tracer));
  EXPECT_EQ(module.event_tracer(), dump);
  ASSERT_TRUE(module.forward(executorch::extension::ones({3})).ok());
  EXPECT_GE(dump->get_num_blocks(), 1u);
  const auto result = dump->get_etdump_data();
  EXPECT_TRUE(is_etdump(result));
  std::free(result.buf);
  EXPECT_FALSE(dump->is_static_etdump());
}

TEST(ETDumpGen, InGivenMemory_KeepsValuesInTheDebugBuffer) {
  alignas(64) static uint8_t memory[16384];
  alignas(64) static uint8_t values[4096];
  ETDumpGen dump(Span<uint8_t>(memory, sizeof memory));
  dump.set_event_tracer_debug_level(executorch::runtime::EventTracerDebugLogLevel::kProgramOutputs);
  ASSERT_TRUE(dump.set_debug_buffer({values, sizeof values}).ok());
  Module module(RUSHLIGHT_TEST_PROGRAMS "/mutable_counter/model.pte");
  ASSERT_EQ(module.load_method("forward", nullptr, &dump), Error::Ok);
  ASSERT_TRUE(module.forward(executorch::extension::ones({3})).ok());
  EXPECT_TRUE(is_etdump(dump.get_etdump_data()));
  EXPECT_GE(dump.get_data_sink()->get_used_bytes(), 12u);
}

TEST(BufferDataSink, Full_RefusesMore) {
  alignas(64) uint8_t memory[128];
  auto sink = BufferDataSink::create(memory, sizeof memory);
  ASSERT_TRUE(sink.ok());
  EXPECT_EQ(sink->write("1234", 4).get(), 0u);
  EXPECT_EQ(sink->write("1234", 4).get(), 64u);
  EXPECT_EQ(sink->write("1234", 4).error(), Error::OutOfResources);
  EXPECT_EQ(BufferDataSink::create(memory, 1, 3).error(), Error::InvalidArgument);
}

}  // namespace
