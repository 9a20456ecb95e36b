#include <apart/core/error.hpp>
#include <apart/viewer/canvas.hpp>
#include <apart/viewer/plot.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

constexpr Colour ink = {30, 30, 30}, faint = {222, 222, 222};
/// Distinguishable with any kind of colour vision [Okabe and Ito].
constexpr Colour curve_colours[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                                    {230, 159, 0}, {86, 180, 233}, {90, 90, 90}};
constexpr int letter = 7, line_height = 18;  // [pixels] in SVG; the picture's letters are about as large
constexpr double letter_dot = 1.2;           // [pixels] of the picture's letters
constexpr double curve_width = 1.5, dot_radius = 2.5;

/// What a diagram is drawn with.
class Pen {
 public:
  virtual ~Pen() = default;
  virtual void line(const Point& a, const Point& b, const Colour& colour) = 0;
  virtual void curve(const std::vector<Point>& points, const Colour& colour) = 0;
  virtual void dot(const Point& at, const Colour& colour) = 0;
  /// `anchor`: 0: begins there, 0.5: is centred, 1: ends there. y is that of the middle of the letters.
  virtual void text(const std::string& words, const Point& at, double anchor) = 0;
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&' || c == '"')
      result += fmt::format("&#{};", int(c));
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return result;
}

class SvgPen final : public Pen {
 public:
  explicit SvgPen(const PlotSize& size)
      : text_(fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
            "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
            size.width, size.height)) {}
  void line(const Point& a, const Point& b, const Colour& colour) override {
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                         a.x, a.y, b.x, b.y, name(colour));
  }
  void curve(const std::vector<Point>& points, const Colour& colour) override {
    text_ += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" points=\"", name(colour),
                         curve_width);
    for (const Point& p : points) text_ += fmt::format("{:.2f},{:.2f} ", p.x, p.y);
    text_ += "\"/>\n";
  }
  void dot(const Point& at, const Colour& colour) override {
    text_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\"/>\n", at.x, at.y,
                         dot_radius, name(colour));
  }
  void text(const std::string& words, const Point& at, double anchor) override {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y + 4,
                         anchor == 0     ? "start"
                         : anchor == 0.5 ? "middle"
                                         : "end",
                         escaped(words));
  }
  std::string finished() const { return text_ + "</svg>\n"; }

 private:
  static std::string name(const Colour& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }
  std::string text_;
};

class ImagePen final : public Pen {
 public:
  explicit ImagePen(const PlotSize& size)
      : image_{size.width, size.height,
               std::vector<std::uint8_t>(3 * std::size_t(size.width) * std::size_t(size.height), 255)},
        canvas_(image_) {}
  /// Lines of axes and marks lie on whole pixels.
  void line(const Point& a, const Point& b, const Colour& colour) override {
    const auto middle = [](const Point& p) { return Point{std::floor(p.x) + 0.5, std::floor(p.y) + 0.5}; };
    canvas_.stroke(middle(a), middle(b), 1, colour);
  }
  void curve(const std::vector<Point>& points, const Colour& colour) override {
    for (std::size_t i = 1; i < points.size(); ++i)
      canvas_.stroke(points[i - 1], points[i], curve_width, colour);
  }
  void dot(const Point& at, const Colour& colour) override { canvas_.stroke(at, at, 2 * dot_radius, colour); }
  void text(const std::string& words, const Point& at, double anchor) override {
    canvas_.write(words, at.x - anchor * Canvas::width_of(words, letter_dot),
                  std::round(at.y - 0.5 * glyph_height * letter_dot), letter_dot, ink);
  }
  Image finished() { return std::move(image_); }

 private:
  Image image_;
  Canvas canvas_;
};

/// One axis: from numbers to pixels.
struct Axis {
  bool logarithmic = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;  ///< of what is shown
  double begin = 0, end = 1;                                          ///< [pixels] of these

  bool shows(double v) const { return std::isfinite(v) && (!logarithmic || v > 0); }
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  /// Room around what is the same everywhere, and around dots.
  void widen(bool dots) {
    if (low < high && !dots) return;
    const double share = 0.04;
    const double room = low == high   ? (logarithmic ? 2 : std::max(std::abs(low) * 0.1, 1e-12))
                        : logarithmic ? std::pow(high / low, share)
                                      : share * (high - low);
    low = logarithmic ? low / room : low - room;
    high = logarithmic ? high * room : high + room;
  }
  double at(double v) const {
    const auto scale = [&](double x) { return logarithmic ? std::log10(x) : x; };
    return begin + (end - begin) * ((scale(v) - scale(low)) / (scale(high) - scale(low)));
  }
};

struct Axes {
  Axis x, y;
};

Axes axes_of(const Plot& plot) {
  Axes axes;
  axes.x.logarithmic = plot.logarithmic_x;
  axes.y.logarithmic = plot.logarithmic_y;
  for (const PlotCurve& curve : plot.curves) {
    ensure(curve.x.size() == curve.y.size(), "PlotCurve: a y for each x");
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (axes.x.shows(curve.x[i]) && axes.y.shows(curve.y[i])) {
        axes.x.include(curve.x[i]);
        axes.y.include(curve.y[i]);
      }
  }
  if (!(axes.x.low <= axes.x.high))
    throw InputError("{} over {}: there is no finite{} number to show; choose other columns", plot.y_label,
                     plot.x_label, plot.logarithmic_x || plot.logarithmic_y ? " and positive" : "");
  const bool dots = std::ranges::any_of(plot.curves, &PlotCurve::marked);
  axes.x.widen(dots);
  axes.y.widen(dots);
  return axes;
}

void draw_curves(const Plot& plot, const Axes& axes, Pen& pen) {
  for (std::size_t c = 0; c < plot.curves.size(); ++c) {
    const PlotCurve& curve = plot.curves[c];
    std::vector<Point> piece;
    for (std::size_t i = 0; i <= curve.x.size(); ++i) {
      if (i < curve.x.size() && axes.x.shows(curve.x[i]) && axes.y.shows(curve.y[i])) {
        piece.push_back({axes.x.at(curve.x[i]), axes.y.at(curve.y[i])});
      } else if (!piece.empty()) {
        const Colour& colour = curve_colours[c % std::size(curve_colours)];
        if (piece.size() > 1) pen.curve(piece, colour);
        if (piece.size() == 1 || curve.marked)
          for (const Point& point : piece) pen.dot(point, colour);
        piece.clear();
      }
    }
  }
}

/// The names of the curves, in rows from one side of the diagram to the other. Returns the number of rows.
int draw_names(const Plot& plot, double left, double right, Pen& pen) {
  if (plot.curves.size() < 2) return 0;
  std::size_t longest = 0;
  for (const PlotCurve& curve : plot.curves) longest = std::max(longest, curve.name.size());
  const double width = letter * (double(longest) + 6);
  const int in_a_row = std::max(1, int((right - left) / width));
  for (std::size_t c = 0; c < plot.curves.size(); ++c) {
    const double x = left + width * (int(c) % in_a_row), y = line_height * (2.7 + int(c) / in_a_row);
    pen.curve({{x, y}, {x + 3 * letter, y}}, curve_colours[c % std::size(curve_colours)]);
    pen.text(plot.curves[c].name, {x + 4 * letter, y}, 0);
  }
  return (int(plot.curves.size()) - 1) / in_a_row + 1;
}

void draw(const Plot& plot, const PlotSize& size, Pen& pen) {
  Axes axes = axes_of(plot);
  const double left = 12 * letter, right = size.width - 3.0 * letter;
  const double top = line_height * (3 + draw_names(plot, left, right, pen));
  const double bottom = std::max(top + 40, size.height - 2.5 * line_height);
  axes.x.begin = left;
  axes.x.end = right;
  axes.y.begin = bottom;
  axes.y.end = top;
  pen.text(plot.title, {size.width / 2.0, line_height * 0.7}, 0.5);
  pen.text(plot.y_label, {letter, line_height * 1.8}, 0);
  pen.text(plot.x_label, {(left + right) / 2, size.height - line_height * 0.7}, 0.5);
  for (const double v : axis_marks(axes.x.low, axes.x.high, size.width / 110, axes.x.logarithmic)) {
    pen.line({axes.x.at(v), top}, {axes.x.at(v), bottom}, faint);
    pen.text(fmt::format("{:.5g}", v), {axes.x.at(v), bottom + 0.7 * line_height}, 0.5);
  }
  for (const double v : axis_marks(axes.y.low, axes.y.high, size.height / 60, axes.y.logarithmic)) {
    pen.line({left, axes.y.at(v)}, {right, axes.y.at(v)}, faint);
    pen.text(fmt::format("{:.5g}", v), {left - letter, axes.y.at(v)}, 1);
  }
  pen.line({left, bottom}, {right, bottom}, ink);
  pen.line({left, bottom}, {left, top}, ink);
  draw_curves(plot, axes, pen);
}

const PlotSize& checked(const PlotSize& size) {
  if (std::min(size.width, size.height) < 200 || std::max(size.width, size.height) > 8192)
    throw InputError("size: got {} x {}, each must be 200 to 8192 pixels", size.width, size.height);
  return size;
}

}  // namespace

std::vector<double> axis_marks(double low, double high, int count, bool logarithmic) {
  std::vector<double> marks;
  if (logarithmic) {
    const int first = int(std::ceil(std::log10(low) - 1e-9)), last = int(std::floor(std::log10(high) + 1e-9));
    const int every = std::max(1, (last - first + 1) / std::max(count, 1));
    for (int e = first; e <= last; e += every) marks.push_back(std::pow(10.0, e));
    if (marks.size() >= 2) return marks;
    marks.clear();  // less than a decade: as on a linear axis
  }
  const double rough = (high - low) / std::max(count, 2);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5   ? 1
                               : rough / power < 3.5 ? 2
                               : rough / power < 7.5 ? 5
                                                     : 10);
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; (first + i) * step <= high + 1e-9 * step; ++i) {
    const double v = (first + i) * step;
    if (!logarithmic || v > 0) marks.push_back(v);
  }
  return marks;
}

std::string plot_svg(const Plot& plot, const PlotSize& size) {
  SvgPen pen(checked(size));
  draw(plot, size, pen);
  return pen.finished();
}

Image plot_image(const Plot& plot, const PlotSize& size) {
  ImagePen pen(checked(size));
  draw(plot, size, pen);
  return pen.finished();
}

std::string plot_page(const std::string& title, const std::vector<Plot>& plots, const PlotSize& size) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body style=\"font-family: sans-serif\"><h1>{0}</h1>\n",
      escaped(title));
  for (const Plot& plot : plots) page += plot_svg(plot, size);
  return page + "</body></html>\n";
}

}  // namespace apart
