#pragma once
// Letters, lines and rectangles on a picture.
#include <apart/viewer/png.hpp>

#include <array>
#include <span>
#include <string_view>

namespace apart {

using Colour = std::array<int, 3>;  ///< red, green, blue, 0 to 255

struct Point {
  double x, y;  ///< [pixels] from the upper left corner of the picture
};

struct Rectangle {
  int x, y, width, height;  ///< [pixels]
};

inline constexpr int glyph_width = 5, glyph_height = 7;  ///< [dots] of a letter

/// The part of a picture that can be drawn on; what is outside is left out.
class Canvas {
 public:
  explicit Canvas(Image& image) : image_(image) {}

  /// `opacity`: how much of the colour, the rest stays.
  void fill(const Rectangle& r, const Colour& colour, double opacity = 1);
  /// A line with round ends; its edges are smooth.
  void stroke(const Point& a, const Point& b, double width, const Colour& colour);
  /// The upper left corner of the first letter is at (x, y); the dots of letters are `dot` pixels apart, and
  /// are joined by strokes. Letters are those of ASCII; others are left out.
  void write(std::string_view text, double x, double y, double dot, const Colour& colour);
  static double width_of(std::string_view text, double dot) {
    return (double(text.size()) * (glyph_width + 1) - 1) * dot;
  }

 private:
  struct Segment {
    Point a, b;
  };
  /// The pixels of all of them are covered once, so that joints are as dark as the rest.
  void stroke(std::span<const Segment> segments, double width, const Colour& colour);
  void blend(int x, int y, const Colour& colour, double opacity);

  Image& image_;
};

}  // namespace apart
