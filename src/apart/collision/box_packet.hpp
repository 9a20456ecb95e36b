#pragma once
// Boxes in single precision, and eight of them at once: shared by all searches for touching boxes.
#include <apart/core/types.hpp>

#include <array>
#include <bit>
#include <limits>
#include <span>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace apart {

/// An axis-aligned box in single precision. Whoever fills it rounds outward. The fourth entries only pad.
struct alignas(16) FloatBox {
  std::array<float, 4> lower, upper;
};

/// The smallest box around two.
inline FloatBox merge(const FloatBox& a, const FloatBox& b) {
  FloatBox m;
  for (int k = 0; k < 4; ++k) {
    m.lower[k] = a.lower[k] < b.lower[k] ? a.lower[k] : b.lower[k];
    m.upper[k] = a.upper[k] > b.upper[k] ? a.upper[k] : b.upper[k];
  }
  return m;
}

/// A box at the start and at the end of a path; the same twice at rest.
struct MovingBox {
  FloatBox start, end;
};

/// Whether two are apart along an axis at both ends, on the same side: then all the way.
inline bool are_apart(const MovingBox& a, const MovingBox& b) {
  using Four [[gnu::vector_size(16)]] = float;
  using Mask [[gnu::vector_size(16)]] = int;
  const auto below = [](const FloatBox& one, const FloatBox& other) -> Mask {
    return std::bit_cast<Four>(one.upper) < std::bit_cast<Four>(other.lower);
  };
  const Mask apart =
      (below(a.start, b.start) & below(a.end, b.end)) | (below(b.start, a.start) & below(b.end, a.end));
  return (apart[0] | apart[1] | apart[2]) != 0;
}

/// Eight boxes. Places without a box hold one that touches nothing.
struct BoxPacket {
  static constexpr int width = 8;
  /// One number for each of eight boxes; the compiler makes vector instructions of operations on them.
  using Lanes [[gnu::vector_size(4 * width)]] = float;
  using Mask [[gnu::vector_size(4 * width)]] = int;  ///< −1 where a comparison holds, 0 elsewhere
  Lanes lower[3], upper[3];

  void set(int lane, const FloatBox& box) {
    for (int k = 0; k < 3; ++k) {
      lower[k][lane] = box.lower[k];
      upper[k][lane] = box.upper[k];
    }
  }
  void clear(int lane) {
    constexpr float far = std::numeric_limits<float>::infinity();
    set(lane, {{far, far, far, 0}, {-far, -far, -far, 0}});
  }
  FloatBox box(int lane) const {
    FloatBox b = {};
    for (int k = 0; k < 3; ++k) {
      b.lower[k] = lower[k][lane];
      b.upper[k] = upper[k][lane];
    }
    return b;
  }
  /// The box around all.
  FloatBox hull() const {
    FloatBox h = box(0);
    for (int lane = 1; lane < width; ++lane) h = merge(h, box(lane));
    return h;
  }

  /// Bit i is set where lane i of the mask is.
  static unsigned bits(const Mask& mask) {
#ifdef __AVX__
    return unsigned(_mm256_movemask_ps(__m256(mask)));
#else
    unsigned result = 0;
    for (int lane = 0; lane < width; ++lane) result |= unsigned(mask[lane] & 1) << lane;
    return result;
#endif
  }
};

/// Which boxes of a packet touch the given one, as bits.
inline unsigned touching(const BoxPacket& packet, const FloatBox& box) {
  const BoxPacket::Mask apart = (packet.lower[0] > box.upper[0]) | (packet.upper[0] < box.lower[0]) |
                                (packet.lower[1] > box.upper[1]) | (packet.upper[1] < box.lower[1]) |
                                (packet.lower[2] > box.upper[2]) | (packet.upper[2] < box.lower[2]);
  return BoxPacket::bits(apart) ^ 0xffu;
}

/// The same for boxes that move, from packet0 and box0 at time 0 to packet1 and box1 at time 1: which touch
/// at the same time. The answer for a pair does not depend on which of the two is in the packet.
inline unsigned touching(const BoxPacket& packet0, const BoxPacket& packet1, const FloatBox& box0,
                         const FloatBox& box1) {
  // Along one axis and side, the boxes are apart by s(t) = (1−t) s0 + t s1, positive if apart. If the sign
  // changes, the time of change bounds when they can touch; they do if the bounds of all axes and sides leave
  // a common time.
  using Lanes = BoxPacket::Lanes;
  using Mask = BoxPacket::Mask;
  const Lanes zero = {};
  Lanes first = zero, last = zero + 1.0f;
  Mask apart = {};
  const auto limit = [&](const Lanes& s0, const Lanes& s1) {
    const Mask from = s0 > zero, until = s1 > zero;
    apart |= from & until;
    // Used only where the signs differ: no cancellation, fewer than four roundings. A NaN bounds nothing.
    const Lanes change = s0 / (s0 - s1);
    const Lanes early = change * (1 - 1e-6f), late = change * (1 + 1e-6f);
    first = (from & (early > first)) ? early : first;
    last = (until & (late < last)) ? late : last;
  };
  for (int k = 0; k < 3; ++k) {
    limit(packet0.lower[k] - box0.upper[k], packet1.lower[k] - box1.upper[k]);
    limit(box0.lower[k] - packet0.upper[k], box1.lower[k] - packet1.upper[k]);
  }
  return BoxPacket::bits(apart | (first > last)) ^ 0xffu;
}

/// Boxes of one set: box i is start[i] at time 0, end[i] at time 1, and the interpolation of the two between.
/// It contains everything whose points move straight from within the first to within the second. `end` is
/// empty for boxes at rest.
struct MovingBoxes {
  std::span<const FloatBox> start, end;
  Index size() const { return Index(start.size()); }
  /// The box around the whole path of box i.
  FloatBox swept(Index i) const { return end.empty() ? start[i] : merge(start[i], end[i]); }
};

}  // namespace apart
