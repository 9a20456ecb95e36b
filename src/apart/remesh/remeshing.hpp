#pragma once
#include <apart/remesh/criterion.hpp>
#include <apart/remesh/original_shape.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// How the mesh of a body follows a step.
struct RemeshOptions {
  int body = 0;
  RemeshCriterion criterion = RemeshCriterion::potential;
  double longest_edge = 0;    ///< ℓ of the sizing field [m]
  double delta_split = 0;     ///< δ_s > 0 [J]: the potential must fall by more for a split
  double delta_collapse = 0;  ///< δ_c ≤ 0 [J]: by more than this, which is negative, for a collapse
  double min_edge = 0;        ///< [m]: no edge is split into shorter ones, at rest
  int rounds = 2;             ///< splits of splits in one step
  bool coarsen = false;       ///< also points of the scene's mesh may be removed
  bool swaps = false;      ///< edges and facets inside may be swapped: the potential must fall as for a split
  bool smoothing = false;  ///< points inside may get another place at rest, likewise
  Index scene_points = 0;  ///< points of the scene's mesh, which are the first
  /// To which the rest shape stays near; the body keeps its mass (keep_mass). None: the rest shape stays.
  std::shared_ptr<const OriginalShape> original = nullptr;
};

/// Splits and collapses edges of linear volumes and planar bodies [thesis alg. 6.1, 6.2], and swaps cells and
/// moves points inside. The first round of a step does all of this, the following ones do not collapse:
///
/// 1. Screening: the change of the potential is estimated for all operations (screening.hpp). Those with a
///    fair chance are tried, the best first.
/// 2. Trials on patches (patch.hpp), in batches of operations that change no cell in common. Whatever is
///    accepted blocks these until the next round.
/// 3. What was accepted is done at once, and the step solved again from where the patches ended.
///
/// Bodies must have consistent mass, which a split leaves unchanged.
std::shared_ptr<const Remesher> make_remesher(std::vector<RemeshOptions> options);

}  // namespace apart
