// What a certificate says of recorded iterates: the paths between them are proven, and every break is found.
#include <verify/written_run.hpp>

#include <limits>

namespace apart::test {
namespace {

TEST(CertificateOfIterates, ClaimsPathsOnlyBetweenIteratesOfOneTopology) {
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

}  // namespace
}  // namespace apart::test
