// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/executor/place_set.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

constexpr uint32_t kNone = PlaceSet::kNone;

bool overlap(const Place& a, const Place& b) { return a.begin < b.end && b.begin < a.end; }

std::vector<Place> random_places(size_t count, std::mt19937& random) {
  std::vector<Place> places(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uintptr_t begin = random() % 40;
    places[i] = {begin, begin + 1 + random() % 12, i};
  }
  return places;
}

TEST(PlaceSet, SortsByWherePlacesBegin) {
  std::mt19937 random(1);  // NOLINT: the same each time
  for (size_t count = 0; count < 40; ++count) {
    std::vector<Place> places = random_places(count, random);
    sort({places.data(), places.size()});
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end(),
                               [](const Place& a, const Place& b) { return a.begin < b.begin; }));
    std::vector<bool> seen(count);
    for (const Place& place : places) seen[place.value] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<long>(count));
  }
}

TEST(PlaceSet, FindsOneThatOverlaps_IfThereIsOne) {
  std::mt19937 random(2);  // NOLINT: the same each time
  for (size_t count = 1; count < 30; ++count) {
    std::vector<Place> places = random_places(count, random);
    sort({places.data(), places.size()});
    std::vector<uint32_t> nodes(PlaceSet::kNodes * count);
    PlaceSet set({places.data(), count}, nodes.data());
    std::vector<bool> in(count);
    for (int step = 0; step < 200; ++step) {
      const auto place = static_cast<uint32_t>(random() % count);
      in[place] = !in[place];
      if (in[place]) {
        set.insert(place);
      } else {
        set.erase(place);
      }
      EXPECT_EQ(set.has(place), in[place]);
      const Place with = random_places(1, random)[0];
      bool expected = false;
      for (size_t i = 0; i < count; ++i) expected = expected || (in[i] && overlap(places[i], with));
      const uint32_t found = set.find(with);
      ASSERT_EQ(found != kNone, expected);
      if (found != kNone) {
        EXPECT_TRUE(in[found]);
        EXPECT_TRUE(overlap(places[found], with));
      }
    }
  }
}

}  // namespace
}  // namespace rushlight
