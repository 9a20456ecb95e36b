#include "published_scenes.hpp"

namespace apart::bench {

namespace {

// Table 4.1, and D.1 where it has the scene: total seconds and iterations of IPC with 200 GPa and of Rigid
// IPC. The names of its rows are partly inferred. Not published as fixtures are its intermittent motion, bike
// chain, loose punch, house of cards with two cubes, disconnected components and anchor.
constexpr PublishedRigidScene rigid_rows[] = {
    {"mechanisms/expanding-lock-box", "Expanding lock box", "5K (9K)", 24.9, 9.0},
    {"mechanisms/bolt", "Bolt", "332 (759)", 8.3, 3.5, 16, "4031 s, 24K / 1437 s, 4K"},
    {"mechanisms/507-movements/092-piston", "Piston", "370 (1K)", 9.9, 1.5},
    {"mechanisms/507-movements/140-punching-press", "Punching press", "57 (136)", 9.2, 1.3},
    {"mechanisms/507-movements/493-Lewis", "Lewis", "50 (55)", 2.7, 0.02},
    {"codimensional/edges/chain-net-16x16-ball", "Codimensional chain net", "2K (2K)", 130.5, 20.5},
    {"friction/spolling-coin", "Spolling coin", "12 (84)", 3.8, 0.01},
    {"friction/arch/arch-25-stones", "Arch of 25 stones", "", 0, 0, 16, "26.5 s, 2K / 55.8 s, 2K"},
    {"friction/arch/arch-101-stones", "Arch of 101 stones", "649 (695)", 2.1, 0.21, 16,
     "238 s, 4K / 488 s, 5K"},
    {"friction/turntable/turntable-mu=0.0", "Turntable, 0", "9 (15)", 2.3, 0.004},
    {"friction/turntable/turntable-mu=0.1", "Turntable, 0.1", "2 (13)", 2.9, 0.003},
    {"friction/turntable/turntable-mu=0.5", "Turntable, 0.5", "7 (14)", 5.9, 0.01},
    {"friction/turntable/turntable-mu=1.0", "Turntable, 1", "10 (10)", 9.1, 0.01},
    {"minimum-separation/packing", "Packing", "184 (456)", 91.3, 33.5, 64},
    {"chain/wrecking-ball", "Wrecking ball", "4K (14K)", 17.1, 4.8, 16, "7180 s, 9K / 5748 s, 18K"},
    {"chain/chain-net/chain-net-4x4", "Chain net 4x4", "", 0, 0, 16, "1370 s, 4K / 99.8 s, 3K"},
    {"chain/chain-net/chain-net-8x8", "Chain net 8x8", "", 0, 0, 16, "9951 s, 5K / 1421 s, 5K"},
    {"pendulum/pendulum", "Pendulum", "", 0, 0, 16, "340 s, 10K / 133 s, 3K"},
};

constexpr std::array<std::string_view, 4> mu_01 = {"contact.friction_coefficient=0.1"},
                                          mu_1 = {"contact.friction_coefficient=1"};
constexpr RigidVariant variants[] = {
    {"friction/turntable/turntable-mu=0.1", "friction/turntable/turntable-mu=0.5", mu_01},
    {"friction/turntable/turntable-mu=1.0", "friction/turntable/turntable-mu=0.5", mu_1},
};

}  // namespace

std::span<const RigidVariant> rigid_variants() {
  return variants;
}

std::optional<PublishedRigidScene> published_rigid(std::string_view fixture) {
  for (const PublishedRigidScene& row : rigid_rows)
    if (row.fixture == fixture) return row;
  return std::nullopt;
}

}  // namespace apart::bench
