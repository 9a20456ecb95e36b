#include "published_scenes.hpp"

namespace apart::bench {

namespace {

constexpr PublishedScene rows[] = {
    // C.2: tetrahedra and cubes.
    {"paperExamples/10_tetTet", "C.2", "Tet-tet", "0 (6)", 2.3, 1.4e-3, 70, "C1"},
    {"paperExamples/10_cubeStack", "C.2", "Cube stack", "8 (69)", 3.25, 6e-3, 76, "C1"},
    {"paperExamples/10_tetSlots", "C.2", "Tet corner", "5 (21)", 3.9, 2e-3, 70, "C1"},
    {"paperExamples/11_erleben/spikeSpikeCO", "C.2", "Spikes", "0 (4)", 2.05, 9.4e-4, 11, "C2"},
    {"paperExamples/11_erleben/spikeWedgeCO", "C.2", "Spike and Wedge", "0 (3)", 2.01, 1.0e-3, 11, "C2"},
    {"paperExamples/11_erleben/wedgeWedgoCO", "C.2", "Wedges", "0 (19)", 2.06, 8.1e-4, 11, "C2"},
    {"paperExamples/11_erleben/spikeHoleCO", "C.2", "Spike in a Hole", "0 (5)", 2.10, 1.0e-3, 11, "C2"},
    {"paperExamples/11_erleben/spikeCrackCO", "C.2", "Spike in a Crack", "0 (2)", 2.01, 7.7e-4, 11, "C2"},
    {"paperExamples/11_erleben/wedgeCrackCO", "C.2", "Wedge in a Crack", "0 (3)", 2.01, 3.0e-3, 11, "C2"},
    {"paperExamples/11_erleben/spikePlaneCO", "C.2", "Sliding Spike", "0 (1)", 2.01, 9.5e-4, 11, "C2"},
    {"paperExamples/11_erleben/wedgePlaneCO", "C.2", "Sliding Wedge", "0 (1)", 2.00, 9.6e-4, 11, "C2"},
    {"paperExamples/11_erleben/cubeCliffCO", "C.2", "Cliff Edges", "7 (28)", 1.97, 1.7e-3, 11, "C2"},
    {"paperExamples/11_erleben/cubeInternalEdgesCO", "C.2", "Internal Edges", "18 (28)", 2.03, 1.3e-3, 11,
     "C2"},
    // C.3: obstacles of points, segments and squares.
    {"otherExamples/coDimUnitTests/sphere5K_pointPlaneDrop", "C.3", "Ball on points", "126 (182)", 6.6, 2.8,
     229, "C1"},
    {"otherExamples/coDimUnitTests/sphere5K_segPlaneDrop", "C.3", "Ball on segments", "439 (706)", 11.3, 4.4,
     196, "C1"},
    {"otherExamples/coDimUnitTests/sphere5K_squarePlaneDrop", "C.3", "Ball on squares", "908 (1K)", 13.4, 5.5,
     239, "C1"},
    {"otherExamples/coDimUnitTests/octocat_pointPlaneDrop", "C.3", "Octocat on points", "193 (846)", 11.1,
     5.0, 272, "C1"},
    {"otherExamples/coDimUnitTests/octocat_segPlaneDrop", "C.3", "Octocat on segments", "354 (1K)", 10.4, 4.5,
     231, "C1"},
    {"otherExamples/coDimUnitTests/octocat_squarePlaneDrop", "C.3", "Octocat on squares", "808 (1.2K)", 11.4,
     5.0, 241, "C1"},
    {"otherExamples/coDimUnitTests/mat40x40_pointPlaneDrop", "C.3", "Mat on points", "112 (250)", 2.9, 0.64,
     159, "C1"},
    {"otherExamples/coDimUnitTests/mat40x40_segPlaneDrop", "C.3", "Mat on segments", "326 (419)", 2.5, 0.5,
     163, "C1"},
    {"otherExamples/coDimUnitTests/mat40x40_squarePlaneDrop", "C.3", "Mat on squares", "468 (780)", 5.0, 1.5,
     141, "C1"},
    // C.4: stress tests and general examples.
    {"paperExamples/2_matKnives", "C.4", "Mat on knives", "291 (472)", 5.5, 1.4, 147, "C1"},
    {"paperExamples/videoExamples/chain5", "C.4", "5 chains", "185 (260)", 4.3, 0.2, 97, "C1"},
    {"paperExamples/videoExamples/chain100", "C.4", "100 chains", "40K (53K)", 2.4, 4.0, 450, "C1"},
    {"paperExamples/12_largeMassRatio", "C.4", "Cube on small cube", "14 (18)", 4.2, 2e-3, 57, "C1"},
    {"otherExamples/typical/sphere1K_segBedSquash", "C.4", "Pin-cushion compress (finer ball)", "317 (496)",
     9.5, 3.7, 233, "C1"},
    {"paperExamples/14_matTwist", "C.4", "Mat twist (100s)", "264K (439K)", 34.5, 776.2, 4546, "C4"},
    {"paperExamples/4_rodsTwist", "C.4", "Rods twist (100s)", "243K (498K)", 14.1, 141.5, 2638, "C4"},
    {"paperExamples/15_trashComp_octocat", "C.4", "Trash compactor (octocat)", "793 (34K)", 16.9, 12.8, 447,
     "C4"},
    // C.5: scalability.
    {"paperExamples/21_scalability/armadillo13K_twist", "C.5", "Armadillo twist 13K", "832 (2.7K)", 10.6, 4.3,
     453, "C3"},
    {"paperExamples/21_scalability/armadillo28K_twist", "C.5", "Armadillo twist 28K", "2.5K (72K)", 10.2,
     11.8, 890, "C3"},
    {"paperExamples/21_scalability/armadillo54K_twist", "C.5", "Armadillo twist 54K", "5.5K (17K)", 10.0,
     23.7, 1632, "C3"},
    {"paperExamples/21_scalability/armadillo122K_twist", "C.5", "Armadillo twist 122K", "22K (54K)", 9.8,
     64.0, 3744, "C3"},
    {"paperExamples/21_scalability/armadillo219K_twist", "C.5", "Armadillo twist 219K", "60.6K (133K)", 10.0,
     126.2, 6547, "C3"},
    {"paperExamples/21_scalability/mat40x40_twist", "C.5", "Mat twist (10s) 40x40", "2K (4.6K)", 7.6, 1.3,
     196, "C3"},
    {"paperExamples/21_scalability/mat100x100_twist", "C.5", "Mat twist (10s) 100x100", "31K (60K)", 7.5, 9.6,
     792, "C3"},
    {"paperExamples/21_scalability/mat150x150_twist", "C.5", "Mat twist (10s) 150x150", "87K (162K)", 10.9,
     33.1, 1815, "C3"},
    {"paperExamples/21_scalability/mat225x225_twist", "C.5", "Mat twist (10s) 225x225", "222K (408K)", 15.3,
     107.2, 3895, "C3"},
    // C.6: with friction.
    {"paperExamples/8_rollerBall", "C.6", "Ball mesh roller", "2.3K (5.6K)", 58.6, 63.3, 215, "C1"},
    {"paperExamples/18_pointRollerBall", "C.6", "Ball points roller", "305 (1.2K)", 26.9, 9.5, 210, "C1"},
    {"otherExamples/friction/matHouse_sharp0.2", "C.6", "Stable board house", "1.3K (1.4K)", 1.2, 0.4, 205,
     "C1"},
    {"otherExamples/friction/matHouse_sharp", "C.6", "Unstable board house", "7K (10K)", 8.9, 2.4, 299, "C1"},
    {"paperExamples/7_masonryArch", "C.6", "Cement Arch", "101 (118)", 5.7, 0.05, 54, "C3"},
    {"otherExamples/friction/masonryArch_25_0.2", "C.6", "Toy arch fall", "66 (272)", 17.3, 0.15, 55, "C3"},
    {"otherExamples/friction/slopeTest_highSchoolPhysics_0.5", "C.6", "Block on slope 1", "4 (4)", 1.27, 9e-4,
     50, "C3"},
    {"otherExamples/friction/slopeTest_highSchoolPhysics_0.49", "C.6", "Block on slope 2", "4 (4)", 6.9, 3e-3,
     51, "C3"},
};

}  // namespace

std::optional<PublishedScene> published(std::string_view script) {
  for (const PublishedScene& row : rows)
    if (row.script == script) return row;
  return std::nullopt;
}

}  // namespace apart::bench
