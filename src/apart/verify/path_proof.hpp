#pragma once
// Proof that nothing touches, or comes closer than it may, and nothing inverts while every point moves on a
// straight line from one position to another. Sound: what is called proven is proven, in exact arithmetic
// wherever rounding could matter. Complete up to a limit of work: a pair that comes extremely close may
// remain unproven although it does not touch.
#include <apart/verify/gaps.hpp>

#include <cstdint>
#include <vector>

namespace apart::verify {

struct UnprovenPair {
  exact::PrimitivePair pair;
  double time;     ///< in [0, 1]: up to here the pair is proven apart
  double gap = 0;  ///< [m] that it has to keep; 0: it must not touch
};

struct PathProof {
  std::int64_t pairs = 0;              ///< candidate pairs examined
  std::vector<UnprovenPair> unproven;  ///< sorted by pair
};

/// Shows that surface pairs that do not intersect at `from` never touch on the way to `to`, and come no
/// closer than they may, both ends included. Pairs that share a vertex or do not pass the filter are not
/// examined. Stops early once 1000 pairs are unproven. All coordinates must be finite.
PathProof prove_apart(const Matrix3X& from, const Matrix3X& to, const exact::Surface& surface,
                      exact::PairFilter tested, const Spacing& spacing);
/// The same without gaps.
PathProof prove_apart(const Matrix3X& from, const Matrix3X& to, const exact::Surface& surface,
                      exact::PairFilter tested);

/// Whether two primitives (point–point, point–edge, point–triangle, edge–edge) provably stay apart, and by at
/// least `gap` [m], for t ∈ [begin, end]. Returns the time up to which that is proven; `end` if throughout.
double proven_apart_until(std::span<const exact::Path> a, std::span<const exact::Path> b, double begin,
                          double end, double gap = 0);

struct UnprovenVolume {
  Index tetrahedron;
  double time;  ///< in [0, 1]: up to here the volume is proven positive
};

/// Tetrahedra (columns named in `which`) whose volume is not proven positive all the way, in order.
std::vector<UnprovenVolume> find_unproven_volumes(const Matrix3X& from, const Matrix3X& to,
                                                  const Tetrahedra& tetrahedra, std::span<const Index> which);

}  // namespace apart::verify
