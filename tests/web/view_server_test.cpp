// What the server promises: it answers to this machine and whoever knows the token, shows the given runs and
// nothing else, and lives through whatever is wrong with a run.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <gtest/gtest.h>
#include <httplib.h>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/web/page.hpp>
#include <apart/web/view_server.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

namespace apart::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A ball over a floor, lower in each frame.
Frame ball(int number, int resolution = 3) {
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.5, resolution), {1000, 1 - 0.1 * number, 0});
  b.add_half_space("floor", Vector3::Zero(), Vector3::UnitY());
  b.frame.time = 0.02 * number;
  b.frame.velocity = Matrix3X::Constant(3, b.frame.mesh.point_count(), 0.1 * number);
  b.frame.contact_force = Matrix3X::Zero(3, b.frame.mesh.point_count());
  b.frame.contact_force.col(0) = Vector3(0, 3, 4);
  b.frame.thickness = {0.02, 0};
  b.frame.self_reach = {0.03, 0.01};
  return b.frame;
}

class Server : public ::testing::Test {
 protected:
  Server() {
    if (page_files().empty()) return;
    fs::create_directories(run());
    write_file(run() / "scene.json", R"({"contact": {"dhat": "1e-3 L"}})");
    write_file(directory / "secret.txt", "the secret");
    FrameWriter writer(run());
    for (int i = 0; i < 4; ++i) writer.write(ball(i));
    summary({{"status", "finished"}, {"scene", "a ball"}, {"size", 1.0}});
    start({run()});
  }
  void SetUp() override {
    if (page_files().empty())
      GTEST_SKIP() << "built without the page of apart view: cmake -D APART_VIEWER=ON build";
  }

  fs::path run() const { return directory / "run"; }
  void summary(const json& text) const { write_file(run() / "summary.json", text.dump()); }
  void start(const std::vector<fs::path>& runs) {
    server = std::make_unique<ViewServer>(runs, ViewOptions{.port = 0, .token = "token"});
  }

  httplib::Result get(const std::string& path, const std::string& host = "") const {
    httplib::Client client("127.0.0.1", server->port());
    httplib::Headers headers = {{"Accept-Encoding", "gzip"}};
    if (!host.empty()) headers.emplace("Host", host);
    return client.Get(path, headers);
  }
  int status(const std::string& path, const std::string& host = "") const {
    const auto result = get(path, host);
    return result ? result->status : -1;
  }
  json state(int frame = 0, int step = 0) const {
    const auto result =
        get("/token/0/state.json?frame=" + std::to_string(frame) + "&step=" + std::to_string(step));
    return json::parse(result->body);
  }

  TemporaryDirectory directory;
  std::unique_ptr<ViewServer> server;
};

/// The text in front of a packet; `rest` becomes what is behind.
json header_of(const std::string& packet, std::string& rest) {
  std::uint32_t length;
  std::memcpy(&length, packet.data(), 4);
  EXPECT_EQ(length % 4, 0u);
  rest = packet.substr(4 + length);
  return json::parse(packet.substr(4, length));
}

TEST_F(Server, ServesThePageBelowItsAddress) {
  EXPECT_EQ(server->address(), "http://127.0.0.1:" + std::to_string(server->port()) + "/token/");
  const auto page = get("/token/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->body.find("page.js"), std::string::npos);
  const auto script = get("/token/page.js");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->status, 200);
  for (const PageFile& file : page_files()) {
    if (file.name == "page.js") {
      EXPECT_EQ(script->body, file.content);
    }
  }
  EXPECT_EQ(json::parse(get("/token/runs.json")->body)["runs"][0]["name"], "run");
}

TEST_F(Server, RefusesRequestsWithoutTheToken) {
  for (const char* path : {"/", "/token", "/runs.json", "/tokem/", "/toke/", "/tokens/", "/tokentoken/", "//",
                           "/TOKEN/", "/0/state.json", "/wrong/0/positions?frame=0"})
    EXPECT_EQ(status(path), 403) << path;
  const ViewServer one({run()}), other({run()});
  EXPECT_NE(one.address().substr(one.address().rfind(':') + 6),
            other.address().substr(other.address().rfind(':') + 6));
  EXPECT_GE(one.address().size(), std::string("http://127.0.0.1:1/").size() + 32);
}

TEST_F(Server, RefusesForeignNamesOfThisMachine) {
  const std::string port = std::to_string(server->port());
  EXPECT_EQ(status("/token/", "evil.example"), 403);
  EXPECT_EQ(status("/token/runs.json", "evil.example:" + port), 403);
  EXPECT_EQ(status("/token/runs.json", "localhost:" + port), 200);
}

TEST_F(Server, ListensOnOneAddressOnly) {
  httplib::Client other("127.0.0.2", server->port());  // this machine, too, but not where it listens
  EXPECT_FALSE(other.Get("/token/"));
  EXPECT_THROW(ViewServer({run()}, ViewOptions{.port = server->port(), .token = {}}), InputError);
}

TEST_F(Server, GivesNothingButTheRun) {
  for (const char* path :
       {"/token/../secret.txt", "/token/0/../../secret.txt", "/token/%2e%2e/secret.txt",
        "/token/0/%2e%2e%2fsecret.txt", "/token/0/summary.json", "/token/0/frames/frame_000000.vtu",
        "/token//etc/passwd", "/token/1/state.json", "/token/-1/state.json", "/token/0",
        "/token/99999999999999999999/state.json", "/token/0/field/../state.json"}) {
    const auto result = get(path);
    ASSERT_TRUE(result) << path;
    EXPECT_NE(result->status, 200) << path;
    EXPECT_EQ(result->body.find("the secret"), std::string::npos) << path;
  }
  for (const char* path :
       {"/token/0/positions?frame=-1", "/token/0/positions?frame=4", "/token/0/positions?frame=x",
        "/token/0/positions?frame=1e3", "/token/0/field?frame=0&name=../../secret.txt",
        "/token/0/field?frame=0", "/token/0/pick.json?frame=0&cell=100000&point=0",
        "/token/0/pick.json?frame=0&cell=0&point=99999"})
    EXPECT_EQ(status(path), 422) << path;
}

TEST_F(Server, DoesNotFollowAnIndexOutOfTheRun) {
  write_frame(directory / "outside.vtu", ball(0));
  fs::create_symlink(directory / "outside.vtu", run() / "frames" / "link.vtu");
  const auto index_of = [&](const std::string& file) {
    write_file(run() / "frames.pvd",
               "<VTKFile><Collection><DataSet timestep=\"0\" file=\"" + file + "\"/></Collection></VTKFile>");
    return get("/token/0/positions?frame=0");
  };
  for (const std::string& file : {std::string("../outside.vtu"), std::string("frames/../../outside.vtu"),
                                  std::string("frames/link.vtu"), (directory / "outside.vtu").string()}) {
    const auto result = index_of(file);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 422) << file;
    EXPECT_NE(result->body.find("outside the run"), std::string::npos) << result->body;
  }
  EXPECT_EQ(index_of("frames/frame_000000.vtu")->status, 200);
}

TEST_F(Server, PositionsAreThoseOfTheFrameToSinglePrecision) {
  const Frame frame = ball(2);
  const DrawnSurface surface = drawn_surface(frame);
  std::string arrays;
  const json topology = header_of(get("/token/0/topology?frame=2")->body, arrays);
  EXPECT_EQ(topology["points"], surface.points.size());
  EXPECT_EQ(topology["triangles"], surface.triangles.cols());
  EXPECT_EQ(topology["bodies"][0]["name"], "ball");
  EXPECT_EQ(topology["bodies"][0]["thickness"], 0.02);
  EXPECT_EQ(topology["bodies"][0]["radius"], 0.01);
  EXPECT_FALSE(topology["bodies"][1].contains("thickness"));
  EXPECT_EQ(arrays.size(), 4u * std::size_t(2 * surface.points.size() + 4 * surface.triangles.cols()));
  const json header = header_of(get("/token/0/positions?frame=2")->body, arrays);
  EXPECT_EQ(header["key"], topology["key"]);
  EXPECT_EQ(header["half_spaces"].size(), 1u);
  const std::size_t n = std::size_t(surface.points.size());
  ASSERT_EQ(arrays.size(), 9 * n);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::uint32_t q = 0;
    const auto* plane = reinterpret_cast<const unsigned char*>(arrays.data()) + 3 * n * axis;
    for (std::size_t i = 0; i < n; ++i) {
      q = (q + (plane[i] | plane[n + i] << 8 | plane[2 * n + i] << 16)) & 0xffffff;
      const double x = header["low"][axis].get<double>() + q * header["step"][axis].get<double>();
      EXPECT_NEAR(x, frame.mesh.points(Index(axis), surface.points[Index(i)]), 1e-7);
    }
  }
}

TEST_F(Server, FieldsAndPickedValuesAreThoseOfTheFrame) {
  std::string bytes;
  const json speed = header_of(get("/token/0/field?frame=3&name=speed")->body, bytes);
  EXPECT_NEAR(speed["high"].get<double>(), 0.3 * std::sqrt(3), 1e-12);
  const json forces = header_of(get("/token/0/field?frame=3&name=contact_vectors")->body, bytes);
  EXPECT_EQ(bytes.size(), std::size_t(12 * drawn_surface(ball(3)).points.size()));
  EXPECT_EQ(status("/token/0/field?frame=3&name=stress"), 422);
  const Frame frame = ball(3);
  const int point = frame.mesh.tetrahedra(2, 5);
  const json picked =
      json::parse(get("/token/0/pick.json?frame=3&cell=5&point=" + std::to_string(point))->body);
  EXPECT_EQ(picked["name"], "ball");
  EXPECT_EQ(picked["element"]["kind"], "tetrahedron");
  EXPECT_EQ(picked["position"][1].get<double>(), frame.mesh.points(1, point));
}

TEST_F(Server, ATruncatedOrMissingFrameConcernsNoOther) {
  const fs::path broken = run() / "frames" / "frame_000001.vtu", gone = run() / "frames" / "frame_000002.vtu";
  const std::string whole = read_file(broken);
  for (const std::size_t size : {std::size_t(0), std::size_t(100), whole.size() / 2, whole.size() - 60}) {
    write_file(broken, whole.substr(0, size));
    const auto result = get("/token/0/positions?frame=1");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 422) << size;
    EXPECT_NE(result->body.find("frame_000001.vtu"), std::string::npos) << result->body;
  }
  fs::remove(gone);
  const auto result = get("/token/0/positions?frame=2");
  EXPECT_EQ(result->status, 422);
  EXPECT_NE(result->body.find("missing"), std::string::npos) << result->body;
  EXPECT_EQ(state()["frames"]["count"], 4);
  EXPECT_EQ(status("/token/0/positions?frame=0"), 200);
  EXPECT_EQ(status("/token/0/positions?frame=3"), 200);
  write_file(broken, whole);
  EXPECT_EQ(status("/token/0/positions?frame=1"), 200);
}

TEST_F(Server, FramesOfARemeshedRunHaveTheirOwnCells) {
  for (int i = 2; i < 4; ++i) {
    Frame finer = ball(i, 4);
    finer.topology = 1;
    write_frame(run() / "frames" / fmt::format("frame_{:06}.vtu", i), finer);
  }
  std::set<json> keys;
  for (int i = 0; i < 4; ++i) {
    const Frame frame = ball(i, i < 2 ? 3 : 4);
    const DrawnSurface surface = drawn_surface(frame);
    std::string arrays;
    const json topology = header_of(get(fmt::format("/token/0/topology?frame={}", i))->body, arrays);
    EXPECT_EQ(topology["points"], surface.points.size()) << i;
    EXPECT_EQ(topology["triangles"], surface.triangles.cols()) << i;
    const json positions = header_of(get(fmt::format("/token/0/positions?frame={}", i))->body, arrays);
    EXPECT_EQ(positions["key"], topology["key"]) << i;
    EXPECT_EQ(arrays.size(), 9 * std::size_t(surface.points.size())) << i;
    keys.insert(topology["key"]);
  }
  EXPECT_EQ(keys.size(), 2u);
}

TEST_F(Server, AFrameWrittenAgainIsSentAgain) {
  const std::string before = get("/token/0/positions?frame=1")->body;
  EXPECT_EQ(get("/token/0/positions?frame=1")->body, before);
  Frame other = ball(1);
  other.mesh.points.row(1).array() += 3;
  write_frame(run() / "frames" / "frame_000001.vtu", other);
  EXPECT_NE(get("/token/0/positions?frame=1")->body, before);
}

TEST_F(Server, FollowsARunThatIsWritten) {
  summary({{"status", "running"}, {"scene", "a ball"}});
  write_file(run() / "steps.csv", "step,time,contacts\n1,0.02,5\n2,0.0");
  write_file(run() / "log.txt",
             "apart: run\nstep 1 t 0.02 s: 3 iterations, 5 contacts, gap 0.001 m, 0.25 s\n");
  json s = state();
  EXPECT_EQ(s["status"], "running");
  EXPECT_EQ(s["frames"]["times"].size(), 4u);
  EXPECT_EQ(s["steps"]["count"], 1) << "a line without end is not whole";
  EXPECT_EQ(s["steps"]["columns"]["seconds"][0], 0.25);
  std::ofstream(run() / "steps.csv", std::ios::app) << "4,7\n3,0.06,nan\n";
  FrameWriter(run(), {}, 4).write(ball(4));
  s = state(4, 1);
  EXPECT_EQ(s["frames"]["count"], 5);
  EXPECT_EQ(s["frames"]["times"], json({ball(4).time}));
  EXPECT_EQ(s["steps"]["columns"]["time"], json({0.04, 0.06})) << s["steps"];
  EXPECT_TRUE(s["steps"]["columns"]["contacts"][1].is_null());
  EXPECT_EQ(status("/token/0/positions?frame=4"), 200);
  // Started anew.
  const std::string generation = s["generation"];
  write_file(run() / "steps.csv", "step,time,contacts\n1,0.01,1\n");
  write_frame(run() / "frames" / "frame_000000.vtu", ball(0));
  s = state();
  EXPECT_EQ(s["steps"]["columns"]["time"], json({0.01}));
  EXPECT_NE(s["generation"], generation);
}

TEST_F(Server, SendsWhatProbesMeasuredAsItComes) {
  EXPECT_EQ(state()["probes"]["count"], 0) << "a scene without probes";
  write_file(run() / "probes.csv", "step,time,pull.x,pull.y,height.y\n1,0.02,5,6,7\n");
  json probes = state()["probes"];
  EXPECT_EQ(probes["order"], json({"step", "time", "pull.x", "pull.y", "height.y"}));
  EXPECT_EQ(probes["columns"]["height.y"], json({7}));
  std::ofstream(run() / "probes.csv", std::ios::app) << "2,0.04,8,nan,9\n";
  const auto later = [&] {
    return json::parse(get("/token/0/state.json?frame=0&step=0&probe=1")->body)["probes"];
  };
  probes = later();
  EXPECT_EQ(probes["count"], 2);
  EXPECT_EQ(probes["columns"]["pull.x"], json({8}));
  EXPECT_EQ(probes["columns"]["pull.y"], json::array({nullptr}));
}

TEST_F(Server, DisplacementsAreThoseFromTheFirstFrame) {
  // The ball is 0.1 m lower in each frame.
  std::string bytes;
  const json position = header_of(get("/token/0/positions?frame=3")->body, bytes);
  const bool offered =
      std::ranges::any_of(position["fields"], [](const json& f) { return f["name"] == "displacement"; });
  EXPECT_TRUE(offered);
  const json field = header_of(get("/token/0/field?frame=3&name=displacement")->body, bytes);
  EXPECT_NEAR(field["high"].get<double>(), 0.3, 1e-12);
  float first;
  std::memcpy(&first, bytes.data(), sizeof first);
  EXPECT_NEAR(first, 0.3, 1e-6);
  // Not where the first frame has other points.
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.5, 2), {1000, 1, 0});
  write_frame(run() / "frames" / "frame_000000.vtu", b.frame);
  EXPECT_EQ(status("/token/0/field?frame=2&name=displacement"), 422);
}

TEST_F(Server, ARunStartedAnewLeavesNoStepsBehind) {
  write_file(run() / "steps.csv", "step,time,contacts\n1,0.02,5\n2,0.04,6\n");
  write_file(run() / "log.txt", "step 1 t 0.02 s: 3 iterations, 5 contacts, gap 0.001 m, 0.25 s\n");
  json s = state();
  EXPECT_EQ(s["steps"]["columns"]["contacts"], json({5, 6}));
  std::string generation = s["generation"];
  // By the time somebody asks, the new run has come farther than the old one.
  write_file(run() / "steps.csv", "step,time,contacts\n1,0.01,7\n2,0.02,8\n3,0.03,9\n");
  write_file(run() / "log.txt", "step 1 t 0.01 s: 3 iterations, 7 contacts, gap 0.001 m, 0.5 s\nand so on\n");
  write_frame(run() / "frames" / "frame_000000.vtu", ball(1));
  s = state(4, 2);
  EXPECT_NE(s["generation"], generation);
  s = state();
  EXPECT_EQ(s["steps"]["columns"]["contacts"], json({7, 8, 9}));
  EXPECT_EQ(s["steps"]["columns"]["seconds"], json({0.5, nullptr, nullptr}));
  // And without a frame of its own yet, which alone would show it.
  generation = s["generation"];
  write_file(run() / "steps.csv", "step,time,contacts\n1,0.01,1\n2,0.02,2\n3,0.03,3\n4,0.04,4\n");
  s = state(4, 3);
  EXPECT_NE(s["generation"], generation);
  generation = s["generation"];
  s = state();
  EXPECT_EQ(s["steps"]["columns"]["contacts"], json({1, 2, 3, 4}));
  // Going on is no new start.
  std::ofstream(run() / "steps.csv", std::ios::app) << "5,0.05,5\n";
  s = state(4, 4);
  EXPECT_EQ(s["generation"], generation);
  EXPECT_EQ(s["steps"]["columns"]["contacts"], json({5}));
}

TEST_F(Server, ReportsThatFramesWereReplaced) {
  const json first = state();
  const std::string stamp = first["frames"]["stamp"];
  EXPECT_EQ(state(4)["frames"]["before"], stamp) << "nothing happened";
  FrameWriter(run(), {}, 4).write(ball(4));
  json s = state(4);
  EXPECT_EQ(s["frames"]["before"], stamp) << "one more, and the old ones are as they were";
  EXPECT_NE(s["frames"]["stamp"], stamp);
  // Continued from an earlier step: the last two frames are others, as many as before.
  const std::string longer = s["frames"]["stamp"], generation = s["generation"];
  FrameWriter continued(run(), {}, 3);
  for (const int number : {5, 6}) continued.write(ball(number));
  s = state(5);
  EXPECT_EQ(s["generation"], generation);
  EXPECT_EQ(s["frames"]["count"], 5);
  EXPECT_NE(s["frames"]["before"], longer);
  // The same time and another frame.
  const std::string before = s["frames"]["stamp"];
  Frame other = ball(1);
  other.mesh.points.row(1).array() += 3;
  write_frame(run() / "frames" / "frame_000001.vtu", other);
  EXPECT_NE(state(5)["frames"]["before"], before);
}

TEST_F(Server, ReadsNothingThroughLinksOutOfTheRun) {
  fs::remove(run() / "summary.json");
  write_file(directory / "outside.json",
             R"({"status": "refuted", "reason": "the secret", "scene": "the secret"})");
  write_file(directory / "outside.csv", "step,time,contacts\n1,0.02,123454321\n");
  for (const auto& [link, target] :
       {std::pair("summary.json", "outside.json"), std::pair("steps.csv", "outside.csv"),
        std::pair("probes.csv", "outside.csv"), std::pair("log.txt", "outside.csv")})
    fs::create_symlink(directory / target, run() / link);
  const auto result = get("/token/0/state.json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200) << "what is wrong with one file concerns no other";
  EXPECT_EQ(result->body.find("the secret"), std::string::npos) << result->body;
  EXPECT_EQ(result->body.find("123454321"), std::string::npos) << result->body;
  const json s = json::parse(result->body);
  EXPECT_EQ(s["status"], "unknown");
  EXPECT_EQ(s["frames"]["count"], 4);
  EXPECT_EQ(s["steps"]["count"], 0);
  for (const char* name : {"summary.json", "steps.csv", "probes.csv", "log.txt"})
    EXPECT_NE(s["problem"].get<std::string>().find(name), std::string::npos) << s["problem"];
  // A scene outside does not say how far gaps are shown.
  const auto reach = [&] {
    std::string bytes;
    return header_of(get("/token/0/field?frame=3&name=gap")->body, bytes)["high"];
  };
  fs::remove(run() / "scene.json");
  const json without = reach();
  write_file(directory / "outside.json", R"({"contact": {"dhat": 100}})");
  fs::create_symlink(directory / "outside.json", run() / "scene.json");
  start({run()});  // packets made before are kept
  EXPECT_EQ(reach(), without);
  fs::remove(run() / "scene.json");
  fs::copy(directory / "outside.json", run() / "scene.json");
  start({run()});
  EXPECT_NE(reach(), without);
}

TEST_F(Server, SaysThatARunIsGone) {
  fs::rename(run(), directory / "elsewhere");
  json s = state();
  EXPECT_EQ(s["status"], "gone");
  EXPECT_NE(s["problem"].get<std::string>().find("gone"), std::string::npos) << s;
  EXPECT_EQ(s["frames"]["count"], 0);
  EXPECT_EQ(status("/token/0/positions?frame=0"), 422);
  fs::rename(directory / "elsewhere", run());
  s = state();
  EXPECT_EQ(s["status"], "finished");
  EXPECT_FALSE(s.contains("problem"));
  EXPECT_EQ(s["frames"]["count"], 4);
}

TEST_F(Server, HalfSpacesAreWhereTheirPointsCarryThem) {
  FrameBuilder b;
  b.add({"ball", "volume"}, generate::sphere(0.5, 3));
  const int press = b.add_half_space("press", Vector3(0, 2, 0), -Vector3::UnitY());
  b.carry(press);
  b.frame.half_spaces[0].origin = Vector3(0, 3, 0);  // where it started
  write_frame(run() / "frames" / "frame_000001.vtu", b.frame);
  std::string rest;
  const json header = header_of(get("/token/0/positions?frame=1")->body, rest);
  EXPECT_EQ(header["half_spaces"][0]["origin"], json({0.0, 2.0, 0.0}));
}

TEST_F(Server, ThicknessIsWhatContactKeepsWhateverTheMaterialSays) {
  Frame frame = ball(2);
  frame.drawn_thickness = {0.3, 0};
  write_frame(run() / "frames" / "frame_000002.vtu", frame);
  std::string rest;
  const json topology = header_of(get("/token/0/topology?frame=2")->body, rest);
  EXPECT_EQ(topology["bodies"][0]["thickness"], 0.02);
  EXPECT_EQ(topology["bodies"][0]["radius"], 0.01);
  EXPECT_FALSE(topology["bodies"][1].contains("thickness"));
}

/// A connection made by hand.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~RawConnection() { ::close(socket_); }
  RawConnection(const RawConnection&) = delete;
  bool send(const std::string& text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size());
  }
  /// Everything until the other side closes; nothing if it does not.
  std::optional<std::string> all(int milliseconds = 60000) const {
    std::string text;
    for (char bytes[4096];;) {
      pollfd polled{socket_, POLLIN, 0};
      if (::poll(&polled, 1, milliseconds) != 1) return std::nullopt;
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return text;
      text.append(bytes, std::size_t(count));
    }
  }

 private:
  int socket_;
};

TEST_F(Server, SlowAndSilentConnectionsKeepNobodyWaiting) {
  std::vector<std::unique_ptr<RawConnection>> slow, idle;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server->port()));
    EXPECT_TRUE(slow.back()->send("GET /wrong/ HTTP/1.1\r\n"));
  }
  for (int i = 0; i < 60; ++i) idle.push_back(std::make_unique<RawConnection>(server->port()));
  std::atomic<bool> ended = false;
  std::thread sender([&] {
    while (!ended) {
      for (const auto& connection : slow) connection->send("X-Header: x\r\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  for (int i = 0; i < 5; ++i) {
    httplib::Client client("127.0.0.1", server->port());
    client.set_read_timeout(2);
    const auto result = client.Get("/token/runs.json");
    EXPECT_TRUE(result && result->status == 200) << i;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  // Who does not come to an end is given up, even while sending.
  std::optional<std::string> last = "";
  for (std::size_t i = 0; i < slow.size() && last == ""; ++i) last = slow[i]->all();
  EXPECT_EQ(last, "");
  ended = true;
  sender.join();
}

TEST_F(Server, ManyConnectionsWithoutTheTokenDoNotPushOutOneWithIt) {
  httplib::Client kept("127.0.0.1", server->port());
  kept.set_keep_alive(true);
  ASSERT_TRUE(kept.Get("/token/runs.json"));
  std::vector<std::unique_ptr<RawConnection>> idle;
  for (int i = 0; i < 400; ++i) idle.push_back(std::make_unique<RawConnection>(server->port()));
  EXPECT_EQ(idle.front()->all(), "") << "the oldest had to go";
  const auto result = kept.Get("/token/runs.json");
  EXPECT_TRUE(result && result->status == 200);
  EXPECT_EQ(status("/token/runs.json"), 200);
}

TEST_F(Server, AnswersSeveralRequestsOnOneConnectionAndClosesForeignOnes) {
  const std::string host = "Host: 127.0.0.1:" + std::to_string(server->port()) + "\r\n";
  const auto count = [](const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  const std::string known = "GET /token/runs.json HTTP/1.1\r\n" + host,
                    foreign = "GET /wrong/ HTTP/1.1\r\n" + host;
  {
    const RawConnection connection(server->port());  // in one piece
    EXPECT_TRUE(connection.send(known + "\r\n" + known + "\r\n" + known + "Connection: close\r\n\r\n"));
    const auto answer = connection.all();
    ASSERT_TRUE(answer);
    EXPECT_EQ(count(*answer, "HTTP/1.1 200 OK"), 3) << *answer;
  }
  {
    const RawConnection connection(server->port());
    EXPECT_TRUE(connection.send(foreign + "\r\n" + known + "\r\n"));
    const auto answer = connection.all();
    ASSERT_TRUE(answer);
    EXPECT_EQ(count(*answer, "HTTP/1.1 403"), 1) << *answer;
    EXPECT_EQ(count(*answer, "HTTP/1.1 200"), 0) << *answer;
  }
  for (const std::string& bad :
       {std::string("\r\n\r\n"), std::string("nonsense\r\n\r\n"), std::string(100000, 'x'),
        "POST /token/runs.json HTTP/1.1\r\n" + host + "Content-Length: 100000\r\n\r\nnothing more"}) {
    const RawConnection connection(server->port());
    connection.send(bad);
    const auto answer = connection.all();
    ASSERT_TRUE(answer) << bad.substr(0, 40);
    EXPECT_EQ(count(*answer, "HTTP/1.1 200"), 0) << *answer;
  }
  EXPECT_EQ(status("/token/runs.json"), 200);
}

TEST_F(Server, SaysWhyARunFailed) {
  summary({{"status", "failed"}, {"reason", "step 7: no convergence after 200 iterations"}});
  EXPECT_EQ(state()["status"], "failed");
  EXPECT_EQ(state()["reason"], "step 7: no convergence after 200 iterations");
  for (const char* text : {"", "{", "[1]", "{\"status\": 7}"}) {
    write_file(run() / "summary.json", text);
    EXPECT_EQ(state()["status"], "unknown") << text;
  }
}

TEST_F(Server, LivesWithADamagedIndexAndNoFrames) {
  write_file(run() / "frames.pvd", "<VTKFile><Coll");
  json s = state();
  EXPECT_EQ(s["frames"]["count"], 0);
  EXPECT_NE(s["problem"].get<std::string>().find("frames.pvd"), std::string::npos);
  fs::remove(run() / "frames.pvd");
  s = state();
  EXPECT_EQ(s["frames"]["count"], 0);
  EXPECT_FALSE(s.contains("problem"));
  EXPECT_EQ(status("/token/0/positions?frame=0"), 422);
}

TEST_F(Server, RefusesWhatIsNoRun) {
  EXPECT_THROW(ViewServer({directory / "nowhere"}), InputError);
  EXPECT_THROW(ViewServer({directory.path()}), InputError);
  EXPECT_THROW(ViewServer({directory / "secret.txt"}), InputError);
}

}  // namespace
}  // namespace apart::test
