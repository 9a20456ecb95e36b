#include <apart/viewer/canvas.hpp>
#include <apart/viewer/legend.hpp>
#include <apart/viewer/point_field.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace apart {

LegendLayout legend_layout(const Legend& legend, int picture_width, int picture_height) {
  LegendLayout layout;
  const int dot = std::max(1, std::min(picture_width / 400, picture_height / 300));
  layout.dot = dot;
  const int margin = 4 * dot, most = picture_width - 4 * margin;
  layout.title = std::string(legend.label);
  // The letters drawn here are those of ASCII.
  for (std::size_t at; (at = layout.title.find("\u2212")) != layout.title.npos;)
    layout.title.replace(at, 3, "-");
  const std::string unit = legend.unit.empty() ? "" : fmt::format(" [{}]", legend.unit);
  const auto too_wide = [&] { return Canvas::width_of(layout.title + unit, dot) > most; };
  if (const std::size_t explanation = layout.title.find(" ("); too_wide() && explanation != std::string::npos)
    layout.title.resize(explanation);
  layout.title += unit;
  const double middle = legend.logarithmic && legend.low > 0 && legend.high > 0
                            ? std::sqrt(legend.low * legend.high)
                            : 0.5 * (legend.low + legend.high);
  layout.numbers = {fmt::format("{:.3g}", legend.low), fmt::format("{:.3g}", middle),
                    fmt::format("{:.3g}", legend.high)};
  const auto width_of = [&](int k) { return int(Canvas::width_of(layout.numbers[std::size_t(k)], dot)); };
  // The middle number stands in the middle: the wider of the others must end before it.
  const int gap = glyph_width * dot;
  const int needed = width_of(1) + 2 * (std::max(width_of(0), width_of(2)) + gap);
  layout.width =
      std::min(most, std::max({picture_width / 4, needed, int(Canvas::width_of(layout.title, dot))}));
  if (needed > layout.width) layout.numbers[1].clear();
  layout.at = {0, (layout.width - width_of(1)) / 2, layout.width - width_of(2)};
  return layout;
}

void draw_legend(Image& image, const Legend& legend) {
  if (image.width < 160 || image.height < 120) return;
  Canvas canvas(image);
  const LegendLayout layout = legend_layout(legend, image.width, image.height);
  const int dot = layout.dot, width = layout.width;
  const int margin = 4 * dot, line = (glyph_height + 4) * dot, bar = 8 * dot;
  const int left = 2 * margin, top = image.height - 2 * margin - 2 * line - bar;
  constexpr Colour paper = {255, 255, 255}, ink = {30, 30, 30};
  canvas.fill({left - margin, top - margin, width + 2 * margin, 2 * line + bar + 2 * margin}, paper, 0.8);
  canvas.write(layout.title, left, top, dot, ink);
  const auto stops = colour_stops();
  for (int i = 0; i < width; ++i) {
    const double x = width > 1 ? double(i) / (width - 1) * double(stops.size() - 1) : 0;
    const std::size_t k = std::min(std::size_t(x), stops.size() - 2);
    Colour colour;
    for (int c = 0; c < 3; ++c) {
      const auto channel = [&](std::size_t stop) { return stops[stop] >> (16 - 8 * c) & 255; };
      colour[std::size_t(c)] =
          int(std::lround((1 - (x - double(k))) * channel(k) + (x - double(k)) * channel(k + 1)));
    }
    canvas.fill({left + i, top + line, 1, bar}, colour);
  }
  const int below = top + line + bar + 2 * dot;
  for (std::size_t k = 0; k < 3; ++k) canvas.write(layout.numbers[k], left + layout.at[k], below, dot, ink);
}

}  // namespace apart
