#include <apart/core/error.hpp>
#include <apart/viewer/plot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart::test {
namespace {

Plot one_curve(std::vector<double> x, std::vector<double> y) {
  return {
      .title = "force", .x_label = "time", .y_label = "N", .curves = {{"run", std::move(x), std::move(y)}}};
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Plot, MarksAreRoundNumbersWithinTheAxis) {
  EXPECT_EQ(axis_marks(0, 10, 5, false), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  for (const auto& [low, high] :
       {std::pair(0.0, 1.0), {-3.7, 12.1}, {1e-9, 3e-9}, {1e12, 1.5e12}, {-5e-3, -4e-3}}) {
    const auto marks = axis_marks(low, high, 6, false);
    ASSERT_GE(marks.size(), 2u) << low << " " << high;
    ASSERT_LE(marks.size(), 13u) << low << " " << high;
    const double step = marks[1] - marks[0], slack = 1e-6 * step;
    EXPECT_GE(marks.front(), low - slack);
    EXPECT_LE(marks.back(), high + slack);
    const double digit = step / std::pow(10.0, std::floor(std::log10(step * 1.000001)));
    EXPECT_TRUE(std::abs(digit - 1) < 1e-6 || std::abs(digit - 2) < 1e-6 || std::abs(digit - 5) < 1e-6)
        << digit;
  }
  EXPECT_EQ(axis_marks(1e-3, 1e2, 10, true), (std::vector<double>{1e-3, 1e-2, 1e-1, 1, 10, 100}));
}

TEST(Plot, CurvesEndWhereNumbersAreMissing) {
  const double gap = std::numeric_limits<double>::infinity();
  EXPECT_EQ(count(plot_svg(one_curve({0, 1, 2, 3, 4}, {1, 2, gap, 2, 1})), "<polyline"), 2u);
  EXPECT_EQ(count(plot_svg(one_curve({0, 1, 2}, {1, 2, 3})), "<polyline"), 1u);
}

TEST(Plot, TheHighestPointIsAtTheTopOfBothKinds) {
  const Plot plot = one_curve({0, 1, 2}, {0, 1, 0});
  const Image image = plot_image(plot, {400, 300});
  // The first curve is blue; its topmost pixel is in the middle of the diagram.
  const auto is_blue = [&](int x, int y) {
    const std::uint8_t* p = &image.rgb[3 * std::size_t(y * image.width + x)];
    return p[0] == 0 && p[1] == 114 && p[2] == 178;
  };
  int top_x = -1;
  for (int y = 0; y < image.height && top_x < 0; ++y)
    for (int x = 0; x < image.width && top_x < 0; ++x)
      if (is_blue(x, y)) top_x = x;
  EXPECT_NEAR(top_x, (84 + 400 - 21) / 2.0, 4);
}

TEST(Plot, MarkedPointsAreDotsOffTheAxes) {
  Plot plot = one_curve({0, 1, 2}, {0, 1, 0});
  EXPECT_EQ(count(plot_svg(plot), "<circle"), 0u);
  plot.curves[0].marked = true;
  const std::string svg = plot_svg(plot, {.width = 400, .height = 300});
  EXPECT_EQ(count(svg, "<circle"), 3u);
  const std::size_t first = svg.find("<circle cx=\"");
  EXPECT_GT(std::stod(svg.substr(first + 12)), 12 * 7 + 5);  // the vertical axis is at 12 letters
}

TEST(Plot, LettersAndLinesOfPicturesHaveSmoothEdges) {
  const Image image = plot_image(one_curve({0, 1, 2}, {0, 1, 0}), {400, 300});
  std::size_t between = 0;  // pixels of a grey between paper and ink: edges of letters
  for (std::size_t i = 0; i < image.rgb.size(); i += 3)
    between += image.rgb[i] == image.rgb[i + 1] && image.rgb[i] == image.rgb[i + 2] && image.rgb[i] > 60 &&
               image.rgb[i] < 200;
  EXPECT_GT(between, 100u);
}

TEST(Plot, ManyNamesLeaveTheDiagramItsRoom) {
  Plot plot{.title = "", .x_label = "time [s]", .y_label = "", .curves = {}};
  for (int i = 0; i < 21; ++i)
    plot.curves.push_back({fmt::format("probe {}.force_x [N]", i), {0, 1}, {0, double(i)}});
  const std::string svg = plot_svg(plot, {.width = 800, .height = 500});
  // The vertical axis is the last line that is drawn in ink: from the bottom to the top of the diagram.
  const std::size_t line = svg.rfind("<line ");
  const auto number = [&](const std::string& name) {
    return std::stod(svg.substr(svg.find(name + "=\"", line) + name.size() + 2));
  };
  EXPECT_GT(number("y1") - number("y2"), 250);
  for (int i = 0; i < 21; ++i)
    EXPECT_NE(svg.find(fmt::format("probe {}.force_x [N]", i)), std::string::npos) << i;
}

TEST(Plot, TextOfOthersCannotLeaveItsPlace) {
  Plot plot = one_curve({0, 1}, {1, 2});
  plot.title = "<script>alert(1)</script> & \"x\"";
  const std::string page = plot_page(plot.title, {plot});
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_NE(page.find("&#60;script&#62;"), page.npos);
}

TEST(Plot, NothingToShowIsSaid) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(plot_svg(one_curve({}, {})), InputError);
  EXPECT_THROW(plot_svg(one_curve({0, 1}, {none, none})), InputError);
  Plot negative = one_curve({0, 1}, {-1, -2});
  negative.logarithmic_y = true;
  EXPECT_THROW(plot_image(negative), InputError);
  EXPECT_THROW(plot_image(one_curve({0}, {1}), {-5, 100}), InputError);
  EXPECT_NE(plot_svg(one_curve({1}, {3})).find("<circle"), std::string::npos);  // a single point is a dot
}

}  // namespace
}  // namespace apart::test
