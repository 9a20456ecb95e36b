#pragma once
#include <apart/io/frame.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace apart::verify {

/// The triangles of a run that have strain limits, and how near they are to them.
class StrainLimits {
 public:
  StrainLimits() = default;
  /// Throws InputError where limits and shapes at rest do not fit the frame's triangles.
  explicit StrainLimits(const Frame& first);

  /// How much of a triangle's limits is used up.
  struct Share {
    Index face = 0;         ///< of the frame's triangles
    long double share = 0;  ///< of the limit that is used up most; 1 at the limit
    std::string_view what;  ///< for messages: which quantity that is
    double value = 0, limit = 0;
  };
  /// Of all triangles of bodies that are there. `absent`: by body.
  std::vector<Share> shares(const Matrix3X& points, const std::vector<char>& absent) const;
  Index count() const { return Index(triangles_.size()); }

 private:
  struct Triangle {
    Index face;
    int body;
    std::array<Index, 3> corners;
    std::array<long double, 4> rest;                 ///< of Frame::rest_shape
    std::optional<FrameStrainLimit> stretch, woven;  ///< at least one
  };
  static Share share(const Triangle& triangle, const Matrix3X& points);

  std::vector<Triangle> triangles_;
};

}  // namespace apart::verify
