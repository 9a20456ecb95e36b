#include "peers.hpp"

#ifdef APART_HAS_FCL

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/narrowphase/collision_object.h>

#include <array>
#include <vector>

namespace apart::bench {

namespace {

/// A shape that is nothing but its box.
struct BoxShape final : fcl::CollisionGeometry<float> {
  FloatBox box = {};
  void computeLocalAABB() override {
    aabb_local.min_ = {box.lower[0], box.lower[1], box.lower[2]};
    aabb_local.max_ = {box.upper[0], box.upper[1], box.upper[2]};
    aabb_center = aabb_local.center();
    aabb_radius = (aabb_local.min_ - aabb_center).norm();
  }
};

class FclPeer final : public BoxPeer {
 public:
  std::size_t find(std::span<const FloatBox> boxes) override {
    const bool fresh = objects_.size() != boxes.size();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (fresh) {
        shapes_.push_back(std::make_shared<BoxShape>());
        shapes_[i]->box = boxes[i];
        objects_.push_back(std::make_unique<fcl::CollisionObject<float>>(shapes_[i]));
        objects_[i]->setUserData(reinterpret_cast<void*>(i));
      } else {
        shapes_[i]->box = boxes[i];
        shapes_[i]->computeLocalAABB();
        objects_[i]->computeAABB();
      }
    }
    if (fresh) {
      std::vector<fcl::CollisionObject<float>*> all;
      for (const auto& object : objects_) all.push_back(object.get());
      manager_.registerObjects(all);
      manager_.setup();
    } else {
      manager_.update();
    }
    pairs_.clear();
    manager_.collide(&pairs_, [](fcl::CollisionObject<float>* a, fcl::CollisionObject<float>* b, void* to) {
      const auto number = [](fcl::CollisionObject<float>* object) {
        return int(reinterpret_cast<std::size_t>(object->getUserData()));
      };
      static_cast<Pairs*>(to)->push_back({number(a), number(b)});
      return false;
    });
    return pairs_.size();
  }

 private:
  using Pairs = std::vector<std::array<int, 2>>;
  std::vector<std::shared_ptr<BoxShape>> shapes_;
  std::vector<std::unique_ptr<fcl::CollisionObject<float>>> objects_;
  fcl::DynamicAABBTreeCollisionManager<float> manager_;
  Pairs pairs_;
};

}  // namespace

std::unique_ptr<BoxPeer> make_fcl_peer() {
  return std::make_unique<FclPeer>();
}

}  // namespace apart::bench

#else

namespace apart::bench {

std::unique_ptr<BoxPeer> make_fcl_peer() {
  return nullptr;
}

}  // namespace apart::bench

#endif
