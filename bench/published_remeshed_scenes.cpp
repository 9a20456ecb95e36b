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
};

}  // namespace

std::span<const RemeshedScene> remeshed_scenes() {
  return remeshed_rows;
}

}  // namespace apart::bench
