#include <apart/collision/packed_boxes.hpp>
#include <apart/core/parallel.hpp>

namespace apart {

void PackedBoxes::pack(const MovingBoxes& boxes, const std::vector<Index>& order) {
  moving_ = !boxes.end.empty();
  const Index count = Index(order.size()), packets = (count + width - 1) / width;
  start_.resize(packets);
  end_.resize(moving_ ? packets : 0);
  parallel_for(packets, [&](Index p) {
    for (int lane = 0; lane < width; ++lane) {
      const Index place = p * width + lane;
      if (place >= count) {
        start_[p].clear(lane);
        if (moving_) end_[p].clear(lane);
        continue;
      }
      start_[p].set(lane, boxes.start[order[place]]);
      if (moving_) end_[p].set(lane, boxes.end[order[place]]);
    }
  });
}

}  // namespace apart
