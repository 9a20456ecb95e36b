#pragma once
#include <apart/viewer/png.hpp>

#include <array>
#include <string>
#include <string_view>

namespace apart {

/// The meaning of the colours of a picture.
struct Legend {
  std::string_view label, unit;  ///< "Speed", "m/s"; letters, digits and blanks
  double low = 0, high = 1;      ///< of the ends of the colours
  bool logarithmic = false;      ///< the value in the middle is the geometric mean
};

/// Where the words of a legend stand in a picture. Every letter is 6 dots wide.
struct LegendLayout {
  int dot = 1;                         ///< [pixels]
  int width = 0;                       ///< of the bar and all words [pixels]
  std::string title;                   ///< of ASCII letters
  std::array<std::string, 3> numbers;  ///< lower end, middle, upper end; no middle where it has no room
  std::array<int, 3> at = {};          ///< [pixels] from the left of the bar
};
LegendLayout legend_layout(const Legend& legend, int picture_width, int picture_height);

/// Draws a bar of the colours with label, unit and the values at its ends and in the middle into the lower
/// left corner. Pictures that are too small for readable letters, below 160 x 120 pixels, stay as they are.
void draw_legend(Image& image, const Legend& legend);

}  // namespace apart
