// SPDX-License-Identifier: BSD-3-Clause
// Payloads of both formats at every alignment, cut at every length. Accepted payloads are read in place
// later, without checks.
#include "backends/xnnpack/payload.h"

#include <gtest/gtest.h>

#include "backends/calls/blob_map.h"
#include "tests/backends/xnnpack/graph_builder.h"

namespace rushlight::xnnpack {
namespace {

Result<Payload> read(const std::vector<uint8_t>& bytes, const NamedDataMap* named = nullptr) {
  return Payload::read({bytes.data(), bytes.size()}, named);
}

size_t nodes_of(const Payload& payload) {
  return payload.graph().tables(schema::xnn::xnngraph_table::kXnodes).size();
}

TEST(Payload, AGraphWithOrWithoutHeader_IsRead) {
  Graph graph = two_nodes();
  for (const bool is_new : {false, true}) {
    graph.is_new = is_new;
    const std::vector<uint8_t> alone = graph.build(), behind = with_header(alone, {});
    for (const auto& bytes : {alone, behind}) {
      const auto payload = read(bytes);
      ASSERT_TRUE(payload.ok());
      EXPECT_EQ(nodes_of(*payload), 2u);
    }
  }
}

TEST(Payload, AGraphAtAnyAddress_IsRead) {
  for (uint32_t at = 30; at < 40; ++at) {
    const std::vector<uint8_t> bytes = with_header(two_nodes().build(), {}, at);
    const auto payload = read(bytes);
    ASSERT_TRUE(payload.ok()) << at;
    EXPECT_EQ(nodes_of(*payload), 2u);
  }
}

TEST(Payload, EachShorterPayload_IsRefused) {
  const std::vector<uint8_t> whole = with_header(two_nodes().build(), {1, 2, 3, 4});
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(read(bytes).error(), Error::InvalidProgram) << size;
  }
  EXPECT_TRUE(read(whole).ok());
}

TEST(Payload, AnotherIdentifier_IsRefused) {
  std::vector<uint8_t> bytes = two_nodes().build();
  bytes[7] = '2';
  EXPECT_EQ(read(bytes).error(), Error::InvalidProgram);
}

TEST(Payload, PartsThatLeaveIt_AreRefused) {
  const std::vector<uint8_t> whole = with_header(two_nodes().build(), {1, 2, 3, 4});
  for (const size_t field : {10, 14, 18, 22}) {  // offset and size of the graph, and of the constants
    for (const uint32_t number : {UINT32_MAX, UINT32_MAX - 31, static_cast<uint32_t>(whole.size() + 1)}) {
      std::vector<uint8_t> bytes = whole;
      std::memcpy(bytes.data() + field, &number, sizeof number);
      EXPECT_EQ(read(bytes).error(), Error::InvalidProgram) << field;
    }
  }
}

TEST(Payload, BuffersInTheGraph_AreItsConstants) {
  Graph graph = two_nodes();
  graph.buffers = {{}, {1, 2, 3}};
  const std::vector<uint8_t> bytes = graph.build();
  const auto payload = read(bytes);
  ASSERT_TRUE(payload.ok());
  ASSERT_TRUE(payload->constant(1).ok());
  EXPECT_EQ(payload->constant(1)->size(), 3u);
  EXPECT_EQ((*payload->constant(1))[2], 3);
  EXPECT_EQ(payload->constant(0).error(), Error::InvalidProgram);
  EXPECT_EQ(payload->constant(2).error(), Error::InvalidProgram);
}

TEST(Payload, ConstantsBehindTheGraph_LieInside) {
  Graph graph = two_nodes();
  graph.constants = {{0, 0, ""}, {2, 2, ""}};
  const std::vector<uint8_t> behind = {1, 2, 3, 4};
  const std::vector<uint8_t> bytes = with_header(graph.build(), behind);
  const auto payload = read(bytes);
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ((*payload->constant(1))[1], 4);
  for (const auto& [offset, size] :
       {std::pair<uint64_t, uint64_t>{3, 2}, {5, 0}, {0, 5}, {UINT64_MAX - 1, 3}}) {
    graph.constants[1] = {offset, size, ""};
    EXPECT_EQ(read(with_header(graph.build(), behind)).error(), Error::InvalidProgram);
    EXPECT_EQ(read(graph.build()).error(), Error::InvalidProgram);
  }
}

TEST(Payload, NamedConstants_AreAskedFor) {
  const uint8_t weights[] = {5, 6, 7};
  BlobMap named;
  named.add("w", {weights, 3});
  Graph graph = two_nodes();
  graph.constants = {{UINT64_MAX, 0, ""}, {UINT64_MAX, 2, "w"}};
  const std::vector<uint8_t> bytes = graph.build();
  const auto payload = read(bytes, &named);
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(payload->constant(1)->size(), 2u);
  EXPECT_EQ((*payload->constant(1))[1], 6);
  EXPECT_EQ(read(bytes).error(), Error::NotFound);
  graph.constants[1] = {UINT64_MAX, 4, "w"};
  EXPECT_EQ(read(graph.build(), &named).error(), Error::InvalidProgram);
  graph.constants[1] = {UINT64_MAX, 1, "v"};
  EXPECT_FALSE(read(graph.build(), &named).ok());
}

}  // namespace
}  // namespace rushlight::xnnpack
