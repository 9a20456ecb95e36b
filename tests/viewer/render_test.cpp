#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/viewer/legend.hpp>
#include <apart/viewer/render.hpp>
#include <apart/viewer/samples.hpp>
#include <apart/viewer/shapes.hpp>
#include <support/frame_builder.hpp>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace apart::test {
namespace {

using Rgb = std::array<int, 3>;

Rgb pixel(const Image& image, int x, int y) {
  const auto* p = &image.rgb[3 * (std::size_t(y) * std::size_t(image.width) + std::size_t(x))];
  return {p[0], p[1], p[2]};
}
int spread(const Rgb& c) {
  return std::max({c[0], c[1], c[2]}) - std::min({c[0], c[1], c[2]});
}
int brightness(const Rgb& c) {
  return (c[0] + c[1] + c[2]) / 3;
}

template <class Condition>
int count(const Image& image, Condition condition) {
  int n = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) n += condition(pixel(image, x, y));
  return n;
}
int coloured(const Image& image) {
  return count(image, [](const Rgb& c) { return spread(c) > 80; });
}

constexpr double aspect = 4.0 / 3;
RenderOptions small() {
  return {.width = 160, .height = 120, .samples = 16, .camera = {}};
}

FrameBuilder ball_on_ground() {
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.5, 5), {0, 0.51, 0});
  b.add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
  return b;
}

/// Where the camera sees x: both coordinates in [−1, 1] if in the picture.
Eigen::Vector2d seen_at(const Camera& c, const Vector3& x) {
  const Vector3 forward = (c.target - c.eye).normalized(), right = forward.cross(c.up).normalized();
  const double half = std::tan(c.field_of_view * std::numbers::pi / 360), depth = forward.dot(x - c.eye);
  EXPECT_GT(depth, 0);
  return {right.dot(x - c.eye) / (depth * half * aspect),
          right.cross(forward).dot(x - c.eye) / (depth * half)};
}

TEST(Render, ShowsTheBodyInItsColourBeforeALightBackground) {
  const Image image = draw(ball_on_ground().frame, small());
  ASSERT_EQ(image.rgb.size(), 3u * 160 * 120);
  const Rgb middle = pixel(image, 80, 60);
  EXPECT_GT(spread(middle), 80);
  const Vector3f colour = body_colour(0);
  Index dominant;
  colour.maxCoeff(&dominant);
  EXPECT_EQ(std::max_element(middle.begin(), middle.end()) - middle.begin(), dominant);
  for (auto [x, y] : {std::pair{1, 1}, {158, 1}}) {
    EXPECT_LT(spread(pixel(image, x, y)), 25);
    EXPECT_GT(brightness(pixel(image, x, y)), 190);
  }
}

TEST(Render, BodiesCastSoftShadowsOnTheGround) {
  FrameBuilder with = ball_on_ground();
  RenderOptions options = small();
  options.camera = automatic_camera(with.frame, aspect);
  FrameBuilder without;
  without.add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
  const Image image = draw(with.frame, options), empty = draw(without.frame, options);
  int shadow = 0, half_shadow = 0, brighter = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      if (spread(pixel(image, x, y)) > 40) continue;  // the ball
      const int change = brightness(pixel(empty, x, y)) - brightness(pixel(image, x, y));
      shadow += change > 60;
      half_shadow += change > 15 && change <= 60;
      brighter += change < -12;
    }
  EXPECT_GT(shadow, 200);
  EXPECT_GT(half_shadow, 100);
  EXPECT_LT(brighter, 20);
}

TEST(Render, IsTheSameForAnyNumberOfThreads) {
  FrameBuilder b = ball_on_ground();
  b.add({"bowl", "obstacle"}, generate::bowl(1, 80, 8), {0, 0.005, 0});
  // Two bodies at one place: every ray that hits one hits the other at the same distance.
  const Mesh many = generate::sphere(0.4, 20, generate::Content::surface);
  b.add({"twin", "volume"}, many, {0, 1.5, 0});
  b.add({"other twin", "volume"}, many, {0, 1.5, 0});
  const Image one = draw(b.frame, small());
  set_thread_count(3);
  const Image three = draw(b.frame, small());
  set_thread_count(1);
  EXPECT_EQ(one.rgb, three.rgb);
  EXPECT_EQ(draw(b.frame, small()).rgb, one.rgb);
}

TEST(Render, GivesEachBodyItsOwnColourAndObstaclesGrey) {
  FrameBuilder b;
  b.add({"left", "volume"}, generate::sphere(0.5, 4), {-1, 0, 0});
  b.add({"right", "affine"}, generate::sphere(0.5, 4), {1, 0, 0});
  b.add({"back", "obstacle"}, generate::sphere(0.5, 4), {0, 1.2, 0});
  RenderOptions options = small();
  options.camera = automatic_camera(b.frame, aspect);
  const Image image = draw(b.frame, options);
  auto at = [&](const Vector3& x) {
    const Eigen::Vector2d s = seen_at(*options.camera, x);
    return pixel(image, int((s.x() + 1) * 80), int((1 - s.y()) * 60));
  };
  const Rgb left = at({-1, 0, 0}), right = at({1, 0, 0}), back = at({0, 1.2, 0});
  EXPECT_GT(spread(left), 80);
  EXPECT_GT(spread(right), 80);
  EXPECT_GT(std::abs(left[0] - right[0]) + std::abs(left[1] - right[1]) + std::abs(left[2] - right[2]), 150);
  EXPECT_LT(spread(back), 25);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < i; ++j) EXPECT_GT((body_colour(i) - body_colour(j)).norm(), 0.02f) << i << " " << j;
}

TEST(Render, HalfSpacesTakeNoColourFromTheBodies) {
  FrameBuilder with = ball_on_ground(), before;
  before.add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
  before.add({"ball", "volume"}, generate::sphere(0.5, 5), {0, 0.51, 0});
  EXPECT_EQ(body_colours(with.frame)[0], body_colour(0));
  EXPECT_EQ(body_colours(before.frame)[0], obstacle_colour());
  EXPECT_EQ(body_colours(before.frame)[1], body_colour(0));
  const std::vector<Shape> shapes = shapes_of(before.frame, {});
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].colour, body_colour(0));
  EXPECT_EQ(srgb(body_colour(0)), 0xe4572e);
}

TEST(Render, DrawsNoGroundWhereThereIsNone) {
  // A ball alone: below it is the same background as beside it, without lines and shadow.
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.5, 5));
  const Image image = draw(b.frame, small());
  for (int x = 1; x < image.width; ++x) EXPECT_EQ(pixel(image, x, 119), pixel(image, 0, 119)) << x;
  int steps = 0;  // of brightness down the left side
  for (int y = 1; y < image.height; ++y)
    steps = std::max(steps, std::abs(brightness(pixel(image, 0, y)) - brightness(pixel(image, 0, y - 1))));
  EXPECT_LE(steps, 3);
}

TEST(Legend, WordsDoNotCollide) {
  for (const Legend& legend :
       {Legend{"Stress (von Mises)", "Pa", 0, 2.46e5, false}, Legend{"Gap", "m", 1.23e-10, 1.23e-3, true},
        Legend{"Strain (largest stretch \u2212 1)", "", -0.000123, 123456, false},
        Legend{"Speed", "m/s", 0, 1e-300, false}})
    for (const auto& [width, height] :
         {std::pair(160, 120), {320, 240}, {640, 480}, {1280, 960}, {1920, 1080}, {300, 2000}}) {
      const LegendLayout layout = legend_layout(legend, width, height);
      const auto width_of = [&](const std::string& text) { return int(text.size()) * 6 * layout.dot; };
      int end = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        if (layout.numbers[k].empty()) continue;
        EXPECT_GE(layout.at[k], end) << legend.label << " " << width;
        end = layout.at[k] + width_of(layout.numbers[k]) + 4 * layout.dot;
      }
      EXPECT_LE(end, layout.width + 5 * layout.dot) << legend.label << " " << width;
      EXPECT_LE(width_of(layout.title) - layout.dot, layout.width) << layout.title << " " << width;
      EXPECT_LT(layout.width, width);
      for (const char c : layout.title) EXPECT_LT(static_cast<unsigned char>(c), 128) << layout.title;
      EXPECT_TRUE(width < 640 || !layout.numbers[1].empty());
    }
}

TEST(Render, ContentsOfABowlAreVisible) {
  FrameBuilder contents;
  contents.add({"box", "volume"}, generate::box({0.4, 0.4, 0.4}, {2, 2, 2}), {0, 0.26, 0});
  FrameBuilder bowl = contents;
  bowl.add({"bowl", "obstacle"}, generate::bowl(1, 88, 12), {0, 0, 0});
  RenderOptions options = small();
  options.camera = automatic_camera(bowl.frame, aspect);
  const int alone = coloured(draw(contents.frame, options)), in_bowl = coloured(draw(bowl.frame, options));
  EXPECT_GT(alone, 300);
  EXPECT_GT(in_bowl, 0.8 * alone);
}

TEST(Render, LargePicturesOfBowlsHaveNoPixelWithoutLight) {
  // A direction or normal that is not a number makes a pixel black, and smoothing a square of 9 x 9 around
  // it.
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.3, 6), {0.1, 0.35, 0.1});
  b.add({"ring", "volume"}, generate::torus(0.35, 0.12, 24, 8), {-0.1, 0.8, 0});
  b.add({"cloth", "shell"}, generate::grid(0.6, 0.6, 12, 12), {0, 1, 0});
  b.add({"bowl", "obstacle"}, generate::bowl(1, 88, 12), {0, 0, 0});
  RenderOptions options = small();
  options.width = 800;
  options.height = 600;
  options.samples = 2;
  const Image image = draw(b.frame, options);
  EXPECT_EQ(count(image, [](const Rgb& c) { return brightness(c) < 8; }), 0);
  EXPECT_GT(coloured(image), 10000);
}

TEST(Samples, LieBelowOneWhereRoundingLeadsThere) {
  // Of all numbers for pictures of 800 x 600 with 64 samples, this one is rounded to 1.
  EXPECT_LT(Samples(4, 81)(37, 4), 1);
  EXPECT_GT(Samples(4, 81)(37, 4), 0.999999f);
  for (int s = 0; s < 1000; ++s)
    for (int d = 0; d < Samples::dimensions; ++d) {
      EXPECT_GE(Samples(s % 31, s / 31)(s, d), 0);
      EXPECT_LT(Samples(s % 31, s / 31)(s, d), 1);
    }
}

TEST(Render, SheetsAreMatt) {
  const auto ball = [](const char* kind) {
    FrameBuilder b;
    b.add({"ball", kind}, generate::sphere(0.5, 8, generate::Content::surface), {0, 0, 0});
    RenderOptions options = small();
    options.camera = automatic_camera(b.frame, aspect);
    return draw(b.frame, options);
  };
  // The least of the three colours is raised by white light alone: by the highlight, in the middle of the
  // ball.
  const Image body = ball("volume"), sheet = ball("shell");
  int shines = 0;
  for (int y = 30; y < 90; ++y)
    for (int x = 50; x < 110; ++x) {
      const Rgb a = pixel(body, x, y), b = pixel(sheet, x, y);
      shines += std::min({a[0], a[1], a[2]}) > std::min({b[0], b[1], b[2]}) + 25;
    }
  EXPECT_GT(shines, 10);
}

TEST(Render, DrawsSegmentsAndPoints) {
  FrameBuilder b;
  const int tubes = b.add({"needles", "volume"}, generate::segments(2, 4), {0, 1, 0});
  const int balls = b.add({"grains", "volume"}, generate::points({4, 1, 4}, 0.3), {0, 0.5, 0});
  RenderOptions options = small();
  options.camera = automatic_camera(b.frame, aspect);
  options.width = 640;
  options.height = 480;
  const Image image = draw(b.frame, options);
  for (int body : {tubes, balls})
    for (Index i = b.first_point(body) + 1; i < b.first_point(body) + 4; ++i) {
      const Eigen::Vector2d s = seen_at(*options.camera, b.frame.mesh.points.col(i));
      EXPECT_GT(spread(pixel(image, int((s.x() + 1) * 320), int((1 - s.y()) * 240))), 60) << body << " " << i;
    }
}

TEST(Render, SurvivesEmptyFramesAndDegenerateMeshes) {
  EXPECT_NO_THROW(draw(Frame{}, small()));
  FrameBuilder ground;
  ground.add_half_space("ground", Vector3(0, 3, 0), Vector3::UnitY());
  EXPECT_NO_THROW(draw(ground.frame, small()));
  FrameBuilder flat;
  Mesh mesh = generate::box({1, 1, 1}, {1, 1, 1});
  mesh.points.setZero();
  flat.add({"nothing", "volume"}, mesh);
  EXPECT_NO_THROW(draw(flat.frame, small()));
}

TEST(Render, RejectsBadOptionsAndFrames) {
  const Frame frame = ball_on_ground().frame;
  for (int bad : {-1, 0, 15, 8193, std::numeric_limits<int>::max()}) {
    RenderOptions options = small();
    options.width = bad;
    EXPECT_THROW(draw(frame, options), InputError) << bad;
    options = small();
    options.height = bad;
    EXPECT_THROW(draw(frame, options), InputError) << bad;
  }
  RenderOptions options = small();
  options.samples = 0;
  EXPECT_THROW(draw(frame, options), InputError);
  options = small();
  options.camera = Camera{};
  options.camera->up = Vector3::UnitZ();
  EXPECT_THROW(draw(frame, options), InputError) << "looking along up";
  Frame damaged = frame;
  damaged.mesh.points(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(draw(damaged, small()), InputError);
  damaged = frame;
  damaged.mesh.tetrahedra(0, 0) = 100000;
  EXPECT_THROW(draw(damaged, small()), InputError);
  damaged = frame;
  damaged.point_body[0] = 9;
  EXPECT_THROW(draw(damaged, small()), InputError);
}

TEST(Render, RefusesWhatSinglePrecisionCannotShow) {
  FrameBuilder b = ball_on_ground();
  b.add({"wall", "obstacle"}, generate::box({0.1, 1, 1}, {1, 1, 1}), {1, 0.5, 0});
  RenderOptions options = small();
  const Camera good = automatic_camera(b.frame, aspect);
  const auto refusal = [&] { return message_of([&] { draw(b.frame, options); }); };
  for (const double far : {1e6, 1e18, 1e39, 1e200}) {
    options.camera = good;
    options.camera->eye = Vector3(far, 1, 0);
    EXPECT_NE(refusal().find("camera: the eye is"), std::string::npos) << far << ": " << refusal();
  }
  for (const double far : {1e18, 1e39, 1e200}) {
    options.camera = good;
    options.camera->target += Vector3(far, 0, 0);
    options.camera->eye = options.camera->target + Vector3(0, 1, 1);
    EXPECT_NE(refusal().find("choose a nearer target"), std::string::npos) << far << ": " << refusal();
  }
  options.camera = good;
  options.camera->eye = good.target + 1e4 * (good.eye - good.target);
  EXPECT_NO_THROW(draw(b.frame, options)) << "far, and yet a picture";
  // Scenes of any size are drawn, as long as their sizes have squares.
  for (const double size : {1e-30, 1e30, 1e90}) {
    FrameBuilder large = b;
    large.frame.mesh.points *= size;
    large.frame.half_spaces.clear();
    EXPECT_GT(coloured(draw(large.frame, small())), size < 1 ? -1 : 500) << size;
  }
  for (const double size : {1e120, 1e300}) {
    FrameBuilder large = b;
    large.frame.mesh.points *= size;
    EXPECT_THROW(draw(large.frame, small()), InputError) << size;
  }
  // A body that is not there may be anywhere.
  options.camera = good;
  const int lost = b.add({"lost", "volume"}, generate::sphere(0.1, 2), {1e30, 0, 0});
  EXPECT_NE(refusal().find("'lost'"), std::string::npos) << refusal();
  b.frame.absent = {lost};
  EXPECT_NO_THROW(draw(b.frame, options));
}

TEST(Render, AbsentHalfSpacesAreNotDrawn) {
  FrameBuilder b = ball_on_ground();
  b.add({"table", "obstacle"}, generate::box({2, 0.1, 2}, {1, 1, 1}), {0, -0.2, 0});
  RenderOptions options = small();
  options.camera = automatic_camera(b.frame, aspect);
  const Image with = draw(b.frame, options);
  FrameBuilder none = b;
  none.frame.half_spaces.clear();
  b.frame.absent = {1};
  EXPECT_EQ(draw(b.frame, options).rgb, draw(none.frame, options).rgb);
  EXPECT_NE(draw(b.frame, options).rgb, with.rgb);
}

TEST(Shapes, AreAsThickAsContactKeepsThemApartAndNeverThicker) {
  FrameBuilder b;
  b.add({"rope", "rod"}, generate::segments(2, 4));
  b.add({"dust", "particles"}, generate::points({2, 1, 2}, 0.3));
  b.add({"wire", "obstacle"}, generate::segments(2, 4));
  const auto radius = [&](std::size_t i) { return shapes_of(b.frame, {Vector3::Zero(), 2})[i].radius; };
  b.frame.drawn_thickness = {0.04, 0.2, 0};
  for (const std::size_t i : {0u, 1u, 2u}) EXPECT_EQ(radius(i), 0) << "contact keeps nothing";
  b.frame.thickness = {0.001, 0.002, 0.008};
  b.frame.self_reach = {0.002, 0.003, 0.01};
  EXPECT_FLOAT_EQ(radius(0), 0.00025f) << "whatever their material is said to be";
  EXPECT_FLOAT_EQ(radius(1), 0.0005f);
  EXPECT_FLOAT_EQ(radius(2), 0.002f);
  // A pair that keeps less than the mean of the two: half of it.
  b.frame.pair_thickness = {{0, 2, 0.5 * 0.5 * (0.001 + 0.008)}};
  EXPECT_FLOAT_EQ(radius(0), 0.000125f);
  EXPECT_FLOAT_EQ(radius(1), 0.0005f);
  EXPECT_FLOAT_EQ(radius(2), 0.001f);
}

TEST(Shapes, AreOfBodiesThatArePresent) {
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.2, 2));
  b.add({"rope", "rod"}, generate::segments(2, 4));
  b.add({"dust", "particles"}, generate::points({2, 1, 2}, 0.3));
  EXPECT_EQ(shapes_of(b.frame, {Vector3::Zero(), 2}).size(), 3u);
  for (int there = 0; there < 3; ++there) {
    b.frame.absent = {(there + 1) % 3, (there + 2) % 3};
    const std::vector<Shape> shapes = shapes_of(b.frame, {Vector3::Zero(), 2});
    ASSERT_EQ(shapes.size(), 1u) << there;
    EXPECT_EQ(shapes[0].body, there);
  }
}

TEST(Render, WritesAPngFileAtomically) {
  const TemporaryDirectory directory;
  const Frame frame = ball_on_ground().frame;
  render(frame, small(), directory / "a.png");
  const Image read = read_png(directory / "a.png");
  EXPECT_EQ(read.width, 160);
  EXPECT_EQ(read.height, 120);
  EXPECT_EQ(read.rgb, draw(frame, small()).rgb);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  EXPECT_THROW(render(frame, small(), directory / "absent/a.png"), InputError);
  EXPECT_THROW(read_png(directory / "absent.png"), InputError);
  write_file(directory / "b.png", "not a picture");
  EXPECT_THROW(read_png(directory / "b.png"), InputError);
}

TEST(AutomaticCamera, FramesAllSimulatedBodiesAndIgnoresGiantObstacles) {
  FrameBuilder b;
  b.add({"one", "volume"}, generate::sphere(0.3, 3), {0, 1, 0});
  b.add({"two", "affine"}, generate::box({0.5, 2, 0.5}, {1, 2, 1}), {2, 1, -1});
  const Index n = b.frame.mesh.point_count();
  b.add({"giant", "obstacle"}, generate::grid(1000, 1000, 50, 50), {0, -0.5, 0});
  const Camera camera = automatic_camera(b.frame, aspect);
  double extent = 0;
  for (Index i = 0; i < n; ++i) {
    const Eigen::Vector2d s = seen_at(camera, b.frame.mesh.points.col(i));
    EXPECT_LT(s.cwiseAbs().maxCoeff(), 1);
    extent = std::max(extent, s.cwiseAbs().maxCoeff());
  }
  EXPECT_GT(extent, 0.6) << "and fills the picture";
  EXPECT_GT(camera.eye.y(), camera.target.y()) << "from above";
}

TEST(AutomaticCamera, StandsOutsideEveryHalfSpace) {
  for (const Vector3& normal :
       {Vector3(0, 1, 0), Vector3(-0.5, 1, 0), Vector3(0.8, 1, 0.3), Vector3(0, 0.2, 1), Vector3(0, 0, 1)}) {
    FrameBuilder b;
    b.add({"block", "volume"}, generate::box({1, 1, 1}, {1, 1, 1}), normal.normalized());
    b.add_half_space("ground", Vector3::Zero(), normal);
    const Camera camera = automatic_camera(b.frame, aspect);
    EXPECT_GT(b.frame.half_spaces[0].normal.dot(camera.eye), 0) << normal.transpose();
    for (Index i = 0; i < 8; ++i)
      EXPECT_LT(seen_at(camera, b.frame.mesh.points.col(i)).cwiseAbs().maxCoeff(), 1);
  }
}

TEST(CornerNormals, AreSmoothOnRoundShapesAndSharpAtCreases) {
  const float crease = float(std::numbers::pi) * 40 / 180;
  const Mesh ball = generate::sphere(1, 6, generate::Content::surface);
  const Matrix3Xf x = ball.points.cast<float>();
  const Matrix3Xf smooth = corner_normals(x, ball.faces, crease);
  for (Index i = 0; i < ball.faces.size(); ++i)
    EXPECT_GT(smooth.col(i).dot(x.col(ball.faces.data()[i]).normalized()), 0.99f);
  const Mesh box = generate::box({1, 1, 1}, {2, 2, 2}, generate::Content::surface);
  const Matrix3Xf sharp = corner_normals(box.points.cast<float>(), box.faces, crease);
  for (Index i = 0; i < sharp.cols(); ++i) EXPECT_NEAR(sharp.col(i).cwiseAbs().maxCoeff(), 1, 1e-5);
}

}  // namespace
}  // namespace apart::test
