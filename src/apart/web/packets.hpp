#pragma once
// The packets of a frame that the page receives, compressed with gzip. Each packet is, little-endian: the
// length of a JSON text as a 4-byte integer, the text, filled up with spaces so that what follows starts at a
// multiple of four, and the arrays that the text announces, one after the other.
#include <apart/viewer/drawn_surface.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace apart {

/// Bodies and cells; the same for all frames of equal topology_key. Arrays of 4-byte integers: points
/// (numbers in the frame), body of each point, triangles (3 each), their cells, segments (2 each), balls.
std::string topology_packet(const Frame& frame, const DrawnSurface& surface, bool has_other_surfaces);

/// Where the surface's points are. Text: time, key, absent bodies, half-spaces, fields that can be asked for,
/// and for each axis the smallest coordinate and the width of a step [m]. Then for each axis 3 × points
/// bytes: coordinates as multiples of the step, 24 bits, each less its predecessor (modulo 2²⁴), all lowest
/// bytes first, then the middle ones, then the highest, because so they compress well. The step is 2⁻²⁴ of
/// the extent: as fine as the single precision they are drawn with. `start`: where the points are in the
/// first frame of the run [m], if it has the same ones; then displacements can be asked for.
std::string position_packet(const Frame& frame, const DrawnSurface& surface, const Matrix3X& start = {});

/// A field of point_field.hpp at the surface's points, or "contact_vectors" [N] with three numbers each, as
/// 4-byte floats. Text: name, smallest and largest (null if there is no number at all). `reach` [m]: for
/// gaps; `start`: for displacements.
std::string field_packet(const Frame& frame, const DrawnSurface& surface, std::string_view field,
                         double reach, const Matrix3X& start = {});

/// What the frame says about a cell and a point of it, in full precision, as JSON text. Throws InputError if
/// there is no such cell or point.
std::string picked_values(const Frame& frame, Index cell, Index point);

}  // namespace apart
