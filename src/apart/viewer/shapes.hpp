#pragma once
// Bodies of a frame as drawable shapes, in single precision.
#include <apart/io/frame.hpp>

#include <vector>

namespace apart {

using Vector3f = Eigen::Vector3f;
using Matrix3Xf = Eigen::Matrix3Xf;

/// Maps the world [m] to the picture's own units, in which what is looked at is about 1 in size and near the
/// origin, so that single precision is enough.
struct Normalization {
  Vector3 centre = Vector3::Zero();  ///< [m]
  double size = 1;                   ///< [m]

  Vector3f operator()(const Vector3& x) const { return ((x - centre) / size).cast<float>(); }
};

/// One body, ready to draw.
struct Shape {
  Matrix3Xf points;
  Faces faces;
  Matrix3Xf corner_normals;  ///< unit, 3 per face; smooth except across creases
  Edges segments;            ///< drawn as tubes
  Eigen::VectorXi balls;     ///< points drawn as balls
  float radius = 0;          ///< of tubes and balls; half of what contact keeps, 0 if it keeps nothing
  Vector3f colour;           ///< linear reflectance
  Matrix3Xf point_colours;   ///< linear reflectance of each point, instead; empty: all have `colour`
  bool obstacle = false;
  bool sheet = false;  ///< a shell
  int body = 0;        ///< index in the frame
};

/// The bodies that have something to draw. Distinct colours for simulated bodies, greys for obstacles; or, if
/// given, one for each point of the frame.
std::vector<Shape> shapes_of(const Frame& frame, const Normalization& normalization,
                             const Matrix3Xf& point_colours = Matrix3Xf());

/// The thickness with which a body's surfaces, tubes and balls are drawn [m]: that which contact keeps, and
/// verify proves; never more. 0 if it has none.
double drawn_thickness(const Frame& frame, int body);

/// Unit normals at the three corners of each face: the mean of the faces around that meet it at less than
/// `crease_angle` [rad], weighted by their angle there.
Matrix3Xf corner_normals(const Matrix3Xf& points, const Faces& faces, float crease_angle);

/// The colour of the n-th simulated body: linear RGB.
Vector3f body_colour(int n);
/// A linear colour as sRGB 0xRRGGBB.
int srgb(const Vector3f& linear);
/// Of obstacles and half-spaces, and of what has no number where the others have one.
Vector3f obstacle_colour();
/// The colour of each body of a frame, the same in pictures, on the page and in exports.
std::vector<Vector3f> body_colours(const Frame& frame);

}  // namespace apart
