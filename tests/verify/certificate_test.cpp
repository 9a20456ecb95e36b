#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/certificate.hpp>
#include <verify/run_fixture.hpp>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace apart::test {
namespace {

using namespace verify;

namespace fs = std::filesystem;

/// Writes frames, and the iterates of the steps between them if asked, to a new run directory.
class WrittenRun {
 public:
  explicit WrittenRun(const std::vector<Frame>& frames) {
    FrameWriter writer(directory_.path());
    for (const Frame& frame : frames) writer.write(frame);
  }
  void iterates(Index step, std::vector<Matrix3X> points) {
    write_iterates(directory_.path(), {step, std::move(points)});
  }
  Certificate certify() const { return apart::certify(directory_.path()); }
  fs::path path() const { return directory_.path(); }
  fs::path frame(int i) const { return path() / "frames" / fmt::format("frame_{:06}.vtu", i); }

 private:
  TemporaryDirectory directory_;
};

std::vector<Frame> good_frames(const RunFixture& run) {
  return {run.sunk(0, 0), run.sunk(0.1, 0.2), run.sunk(0.2, 0.4)};
}

std::string kinds(const Certificate& c) {
  std::set<std::string_view> names;
  for (const Finding& f : c.violations) names.insert(finding_names[std::size_t(f.kind)]);
  return fmt::format("{}", fmt::join(names, " "));
}

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

// ---- Iterates
// --------------------------------------------------------------------------------------------------

struct RecordedRun {
  RunFixture fixture;
  std::vector<Frame> frames = good_frames(fixture);
  /// States of each step, the one before it first; two iterates each.
  std::vector<std::vector<Matrix3X>> steps;
  RecordedRun() {
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
      const Matrix3X &from = frames[i].mesh.points, &to = frames[i + 1].mesh.points;
      steps.push_back({from, 0.5 * (from + to), to});
    }
  }
  Certificate certify(Index first_step = 1) const {
    WrittenRun written(frames);
    for (std::size_t i = 0; i < steps.size(); ++i) written.iterates(first_step + Index(i), steps[i]);
    return written.certify();
  }
};

TEST(Certificate, ClaimsPathsOnlyBetweenIteratesOfOneTopology) {
  RecordedRun run;
  const auto certified = [&](std::vector<Index> first, std::vector<Index> second) {
    WrittenRun written(run.frames);
    write_iterates(written.path(), {1, run.steps[0], {}, std::move(first)});
    write_iterates(written.path(), {2, run.steps[1], {}, std::move(second)});
    return written.certify();
  };
  const Certificate whole = certified({}, {});
  EXPECT_TRUE(whole.ok()) << summary(whole);
  EXPECT_EQ(whole.paths, 4);
  // Within a step: the frame after it is of the new number.
  run.frames[1].topology = run.frames[2].topology = 1;
  const Certificate within = certified({0, 0, 1}, {1, 1, 1});
  EXPECT_EQ(kinds(within), "topology");
  EXPECT_EQ(within.violation_count, 1) << summary(within);  // the iterate, which has moved
  EXPECT_EQ(within.paths, 3);
  // Between two steps.
  run.frames[1].topology = 0;
  const Certificate between = certified({0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(kinds(between), "topology");
  EXPECT_EQ(between.paths, 4);
  // Iterates that claim to be of the old number, and frames that do not.
  EXPECT_EQ(kinds(certified({}, {})), "history");
  // Nobody knows the cells of number 5.
  const Certificate unknown = certified({}, {0, 5, 1});
  EXPECT_EQ(kinds(unknown), "history topology");
  EXPECT_EQ(unknown.paths, 2);
}

/// Two chains of one body, of segments of a tenth, a ball and a half-space, with thickness.
struct ThickRun : FrameBuilder {
  static constexpr int rods = 0, ball = 1, ground = 2;
  ThickRun() {
    Mesh mesh;
    const Mesh line = generate::segments(1, 10);
    mesh.points.resize(3, 22);
    mesh.points << line.points, line.points.colwise() + Vector3(0, 1, 0);
    mesh.edges.resize(2, 20);
    mesh.edges << line.edges, line.edges.array() + 11;
    add({"rods", "rod"}, mesh, {0, 1, 0});
    add({"ball", "particles"}, generate::points({1, 1, 1}, 1), {0, 3, 0});
    add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
    frame.thickness = {0.3, 0.5, 0};
    frame.self_reach = {0.35, 0.55, 0.05};
  }
  /// The first frame, and one with point i moved.
  Certificate with_moved(Index i, const Vector3& by) const {
    Frame next = frame;
    next.time = 1;
    next.mesh.points.col(i) += by;
    return WrittenRun({frame, next}).certify();
  }
};

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

TEST(CertificateOfIterates, CatchesAnIterateThatIsTooThin) {
  const ThickRun run;
  Frame next = run.frame;
  next.time = 1;
  Matrix3X between = run.frame.mesh.points;
  between(1, run.first_point(ThickRun::ball)) -= 0.61;
  WrittenRun written({run.frame, next});
  written.iterates(1, {run.frame.mesh.points, between, run.frame.mesh.points});
  EXPECT_EQ(kinds(written.certify()), "path_gap");
}

TEST(CertificateOfIterates, CertifiesAGoodHistory) {
  RecordedRun run;
  Certificate c = run.certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  EXPECT_EQ(c.steps, 2);
  EXPECT_EQ(c.paths, 4);
  EXPECT_GT(c.path_pairs, 0);
  EXPECT_EQ(c.coverage(), Certificate::Coverage::all_paths);
  EXPECT_NE(summary(c).find("CERTIFIED (all 3 frames and the paths of all 2 steps)"), std::string::npos)
      << summary(c);
  // Not every step needs a frame.
  run.frames.erase(run.frames.begin() + 1);
  EXPECT_TRUE(run.certify().ok());
  // Recording may begin with a later step.
  run.frames.insert(run.frames.begin(), run.fixture.sunk(-0.1, 0.05));
  c = run.certify(2);
  EXPECT_TRUE(c.ok());
  EXPECT_EQ(c.coverage(), Certificate::Coverage::some_paths);
  EXPECT_NE(summary(c).find("the paths of 2 of 3 steps; others are not proven"), std::string::npos)
      << summary(c);
  EXPECT_EQ(kinds(run.certify(1)), "history") << "but not with the first one";
}

TEST(CertificateOfIterates, CatchesFramesAndStepsWithOtherBodies) {
  const RunFixture run;
  Frame start = run.sunk(0, 0), end = run.sunk(0.1, 0.2);
  for (const std::vector<int>& absent : {std::vector<int>{}, {RunFixture::soft}, {RunFixture::table}}) {
    WrittenRun written({start, end});
    write_iterates(written.path(), {1, {start.mesh.points, end.mesh.points}, absent});
    EXPECT_EQ(kinds(written.certify()), absent.empty() ? "" : "history");
  }
  // Nothing moves, and a body goes: each frame is the state of its own step.
  Frame later = start;
  later.time = 1;
  later.absent = {RunFixture::stiff};
  WrittenRun still({start, later});
  const auto& x = start.mesh.points;
  write_iterates(still.path(), {1, {x}, {}});
  write_iterates(still.path(), {2, {x}, {RunFixture::stiff}});
  EXPECT_TRUE(still.certify().ok()) << summary(still.certify());
}

TEST(CertificateOfIterates, CatchesTunnelling) {
  // The block is above the table in one iterate and, flattened, between table and ground in the next one:
  // both states are fine.
  RecordedRun run;
  run.frames.pop_back();
  Matrix3X below = run.frames[0].mesh.points;
  auto height = below.block(1, 0, 1, run.fixture.first_point(RunFixture::stiff)).array();
  height = 0.5 + 0.8 * (height - 2.0);
  run.frames[1].mesh.points = below;
  run.steps = {{run.frames[0].mesh.points, below}};
  const Certificate frames_only = WrittenRun(run.frames).certify();
  EXPECT_TRUE(frames_only.ok()) << summary(frames_only);
  const Certificate c = run.certify();
  EXPECT_EQ(kinds(c), "path_contact") << summary(c);
  EXPECT_EQ(c.violations[0].file, "iterates/step_000001.bin");
  EXPECT_NE(c.violations[0].text.find("iterate 1"), std::string::npos);
}

TEST(CertificateOfIterates, PassesBodiesThatTurnAroundEachOtherInSmallSteps) {
  // Two blocks swap places around each other. Straight from start to end they collide; along the recorded
  // iterates they do not.
  RunFixture fixture;
  fixture.add({"left", "volume"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1)), {-1, 5, 0});
  fixture.add({"right", "volume"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1)), {1, 5, 0});
  const Frame start = fixture.sunk(0, 0);
  Frame end = fixture.sunk(0.1, 0);
  const Index left = fixture.first_point(4), right = fixture.first_point(5);
  const Index n = right - left;
  std::vector<Matrix3X> states;
  constexpr int steps = 16;
  for (int k = 0; k <= steps; ++k) {
    Matrix3X x = start.mesh.points;
    const double angle = M_PI * k / steps;
    const Vector3 around(1 - std::cos(angle), 0, std::sin(angle));
    x.middleCols(left, n).colwise() += around;
    x.middleCols(right, n).colwise() -= around;
    states.push_back(x);
  }
  end.mesh.points = states.back();
  WrittenRun around({start, end});
  around.iterates(1, states);
  const Certificate c = around.certify();
  EXPECT_TRUE(c.ok()) << summary(c);
  WrittenRun straight({start, end});
  straight.iterates(1, {states.front(), states.back()});
  EXPECT_EQ(kinds(straight.certify()), "path_contact");
}

TEST(CertificateOfIterates, CatchesAnInversionOnTheWay) {
  RecordedRun run;
  // Turn the stiff block by half a turn in one step: its straight path squeezes it to nothing in the middle.
  const Index first = run.fixture.first_point(RunFixture::stiff),
              n = run.fixture.first_point(RunFixture::table) - first;
  Matrix3X turned = run.frames[1].mesh.points;
  for (Index i = first; i < first + n; ++i) {
    turned(0, i) = 6 - turned(0, i);
    turned(2, i) = -turned(2, i);
  }
  run.frames = {run.frames[0], run.frames[1]};
  run.frames[1].mesh.points = turned;
  run.steps = {{run.frames[0].mesh.points, turned}};
  const Certificate c = run.certify();
  EXPECT_NE(kinds(c).find("path_inversion"), std::string::npos) << summary(c);
}

TEST(CertificateOfIterates, CatchesABrokenHistory) {
  RecordedRun run;
  run.steps[1][0](0, 3) += 1e-15;
  EXPECT_EQ(kinds(run.certify()), "history") << "a step that begins elsewhere";

  run = RecordedRun();
  run.steps[1][2](1, 3) -= 1e-9;
  EXPECT_EQ(kinds(run.certify()), "history") << "a frame that is no state";

  run = RecordedRun();
  run.steps[1][1].row(0).setConstant(std::numeric_limits<double>::infinity());
  EXPECT_EQ(kinds(run.certify()), "not_finite");

  run = RecordedRun();
  run.steps[0].clear();
  EXPECT_NE(kinds(run.certify()).find("history"), std::string::npos) << "a step without states";

  run = RecordedRun();
  for (auto& step : run.steps)
    for (auto& x : step) x.conservativeResize(3, x.cols() - 1);
  EXPECT_EQ(kinds(run.certify()), "history") << "other points";

  run = RecordedRun();
  WrittenRun hole(run.frames);
  hole.iterates(1, run.steps[0]);
  hole.iterates(3, run.steps[1]);
  EXPECT_EQ(kinds(hole.certify()), "history") << "a missing step";

  WrittenRun cut(run.frames);
  cut.iterates(1, run.steps[0]);
  cut.iterates(2, run.steps[1]);
  fs::resize_file(cut.path() / "iterates/step_000001.bin", 100);
  EXPECT_NE(kinds(cut.certify()).find("unreadable"), std::string::npos);
}

TEST(CertificateOfIterates, CatchesAnIterateBelowAHalfSpace) {
  RecordedRun run;
  const Index first = run.fixture.first_point(RunFixture::stiff),
              n = run.fixture.first_point(RunFixture::table) - first;
  run.steps[0][1].block(1, first, 1, n).array() -= 1.6;  // down and up again within a step
  EXPECT_EQ(kinds(run.certify()), "half_space");
}

TEST(CertificateOfIterates, FollowsAHalfSpaceThatIsCarried) {
  // The plane starts far below; its carrier, a point of its own, brings it up through the stiff block.
  RunFixture fixture;
  fixture.carry(RunFixture::ground);
  const Index carrier = fixture.frame.half_spaces[0].carrier;
  for (const double height : {1.4, 1.6}) {  // the block's lower side is at 1.5
    Frame end = fixture.frame;
    end.time = 1;
    end.mesh.points(1, carrier) = height;
    WrittenRun run({fixture.frame, end});
    EXPECT_EQ(kinds(run.certify()), height < 1.5 ? "" : "half_space");
  }
}

// ---- Output
// ----------------------------------------------------------------------------------------------------

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
