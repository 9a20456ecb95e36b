#pragma once
// Letters and rectangles on a picture.
#include <apart/viewer/png.hpp>

#include <array>
#include <string_view>

namespace apart {

using Colour = std::array<int, 3>;  ///< red, green, blue, 0 to 255

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
  /// Every dot of a letter is a square of `dot` pixels. Letters are those of ASCII; others are left out.
  void write(std::string_view text, int x, int y, int dot, const Colour& colour);
  static int width_of(std::string_view text, int dot) {
    return (int(text.size()) * (glyph_width + 1) - 1) * dot;
  }

 private:
  Image& image_;
};

}  // namespace apart
