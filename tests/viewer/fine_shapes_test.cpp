// What pictures show beyond triangles stays within what is proven.
#include <apart/geometry/generators.hpp>
#include <apart/viewer/camera.hpp>
#include <apart/viewer/fine_shapes.hpp>
#include <apart/viewer/render.hpp>

#include <gtest/gtest.h>
#include <support/frame_builder.hpp>

#include <cmath>
#include <numbers>

namespace apart::test {
namespace {

double farthest(const Shape& shape, const Vector3f& from) {
  double distance = 0;
  for (const int p : shape.faces.reshaped())
    distance = std::max(distance, double((shape.points.col(p) - from).norm()));
  return distance;
}

/// Least distance from the centre of a triangle to a point: how flat the facets of a ball are.
double flattest(const Shape& shape, const Vector3f& from) {
  double distance = 1e9;
  for (const auto& f : shape.faces.colwise()) {
    const Vector3f middle = (shape.points.col(f[0]) + shape.points.col(f[1]) + shape.points.col(f[2])) / 3;
    distance = std::min(distance, double((middle - from).norm()));
  }
  return distance;
}

TEST(FineShapes, TheBulgeOfAChordIsItsSagitta) {
  for (const double angle : {0.05, 0.2}) {
    const auto on = [](double a) { return Vector3f(float(std::cos(a)), float(std::sin(a)), 0); };
    const Vector3f b = bulge(on(-angle / 2), on(angle / 2), on(-angle / 2), on(angle / 2));
    const double sagitta = 1 - std::cos(angle / 2);
    EXPECT_NEAR(b.x(), sagitta, 0.02 * sagitta);
    EXPECT_NEAR(b.y(), 0, 1e-6);
  }
  EXPECT_NEAR(bulge({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}).norm(), 0, 1e-7) << "flat";
}

TEST(FineShapes, ABallInFreeSpaceBecomesRound) {
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(1, 3));
  std::vector<Shape> shapes = shapes_of(b.frame, {});
  const double flat = flattest(shapes[0], Vector3f::Zero());
  const Index faces = Index(shapes[0].faces.cols());
  round_shapes(shapes, b.frame, {}, 1e-3f);
  EXPECT_GT(shapes[0].faces.cols(), 4 * faces);
  EXPECT_LT(1 - flattest(shapes[0], Vector3f::Zero()), 0.2 * (1 - flat));
  EXPECT_LT(farthest(shapes[0], Vector3f::Zero()), 1 + 0.2 * (1 - flat));
}

TEST(FineShapes, FlatBodiesAndThoseOfPixelsStayAsTheyAre) {
  FrameBuilder b;
  b.add({"cube", "volume"}, generate::box({1, 1, 1}, {2, 2, 2}));
  b.add({"ball", "volume"}, generate::sphere(1, 3), {3, 0, 0});
  std::vector<Shape> shapes = shapes_of(b.frame, {});
  const Faces cube = shapes[0].faces, ball = shapes[1].faces;
  round_shapes(shapes, b.frame, {}, 1e-3f);
  EXPECT_EQ(shapes[0].faces, cube);
  EXPECT_NE(shapes[1].faces.cols(), ball.cols());
  shapes = shapes_of(b.frame, {});
  round_shapes(shapes, b.frame, {}, 1.0f);
  EXPECT_EQ(shapes[1].faces, ball) << "less than a fifth of a pixel";
}

TEST(FineShapes, BodiesThatDoNotTouchDoNotTouchWhenTheyAreRound) {
  // The facets of two balls face each other at a distance much smaller than their bulge.
  constexpr double gap = 1e-4;
  FrameBuilder b;
  const Mesh ball = generate::sphere(1, 2);
  b.add({"left", "volume"}, ball);
  const double right = ball.points.row(0).maxCoeff();
  b.add({"right", "volume"}, ball, {2 * right + gap, 0, 0});
  std::vector<Shape> shapes = shapes_of(b.frame, {});
  round_shapes(shapes, b.frame, {}, 1e-3f);
  double left_end = -1e9, right_begin = 1e9;
  for (const int p : shapes[0].faces.reshaped())
    left_end = std::max(left_end, double(shapes[0].points(0, p)));
  for (const int p : shapes[1].faces.reshaped())
    right_begin = std::min(right_begin, double(shapes[1].points(0, p)));
  EXPECT_LT(left_end, right_begin);
  EXPECT_GT(left_end, right - 1e-6);
}

TEST(FineShapes, SheetsAreAsThickAsContactKeepsThemAndNoThicker) {
  FrameBuilder b;
  Mesh sheet = generate::grid(1, 1, 6, 6);
  for (auto p : sheet.points.colwise()) p.y() = 0.2 * std::sin(3 * p.x());
  b.add({"cloth", "shell"}, sheet);
  b.frame.thickness = {0.04};
  b.frame.self_reach = {0.05};
  std::vector<Shape> shapes = shapes_of(b.frame, {});
  Shape thick = shapes[0];
  thicken(thick, true);
  EXPECT_EQ(thick.faces.cols(), 2 * shapes[0].faces.cols());
  EXPECT_EQ(thick.segments.cols(), 24) << "a round edge";
  for (Index f = 0; f < shapes[0].faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const Vector3f middle = shapes[0].points.col(shapes[0].faces(k, f));
      const float away = (thick.points.col(thick.faces(k, f)) - middle).norm();
      EXPECT_NEAR(away, 0.02f, 1e-6f);
    }
}

TEST(FineShapes, SolidsGrowOutwards) {
  FrameBuilder b;
  b.add({"cube", "volume"}, generate::box({1, 1, 1}, {1, 1, 1}));
  b.frame.thickness = {0.02};
  b.frame.self_reach = {0.03};
  Shape cube = shapes_of(b.frame, {})[0];
  const double before = farthest(cube, Vector3f::Zero());
  thicken(cube, false);
  EXPECT_NEAR(farthest(cube, Vector3f::Zero()), before + 0.01, 1e-5);
  EXPECT_EQ(cube.segments.cols(), 0);
}

TEST(FineShapes, GlassThatIsLookedAtStraightHasNoHoles) {
  // Rays along the normals of a ball of glass: a share of 1 − cos that is negative by rounding must not
  // matter.
  FrameBuilder b;
  b.add({"grain", "volume"}, generate::sphere(0.05, 1));
  b.add({"glass", "obstacle"}, generate::sphere(1, 12));
  RenderOptions options{.width = 200, .height = 200, .samples = 4, .camera = {}};
  options.camera =
      Camera{.eye = {0, 0, 6}, .target = {0, 0, 0}, .up = {0, 1, 0}, .field_of_view = 30, .scene_size = 2};
  options.surroundings = Surroundings{.glass = {1}};
  const Image image = draw(b.frame, options);
  for (std::size_t i = 0; i < image.rgb.size(); i += 3)
    ASSERT_GT(int(image.rgb[i]) + image.rgb[i + 1] + image.rgb[i + 2], 60) << "black pixel " << i / 3;
}

TEST(Cameras, FewStrayGrainsAmongManyDoNotMakeThePictureSmall) {
  FrameBuilder near, far;
  for (FrameBuilder* b : {&near, &far}) b->add({"grains", "particles"}, generate::points({6, 6, 6}, 0.1));
  far.frame.mesh.points.col(17) = Vector3(40, 0, 0);
  const auto distance = [](const FrameBuilder& b) {
    const Camera camera = automatic_camera(b.frame, 4.0 / 3);
    return (camera.eye - camera.target).norm();
  };
  EXPECT_NEAR(distance(far), distance(near), 0.05 * distance(near));
  FrameBuilder two;
  two.add({"a", "volume"}, generate::sphere(0.5, 2));
  two.add({"b", "volume"}, generate::sphere(0.5, 2), {40, 0, 0});
  EXPECT_GT(distance(two), 30) << "of few bodies none is a stray";
}

TEST(Cameras, BodiesInFreeFlightNeedNotBeInThePicture) {
  std::vector<Frame> frames;
  for (const double height : {20.0, 10.0, 0.6, 0.5}) {
    FrameBuilder b;
    b.add({"ball", "volume"}, generate::sphere(0.5, 2), {0, height, 0});
    b.frame.contact_force = Matrix3X::Zero(3, b.frame.mesh.point_count());
    if (height == 0.5) b.frame.contact_force.col(0) = Vector3(0, 1, 0);
    frames.push_back(b.frame);
  }
  const auto distance = [](const Camera& camera) { return (camera.eye - camera.target).norm(); };
  const double landed = distance(automatic_camera(frames.back(), 1));
  EXPECT_LT(distance(automatic_camera(frames, 1)), 1.3 * landed);
  for (Frame& frame : frames) frame.contact_force.col(0) = Vector3(0, 1, 0);
  EXPECT_GT(distance(automatic_camera(frames, 1)), 5 * landed) << "what touches something matters";
}

TEST(Cameras, AFallIsShownFromItsStartIfThatTakesLittleRoom) {
  // A ball falls beside a pillar that is nearly as high.
  const auto frame = [](double height) {
    FrameBuilder b;
    b.add({"pillar", "volume"}, generate::box({0.5, 5, 0.5}, {1, 5, 1}), {0, 2.5, 0});
    b.add({"ball", "volume"}, generate::sphere(0.2, 2), {1, height, 0});
    b.frame.contact_force = Matrix3X::Zero(3, b.frame.mesh.point_count());
    b.frame.contact_force.col(0) = Vector3(0, 1, 0);
    return b.frame;
  };
  const std::vector<Frame> frames = {frame(5.2), frame(3), frame(0.2)};
  const auto distance = [](const Camera& camera) { return (camera.eye - camera.target).norm(); };
  const Camera camera = automatic_camera(frames, 1);
  EXPECT_GT(distance(camera), 1.01 * distance(automatic_camera(frames.back(), 1)));
  // The top of the ball at its start, seen from the eye, is within the field of view.
  const Vector3 top(1, 5.4, 0), forward = (camera.target - camera.eye).normalized();
  const Vector3 right = forward.cross(camera.up).normalized(), above = right.cross(forward);
  const double depth = (top - camera.eye).dot(forward);
  EXPECT_LT((top - camera.eye).dot(above) / depth, std::tan(camera.field_of_view * std::numbers::pi / 360));
}

}  // namespace
}  // namespace apart::test
