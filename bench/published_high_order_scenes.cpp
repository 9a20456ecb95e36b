#include "published_scenes.hpp"

namespace apart::bench {

namespace {

// Table 5.2: elements, triangles of the collision surface with those of obstacles, total wall seconds; steps
// from table 5.1.
constexpr PublishedHighOrderScene high_order_rows[] = {
    {"scripts/higher-order/squish-beam-P1", "Bending beam, P1", "48", "72", 15, 50},
    {"scripts/higher-order/squish-beam-P1-ref", "Bending beam, P1", "25K", "4.4K", 463, 50},
    {"scripts/higher-order/squish-beam-P2", "Bending beam, P2", "48", "5.5K", 58, 50},
    {"scripts/higher-order/squish-beam-P3", "Bending beam, P3", "48", "5.5K", 57, 50},
    {"scripts/bounce/bounce-P1-baseline-fine", "Bouncing ball, P1", "8.8K", "5.1K", 256, 1000},
    {"scripts/bounce/bounce-P1-baseline-coarse", "Bouncing ball, P1", "30", "32", 8, 1000},
    {"scripts/bounce/bounce-P1", "Bouncing ball, P1, dense surface", "30", "2.4K", 12, 1000},
    {"scripts/bounce/bounce-P4", "Bouncing ball, P2 on P4", "30", "2.4K", 26, 1000},
    {"scripts/stress-tests/mat-twist-P1-coarse", "Mat twist, P1", "2.2K", "1.6K", 167, 250},
    {"scripts/stress-tests/mat-twist-P1-96x96", "Mat twist, P1", "54K", "37K", 22020, 250},
    {"scripts/stress-tests/mat-twist-P2", "Mat twist, P2", "2.2K", "129K", 22800, 250},
    {"scripts/microstructure/microstructure-P1", "Microstructure, P1 on P4", "6.4K", "143K", 23640, 200},
    {"scripts/microstructure/microstructure-P2-E=6e7", "Microstructure, P2 on P4", "6.4K", "143K", 21900,
     200},
    {"scripts/friction/armadillo-roller-baseline", "Armadillo-rollers, P1", "386K", "24K", 220680, 400},
    {"scripts/friction/armadillo-roller", "Armadillo-rollers, P1, proxy", "1.8K", "24K", 3480, 400},
    {"scripts/friction/armadillo-roller-P2", "Armadillo-rollers, P2 on P4, upsampled", "4.7K", "23K", 14280,
     400},
    {"scripts/friction/armadillo-roller-P2-wCM", "Armadillo-rollers, P2 on P4, original surface", "4.7K",
     "24K", 26100, 400},
    {"scripts/rigid/screw-baseline", "Nut and bolt", "6.1K", "5.2K", 1320, 500},
    {"scripts/rigid/screw", "Nut and bolt, proxy", "492", "5.2K", 580, 500},
    {"scripts/balance/armadillo-balance-fine", "Balancing armadillo", "5.9K", "3.7K", 17, 50},
    {"scripts/balance/armadillo-balance-coarse", "Balancing armadillo", "585", "486", 19, 50},
    {"scripts/balance/armadillo-balance-coarse-optimized", "Balancing armadillo, optimised density", "585",
     "486", 9, 50},
};

}  // namespace

std::optional<PublishedHighOrderScene> published_high_order(std::string_view scene) {
  for (const PublishedHighOrderScene& row : high_order_rows)
    if (scene.ends_with(row.scene)) return row;
  return std::nullopt;
}

}  // namespace apart::bench
