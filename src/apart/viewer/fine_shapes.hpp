#pragma once
// What a picture shows beyond the triangles of a mesh: round silhouettes, and the thickness that contact
// keeps.
#include <apart/viewer/shapes.hpp>

namespace apart {

/// Cuts the triangles of curved shapes more finely and lets them bulge as the normals of their corners say,
/// by no more than three tenths of the free space in front of them: what does not touch in the frame does not
/// touch in the picture. Where bodies are in contact they keep their flat triangles. `pixel`: of the picture,
/// in its units.
void round_shapes(std::vector<Shape>& shapes, const Frame& frame, const Normalization& normalization,
                  float pixel);

/// Gives the surface of a shape the thickness 2 · radius: solids grow outwards by the radius, sheets get two
/// sides and a round edge. No point of it is farther than the radius from the surface without thickness.
/// `sheet`: of open or unknown sides.
void thicken(Shape& shape, bool sheet);

/// The displacement of the middle of the edge from a to b by which a curve bulges that is perpendicular to
/// the unit normals na and nb at its ends: exact for a circle's arc as the angle goes to zero.
Vector3f bulge(const Vector3f& a, const Vector3f& b, const Vector3f& na, const Vector3f& nb);

}  // namespace apart
