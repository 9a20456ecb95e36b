#pragma once
#include <apart/viewer/png.hpp>

#include <string_view>

namespace apart {

/// What the colours of a picture stand for.
struct Legend {
  std::string_view label, unit;  ///< "Speed", "m/s"; letters, digits and blanks
  double low = 0, high = 1;      ///< of the ends of the colours
  bool logarithmic = false;      ///< the value in the middle is the geometric mean
};

/// Draws a bar of the colours with label, unit and the values at its ends and in the middle into the lower
/// left corner. Pictures that are too small for readable letters, below 160 x 120 pixels, stay as they are.
void draw_legend(Image& image, const Legend& legend);

}  // namespace apart
