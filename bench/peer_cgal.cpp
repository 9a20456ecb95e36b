#include "peers.hpp"

#include <CGAL/box_intersection_d.h>
#include <array>
#include <vector>

namespace apart::bench {

namespace {

class CgalPeer final : public BoxPeer {
 public:
  std::size_t find(std::span<const FloatBox> boxes) override {
    // The search sorts the boxes given to it, and keeps nothing from one time to the next.
    boxes_.clear();
    boxes_.reserve(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      float lower[3], upper[3];
      std::copy_n(boxes[i].lower.data(), 3, lower);
      std::copy_n(boxes[i].upper.data(), 3, upper);
      boxes_.emplace_back(lower, upper, int(i));
    }
    pairs_.clear();
    CGAL::box_self_intersection_d(boxes_.begin(), boxes_.end(), [&](const Box& a, const Box& b) {
      pairs_.push_back({a.info(), b.info()});
    });
    return pairs_.size();
  }

 private:
  using Box = CGAL::Box_intersection_d::Box_with_info_d<float, 3, int>;
  std::vector<Box> boxes_;
  std::vector<std::array<int, 2>> pairs_;
};

}  // namespace

std::unique_ptr<BoxPeer> make_cgal_peer() {
  return std::make_unique<CgalPeer>();
}

}  // namespace apart::bench
