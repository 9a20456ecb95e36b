#include "published_scenes.hpp"

namespace apart::bench {

namespace {

// Tables 6.1 and 6.2. Steps are those after which contact has changed the mesh.
constexpr RemeshedScene remeshed_rows[] = {
    {"ball on spikes", "ball-on-spikes", {}, 60, 12317, "20, 418, 8372, 40648", "43K (55K)"},
    {"ball on spikes, published contact", "ball-on-spikes", {"contact.formulation=published"}, 60},
    {"masticator", "masticator", {}, 80, 8231, "71, 481, 9782, 16776", "16K (57K)"},
    {"masticator, published contact", "masticator", {"contact.formulation=published"}, 80},
    {"bar twist", "bar-twist", {}, 300, 2235, "0.2, 1.5, 233, 2734", "24K (78K)"},
    {"bar twist, published contact", "bar-twist", {"contact.formulation=published"}, 300},
    {"impacting ball", "impacting-ball", {}, 200, 961, "0.3, 5.9, 116, 8564", "50K (61K)"},
    {"impacting ball, published contact", "impacting-ball", {"contact.formulation=published"}, 200},
    // Of our own: refined while it touches, and only if it is soft.
    {"bounce, soft", "bounce", {}, 80},
    {"bounce, stiff", "bounce", {"bodies[1].material.E=1e8"}, 80},
    // In the plane; no times are published.
    {"masticator 2D", "../../examples/remeshed-planar-masticator", {}, 200},
    {"elastic wave 2D", "../../examples/remeshed-planar-wave", {}, 240},
    {"elastic wave 2D, swaps and smoothing",
     "../../examples/remeshed-planar-wave",
     {"bodies[0].remesh.swaps=true", "bodies[0].remesh.smoothing=true"},
     240},
    {"cantilever 2D, splits",
     "../../examples/cooks-membrane",
     {"bodies[0].mesh.cells=[4, 4]", "bodies[0].remesh.delta_split=1e-3", "bodies[0].remesh.rounds=10"},
     10},
    {"cantilever 2D, swaps and smoothing",
     "../../examples/cooks-membrane",
     {"bodies[0].mesh.cells=[4, 4]",
      R"(bodies[0].remesh={"delta_split": 1e-3, "rounds": 10, "swaps": true, "smoothing": true})"},
     10},
};

}  // namespace

std::span<const RemeshedScene> remeshed_scenes() {
  return remeshed_rows;
}

}  // namespace apart::bench
