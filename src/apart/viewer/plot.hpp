#pragma once
// Curves in a diagram, as SVG text or as a picture.
#include <apart/viewer/png.hpp>

#include <string>
#include <vector>

namespace apart {

struct PlotCurve {
  std::string name;
  std::vector<double> x, y;  ///< of the same length; points that are not finite interrupt the curve
  bool marked = false;       ///< its points are drawn as dots, as far as they are finite
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<PlotCurve> curves;
  bool logarithmic_x = false, logarithmic_y = false;  ///< numbers that are not positive are left out
};

struct PlotSize {
  int width = 800, height = 500;  ///< [pixels], 200 to 8192 each
};

/// Throws InputError if there is nothing to show: no curve with a point, or the size is out of range.
std::string plot_svg(const Plot& plot, const PlotSize& size = {});
Image plot_image(const Plot& plot, const PlotSize& size = {});

/// A page with these diagrams below each other.
std::string plot_page(const std::string& title, const std::vector<Plot>& plots, const PlotSize& size = {});

/// Round numbers between `low` and `high`, about `count` of them; of a logarithmic axis powers of ten.
std::vector<double> axis_marks(double low, double high, int count, bool logarithmic);

}  // namespace apart
