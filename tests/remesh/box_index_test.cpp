#include <apart/remesh/box_index.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

TEST(BoxIndex, FindsWhatAComparisonWithAllBoxesFinds) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(0, 1), size(0, 0.1);
  const auto some_box = [&] {
    Aabb box;
    for (int k = 0; k < 2; ++k) box.include(Vector3(place(random), place(random), place(random)));
    box.upper = box.lower + Vector3(size(random), size(random), size(random));
    return box;
  };
  for (const int count : {0, 1, 7, 300}) {
    std::vector<Aabb> boxes;
    for (int i = 0; i < count; ++i) boxes.push_back(some_box());
    const BoxIndex index(boxes);
    for (int q = 0; q < 100; ++q) {
      const Aabb wanted = some_box();
      std::vector<Index> expected;
      for (int i = 0; i < count; ++i)
        if (boxes[std::size_t(i)].near(wanted)) expected.push_back(i);
      EXPECT_EQ(index.meeting(wanted), expected);
    }
  }
}

/// As the midpoints of a plane mesh are: nothing tells them apart along one axis.
TEST(BoxIndex, HasRoomForBoxesInOnePlace) {
  std::vector<Aabb> boxes(100);
  for (Aabb& box : boxes) box.include(Vector3(1, 2, 3));
  EXPECT_EQ(BoxIndex(boxes).meeting(boxes[0]).size(), 100u);
}

}  // namespace
}  // namespace apart::test
