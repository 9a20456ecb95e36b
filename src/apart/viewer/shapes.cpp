#include <apart/viewer/shapes.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

float linear(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}

Vector3f linear(int hex) {
  return {linear(float(hex >> 16 & 255) / 255), linear(float(hex >> 8 & 255) / 255),
          linear(float(hex & 255) / 255)};
}

}  // namespace

Vector3f body_colour(int n) {
  // Warm and cold in turn; neighbours in the list differ in hue and lightness, for the colour-blind too.
  static constexpr int chosen[] = {0xe4572e, 0x2e86ab, 0xf3a712, 0x2a9d6f, 0x9b5de5, 0xd81e5b,
                                   0x4cc9c0, 0xf28fb0, 0x8ab83f, 0x3d5a98, 0xc98b5a, 0x6d6875};
  constexpr int count = int(std::size(chosen));
  Vector3f colour = linear(chosen[n % count]);
  // Later rounds: the same hues, lighter and darker in turn.
  const int round = n / count;
  if (round > 0) {
    const float mix = 0.45f - 0.3f / float(round + 1);
    colour =
        (1 - mix) * colour + mix * (round % 2 == 1 ? Vector3f::Constant(0.9f) : Vector3f::Constant(0.03f));
  }
  return colour;
}

Vector3f obstacle_colour() {
  return {0.42f, 0.43f, 0.45f};
}

int srgb(const Vector3f& linear) {
  int hex = 0;
  for (const float x : linear) {
    const float s = x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f;
    hex = hex << 8 | int(std::lround(255 * std::clamp(s, 0.0f, 1.0f)));
  }
  return hex;
}

std::vector<Vector3f> body_colours(const Frame& frame) {
  std::vector<Vector3f> colours;
  int simulated = 0;
  for (const FrameBody& body : frame.bodies)
    colours.push_back(body.kind == "obstacle" || body.kind == "half_space" ? obstacle_colour()
                                                                           : body_colour(simulated++));
  return colours;
}

Matrix3Xf corner_normals(const Matrix3Xf& points, const Faces& faces, float crease_angle) {
  const Index n = Index(faces.cols());
  Matrix3Xf face_normal(3, n);
  for (Index f = 0; f < n; ++f) {
    const Vector3f a = points.col(faces(0, f)), b = points.col(faces(1, f)), c = points.col(faces(2, f));
    face_normal.col(f) = (b - a).cross(c - a).normalized();  // zero for a degenerate face
  }
  // The corners (3 · face + k) around each vertex, one after the other.
  std::vector<Index> first(std::size_t(points.cols()) + 1, 0), corners(std::size_t(3 * n));
  for (Index i = 0; i < 3 * n; ++i) ++first[std::size_t(faces.data()[i]) + 1];
  for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
  std::vector<Index> next(first.begin(), first.end() - 1);
  for (Index i = 0; i < 3 * n; ++i) corners[std::size_t(next[std::size_t(faces.data()[i])]++)] = i;

  auto angle_at = [&](Index corner) {
    const Index f = corner / 3;
    const int k = corner % 3;
    const Vector3f p = points.col(faces(k, f));
    const Vector3f u = (points.col(faces((k + 1) % 3, f)) - p).normalized();
    const Vector3f v = (points.col(faces((k + 2) % 3, f)) - p).normalized();
    return std::acos(std::clamp(u.dot(v), -1.0f, 1.0f));
  };
  const float limit = std::cos(crease_angle);
  Matrix3Xf normals(3, 3 * n);
  for (Index i = 0; i < 3 * n; ++i) {
    const Vector3f own = face_normal.col(i / 3);
    const auto v = std::size_t(faces.data()[i]);
    Vector3f sum = Vector3f::Zero();
    for (Index j = first[v]; j < first[v + 1]; ++j) {
      const Index other = corners[std::size_t(j)];
      if (face_normal.col(other / 3).dot(own) >= limit) sum += angle_at(other) * face_normal.col(other / 3);
    }
    normals.col(i) = sum.norm() > 0 ? Vector3f(sum.normalized()) : own;
  }
  return normals;
}

double drawn_thickness(const Frame& frame, int body) {
  if (frame.thickness.empty()) return 0;
  const auto of = [&](int b) { return frame.thickness[std::size_t(b)]; };
  // A pair keeps the mean of the two, half of each; if it keeps less, both are drawn thinner.
  double share = 1;
  for (const PairThickness& pair : frame.pair_thickness)
    if (const double mean = 0.5 * (of(pair.a) + of(pair.b)); (pair.a == body || pair.b == body) && mean > 0)
      share = std::min(share, pair.thickness / mean);
  return share * of(body);
}

std::vector<Shape> shapes_of(const Frame& frame, const Normalization& normalization,
                             const Matrix3Xf& point_colours) {
  const Mesh& mesh = frame.mesh;
  const std::size_t bodies = frame.bodies.size();
  std::vector<Shape> shapes(bodies);
  std::vector<char> absent(bodies, false);
  for (const int b : frame.absent) absent[std::size_t(b)] = true;
  std::vector<Index> local(std::size_t(mesh.point_count())), count(bodies, 0);
  for (Index i = 0; i < mesh.point_count(); ++i)
    local[std::size_t(i)] = count[std::size_t(frame.point_body[i])]++;
  for (std::size_t b = 0; b < bodies; ++b) {
    shapes[b].points.resize(3, count[b]);
    if (point_colours.size() > 0) shapes[b].point_colours.resize(3, count[b]);
    shapes[b].body = int(b);
    shapes[b].obstacle = frame.bodies[b].kind == "obstacle";
    shapes[b].sheet = frame.bodies[b].kind == "shell";
  }
  for (Index i = 0; i < mesh.point_count(); ++i)
    shapes[std::size_t(frame.point_body[i])].points.col(local[std::size_t(i)]) =
        normalization(mesh.points.col(i));
  for (Index i = 0; i < point_colours.cols(); ++i)
    shapes[std::size_t(frame.point_body[i])].point_colours.col(local[std::size_t(i)]) = point_colours.col(i);

  /// Gives every body its share of a list of cells.
  auto distribute = [&](const auto& cells, auto member) {
    std::vector<Index> size(bodies, 0);
    auto body_of = [&](Index c) { return std::size_t(frame.point_body[cells(0, c)]); };
    for (Index c = 0; c < cells.cols(); ++c) size[body_of(c)] += !absent[body_of(c)];
    std::vector<Index> filled(bodies, 0);
    for (std::size_t b = 0; b < bodies; ++b) member(shapes[b]).conservativeResize(cells.rows(), size[b]);
    for (Index c = 0; c < cells.cols(); ++c) {
      const std::size_t b = body_of(c);
      if (absent[b]) continue;
      for (Index k = 0; k < cells.rows(); ++k)
        member(shapes[b])(k, filled[b]) = local[std::size_t(cells(k, c))];
      ++filled[b];
    }
  };
  const Faces boundary = boundary_faces(mesh.tetrahedra);
  Faces faces(3, boundary.cols() + mesh.faces.cols());
  faces << boundary, mesh.faces;
  distribute(faces, [](Shape& s) -> Faces& { return s.faces; });
  distribute(mesh.edges, [](Shape& s) -> Edges& { return s.segments; });
  std::vector<std::vector<int>> balls(bodies);
  for (const int v : mesh.vertices)
    if (const auto b = std::size_t(frame.point_body[v]); !absent[b])
      balls[b].push_back(local[std::size_t(v)]);

  const std::vector<Vector3f> own_colours = body_colours(frame);
  for (Shape& shape : shapes) {
    const auto& list = balls[std::size_t(shape.body)];
    shape.balls = Eigen::VectorXi::Map(list.data(), Index(list.size()));
    shape.corner_normals = corner_normals(shape.points, shape.faces, float(std::numbers::pi) * 55 / 180);
    shape.radius = float(0.5 * drawn_thickness(frame, shape.body) / normalization.size);
    shape.colour = own_colours[std::size_t(shape.body)];
  }
  std::erase_if(shapes,
                [](const Shape& s) { return s.faces.cols() + s.segments.cols() + s.balls.size() == 0; });
  return shapes;
}

}  // namespace apart
