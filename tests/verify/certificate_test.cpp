// What a certificate says of frames: good ones pass, every kind of damage is found.
#include <verify/written_run.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <nlohmann/json.hpp>

#include <limits>

namespace apart::test {
namespace {

TEST(Certificate, CertifiesAGoodRun) {
  const RunFixture run;
  const WrittenRun written(good_frames(run));
  const Certificate c = written.certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_EQ(c.frames, 3);
  EXPECT_EQ(c.half_spaces, 1);
  EXPECT_GT(c.edges, 0);
  // Outside of the blocks: 2·2·6 and 6 squares, of the table 9, two triangles each.
  EXPECT_EQ(c.faces, 2 * (24 + 6 + 9));
  EXPECT_GE(c.tetrahedra, 5 * 8 + 5);
  EXPECT_EQ(c.paths, 0);
  ASSERT_TRUE(c.min_volume_ratio);
  EXPECT_NEAR(*c.min_volume_ratio, 1, 1e-12);
  ASSERT_TRUE(c.min_distance);
  EXPECT_NEAR(*c.min_distance, 0.1, 1e-12);
  EXPECT_EQ(c.coverage(), Certificate::Coverage::frames);
  EXPECT_NE(summary(c).find("CERTIFIED (frames only, 3 of them"), std::string::npos) << summary(c);
  EXPECT_EQ(summary(c).find("NOT CERTIFIED"), std::string::npos);
}

TEST(Certificate, CatchesAnIntersectionOfATrillionth) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1] = run.sunk(0.1, 0.5 + 1e-12);
  const Certificate c = WrittenRun(frames).certify();
  EXPECT_FALSE(c.ok());
  EXPECT_EQ(kinds(c), "intersection");
  EXPECT_EQ(c.violations[0].file, "frames/frame_000001.vtu");
  EXPECT_EQ(c.violations[0].bodies.size(), 2u);
  EXPECT_NE(c.violations[0].text.find("'soft'"), std::string::npos);
  EXPECT_NE(c.violations[0].text.find("'table'"), std::string::npos);
  ASSERT_TRUE(c.violations[0].position);
  EXPECT_NEAR(c.violations[0].position->y(), 1, 1e-9);
}

TEST(Certificate, PassesAGapOfATenBillionthAndTouchingFails) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1] = run.sunk(0.1, 0.5 - 1e-10);
  Certificate c = WrittenRun(frames).certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_NEAR(*c.min_distance, 1e-10, 1e-15);
  frames[1] = run.sunk(0.1, 0.5);
  c = WrittenRun(frames).certify();
  EXPECT_EQ(kinds(c), "intersection") << summary(c);
}

TEST(Certificate, CatchesAnInvertedAndAFlatTetrahedron) {
  const RunFixture run;
  auto frames = good_frames(run);
  Matrix3X& x = frames[2].mesh.points;
  // Find a tetrahedron with the block's middle point and push that point just through the opposite side.
  const Tetrahedra& cells = run.sunk(0, 0).mesh.tetrahedra;
  Index middle = -1, cell = -1;
  for (Index t = 0; t < cells.cols() && middle < 0; ++t)
    for (int k = 0; k < 4; ++k)
      if ((run.sunk(0, 0).mesh.points.col(cells(k, t)) - Vector3(0, 2, 0)).norm() < 1e-9) {
        middle = cells(k, t);
        cell = t;
      }
  ASSERT_GE(cell, 0);
  Vector3 opposite = Vector3::Zero();
  for (int k = 0; k < 4; ++k)
    if (cells(k, cell) != middle) opposite += x.col(cells(k, cell)) / 3;
  const Vector3 inside = x.col(middle);
  x.col(middle) = opposite + 1e-9 * (opposite - inside);
  Certificate c = WrittenRun(frames).certify();
  EXPECT_EQ(kinds(c), "inversion") << summary(c);
  EXPECT_EQ(c.violations[0].file, "frames/frame_000002.vtu");
  EXPECT_LT(*c.min_volume_ratio, 0);
  x.col(middle) = opposite + 1e-3 * (inside - opposite);
  c = WrittenRun(frames).certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_GT(*c.min_volume_ratio, 0);
  EXPECT_LT(*c.min_volume_ratio, 2e-3);
}

TEST(Certificate, ChecksAffineBodiesButNotObstaclesForInversion) {
  RunFixture run;
  Mesh flat = generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1));
  flat.tetrahedra.row(0).swap(flat.tetrahedra.row(1));  // all inverted
  run.add({"thing", "obstacle"}, flat, {-5, 5, 0});
  EXPECT_TRUE(WrittenRun({run.sunk(0, 0)}).certify().ok());
  run.add({"other", "affine"}, flat, {5, 5, 0});
  EXPECT_EQ(kinds(WrittenRun({run.sunk(0, 0)}).certify()), "inversion");
}

TEST(Certificate, SaysWhatItDoesNotCheckOfMaterialsThatMayInvert) {
  RunFixture run;
  Mesh inverted = generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1));
  inverted.tetrahedra.row(0).swap(inverted.tetrahedra.row(1));
  run.add({"thing", "invertible_volume"}, inverted, {-5, 5, 0});
  const Certificate c = WrittenRun({run.sunk(0, 0)}).certify();
  EXPECT_TRUE(c.ok());
  EXPECT_EQ(c.invertible, inverted.tetrahedra.cols());
  EXPECT_NE(summary(c).find("no inversion of the cells checked"), std::string::npos) << summary(c);
}

TEST(Certificate, ChecksTheOtherCellsOfABodyOfWhichSomeMayInvert) {
  RunFixture run;
  Mesh mesh = generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1));
  std::swap(mesh.tetrahedra(0, 2), mesh.tetrahedra(1, 2));  // one inverted
  run.add({"thing", "volume"}, mesh, {-5, 5, 0});
  Frame frame = run.sunk(0, 0);
  const Index inverted = Index(frame.mesh.tetrahedra.cols() - mesh.tetrahedra.cols()) + 2;
  EXPECT_EQ(kinds(WrittenRun({frame}).certify()), "inversion");
  frame.invertible_cells = {inverted};
  const Certificate c = WrittenRun({frame}).certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_EQ(c.invertible, 1);
  Frame other = frame;
  other.invertible_cells = {inverted - 1};
  EXPECT_FALSE(WrittenRun({frame, other}).certify().ok()) << "a material does not change";
  EXPECT_EQ(kinds(WrittenRun({other}).certify()), "inversion");
}

TEST(Certificate, CatchesPointsOnOrBelowAHalfSpace) {
  RunFixture run;
  Frame f = run.sunk(0, 0);
  f.half_spaces[0].origin = Vector3(7, 0.999999, 3);
  EXPECT_TRUE(WrittenRun({f}).certify().ok()) << "obstacles may stand in half-spaces";
  f.half_spaces[0].origin.y() = 1.5;  // the blocks' lower sides exactly
  const Certificate c = WrittenRun({f}).certify();
  EXPECT_EQ(kinds(c), "half_space");
  EXPECT_EQ(c.violations[0].bodies, (std::vector<std::string>{"soft", "ground"}));
  f.ignored_pairs = {{0, 3}, {1, 3}};
  EXPECT_TRUE(WrittenRun({f}).certify().ok());
}

TEST(Certificate, HonoursIgnoredPairsAndObstaclePairs) {
  RunFixture run;
  run.add({"twin", "volume"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(2, 2, 2)),
          {0, 2, 0});                                                        // a duplicate
  run.add({"wall", "obstacle"}, generate::grid(2, 2, 2, 2), {0.1, 1, 0.1});  // overlaps the table
  const Certificate c = WrittenRun({run.sunk(0, 0)}).certify();
  EXPECT_EQ(kinds(c), "intersection");
  for (const Finding& f : c.violations)
    EXPECT_EQ(std::set<std::string>(f.bodies.begin(), f.bodies.end()),
              (std::set<std::string>{"soft", "twin"}));
  run.frame.ignored_pairs = {{0, 4}};
  EXPECT_TRUE(WrittenRun({run.sunk(0, 0)}).certify().ok());
}

TEST(Certificate, CatchesSelfIntersectionUnlessIgnored) {
  RunFixture run;
  Frame f = run.sunk(0, 0);
  // Pull a corner of the block out through the other side of the block.
  f.mesh.points.col(0) += 3 * (Vector3(0, 2, 0) - f.mesh.points.col(0));
  EXPECT_NE(kinds(WrittenRun({f}).certify()).find("intersection"), std::string::npos);
  f.ignored_pairs = {{0, 0}};
  EXPECT_EQ(kinds(WrittenRun({f}).certify()), "inversion");
}

TEST(Certificate, ReportsPositionsThatAreNotFinite) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1].mesh.points(2, 4) = std::numeric_limits<double>::quiet_NaN();
  const Certificate c = WrittenRun(frames).certify();
  EXPECT_FALSE(c.ok());
  EXPECT_EQ(c.violations[0].file, "frames/frame_000001.vtu");
}

TEST(Certificate, ReportsChangedTopologyAndDamagedFrames) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1].mesh.tetrahedra.col(0).swap(frames[1].mesh.tetrahedra.col(1));
  EXPECT_EQ(kinds(WrittenRun(frames).certify()), "topology");
  frames = good_frames(run);
  frames[2].bodies[0].name = "other";
  EXPECT_EQ(kinds(WrittenRun(frames).certify()), "topology");
  frames = good_frames(run);
  frames[2].ignored_pairs = {{0, 2}};
  EXPECT_EQ(kinds(WrittenRun(frames).certify()), "topology");

  const WrittenRun cut(good_frames(run));
  fs::resize_file(cut.frame(1), fs::file_size(cut.frame(1)) / 2);
  const Certificate c = cut.certify();
  EXPECT_EQ(kinds(c), "unreadable");
  EXPECT_EQ(c.frames, 2) << "the others are checked all the same";
}

TEST(Certificate, DemandsTheSameCellsOfFramesOfOneTopology) {
  const RunFixture run;
  auto frames = good_frames(run);
  for (Frame& f : frames) f.topology = 1;
  frames[0].topology = 0;
  // Not even a proper change of the mesh is certified: nothing shows how it was done.
  const Certificate changed = WrittenRun(frames).certify();
  EXPECT_EQ(kinds(changed), "topology");
  EXPECT_EQ(changed.violation_count, 1) << summary(changed);
  EXPECT_EQ(changed.frames, 3);
  for (const int k : {1, 2})
    frames[std::size_t(k)].mesh.tetrahedra.col(0).swap(frames[std::size_t(k)].mesh.tetrahedra.col(1));
  EXPECT_EQ(WrittenRun(frames).certify().violation_count, 1) << "other cells under another number";
  frames[2].mesh.tetrahedra.col(0).swap(frames[2].mesh.tetrahedra.col(1));
  const Certificate mixed = WrittenRun(frames).certify();
  ASSERT_EQ(mixed.violation_count, 2) << summary(mixed);
  EXPECT_NE(mixed.violations[1].text.find("other tetrahedra than the first frame of topology 1"),
            std::string::npos)
      << mixed.violations[1].text;
}

TEST(Certificate, DemandsThatTopologiesBeginWithZeroAndGrowAndKeepTheBodies) {
  const RunFixture run;
  auto frames = good_frames(run);
  for (Frame& f : frames) f.topology = 1;
  EXPECT_EQ(kinds(WrittenRun(frames).certify()), "topology") << "a run begins with 0";
  frames[0].topology = 0;
  frames[2].topology = 0;
  EXPECT_EQ(WrittenRun(frames).certify().violation_count, 2) << "back again";
  frames = good_frames(run);
  frames[2].topology = 1;
  frames[2].ignored_pairs = {{0, 2}};
  const Certificate c = WrittenRun(frames).certify();
  EXPECT_EQ(kinds(c), "topology");
  EXPECT_EQ(c.frames, 2) << "the third is of another scene";
}

TEST(Certificate, FindsIntersectionsInFramesOfEveryTopology) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1].topology = frames[2].topology = 1;
  frames[2] = run.sunk(0.2, 0.6);
  frames[2].topology = 1;
  EXPECT_EQ(kinds(WrittenRun(frames).certify()), "intersection topology");
}

TEST(Certificate, ThrowsIfThereIsNothingToCheck) {
  const TemporaryDirectory empty;
  EXPECT_THROW(certify(empty.path()), InputError);
  EXPECT_THROW(certify(empty / "absent"), InputError);
  const RunFixture run;
  const WrittenRun missing(good_frames(run));
  fs::remove(missing.frame(1));
  EXPECT_THROW(missing.certify(), InputError);
}

TEST(Certificate, ChecksThatGapsKeepTheirThickness) {
  const ThickRun run;
  const Index ball = run.first_point(ThickRun::ball);
  EXPECT_TRUE(run.with_moved(ball, Vector3::Zero()).ok());
  // A ball and a rod keep (0.5 + 0.3)/2, a ball and the ground half of 0.5.
  EXPECT_TRUE(run.with_moved(ball, {0, -0.599, 0}).ok());
  const Certificate near = run.with_moved(ball, {0, -0.601, 0});
  EXPECT_EQ(kinds(near), "gap");
  EXPECT_NE(near.violations[0].text.find("thickness keeps 0.4 m"), std::string::npos)
      << near.violations[0].text;
  EXPECT_TRUE(run.with_moved(ball, {2, -2.749, 0}).ok());
  EXPECT_EQ(kinds(run.with_moved(ball, {2, -2.751, 0})), "gap");
  // Two pieces of one body keep all of it, although their segments are shorter.
  for (const double apart : {0.301, 0.299}) {
    Frame next = run.frame;
    next.time = 1;
    next.mesh.points.block(1, 11, 1, 11).array() -= 1 - apart;
    EXPECT_EQ(WrittenRun({run.frame, next}).certify().ok(), apart > 0.3) << apart;
  }
}

TEST(Certificate, ShortensThicknessAmongNeighboursOfOnePieceOnly) {
  const ThickRun run;
  // Node 2 and segment 3–4 were 0.1 apart, less than 0.35: 0.3 · 0.1/(2 · 0.35) = 0.04286 is left to keep.
  EXPECT_TRUE(run.with_moved(2, {0.057, 0, 0}).ok());
  EXPECT_EQ(kinds(run.with_moved(2, {0.0572, 0, 0})), "gap");
  // Folded back on itself: what was farther apart than 0.35 keeps all of 0.3, the bend between is let pass.
  for (const double apart : {0.301, 0.299}) {
    Frame next = run.frame;
    next.time = 1;
    for (Index i = 5; i <= 10; ++i)
      next.mesh.points.col(i) =
          run.frame.mesh.points.col(10 - i) + Vector3(i == 5 ? 0.05 : 0, (i == 5 ? 0.5 : 1) * apart, 0);
    EXPECT_EQ(kinds(WrittenRun({run.frame, next}).certify()), apart > 0.3 ? "" : "gap") << apart;
  }
}

TEST(Certificate, HonoursTheThicknessOfPairsAndNoticesAChange) {
  ThickRun run;
  run.frame.pair_thickness = {{ThickRun::rods, ThickRun::ball, 0.8}};
  const Index ball = run.first_point(ThickRun::ball);
  EXPECT_TRUE(run.with_moved(ball, {0, -0.19, 0}).ok());
  EXPECT_EQ(kinds(run.with_moved(ball, {0, -0.21, 0})), "gap");
  Frame next = run.frame;
  next.time = 1;
  next.thickness[0] = 0.1;
  EXPECT_EQ(kinds(WrittenRun({run.frame, next}).certify()), "topology");
}

TEST(Certificate, IsWrittenAsJsonAndShownAsText) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1] = run.sunk(0.1, 0.7);
  const WrittenRun written(frames);
  const Certificate c = written.certify();
  write_certificate(written.path(), c);
  std::ifstream in(written.path() / "certificate.json");
  const auto json = nlohmann::json::parse(in);
  EXPECT_EQ(json["certified"], false);
  EXPECT_EQ(json["frames"], 3);
  EXPECT_EQ(json["violation_count"], c.violation_count);
  ASSERT_EQ(json["violations"].size(), c.violations.size());
  const auto& first = json["violations"][0];
  EXPECT_EQ(first["kind"], "intersection");
  EXPECT_EQ(first["file"], "frames/frame_000001.vtu");
  EXPECT_EQ(first["bodies"].size(), 2u);
  EXPECT_EQ(first["elements"].size(), 2u);
  EXPECT_EQ(first["position"].size(), 3u);
  const std::string text = summary(c);
  EXPECT_NE(text.find("NOT CERTIFIED"), std::string::npos);
  EXPECT_NE(text.find("frames/frame_000001.vtu"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(written.path()), {}), 3)
      << "frames, their index and the certificate; no temporary file is left";
}

TEST(Certificate, IsTheSameForAnyNumberOfThreads) {
  const RunFixture run;
  auto frames = good_frames(run);
  frames[1] = run.sunk(0.1, 0.7);
  const WrittenRun written(frames);
  const std::string one = summary(written.certify());
  set_thread_count(2);
  EXPECT_EQ(summary(written.certify()), one);
  set_thread_count(1);
}

}  // namespace
}  // namespace apart::test
