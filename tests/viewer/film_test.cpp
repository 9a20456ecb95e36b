#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/film.hpp>
#include <support/frame_builder.hpp>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <cstdlib>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

std::vector<double> every(double step, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(0.1 + step * i);
  return times;
}

TEST(FilmFrames, ShowEachMomentTheFrameBeforeIt) {
  // 25 frames a second, filmed at 50: each twice, the last once.
  const auto twice = film_frames(every(0.04, 4), 50, 1);
  EXPECT_EQ(twice, (std::vector<Index>{0, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(film_frames(every(0.04, 4), 25, 1), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(film_frames(every(0.04, 5), 25, 2), (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(film_frames({0.5}, 30, 1), (std::vector<Index>{0}));
  EXPECT_EQ(film_frames({0, 0.1, 1}, 10, 1), (std::vector<Index>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
  EXPECT_THROW(film_frames({0, 1e9}, 30, 1), InputError);
}

TEST(FilmFrames, NaturalSpeedIsRealTimeUnlessTheRunIsShort) {
  EXPECT_EQ(natural_speed(every(0.02, 300), 30), 1);
  EXPECT_NEAR(natural_speed(every(0.001, 1001), 30), 1.0 / 3, 1e-12);  // one second, stretched to three
  const auto times = every(0.001, 11);
  EXPECT_EQ(film_frames(times, 30, natural_speed(times, 30)).size(), 11u);  // each frame once
  EXPECT_EQ(natural_speed({0.3}, 30), 1);
}

class Film : public ::testing::Test {
 protected:
  Film() {
    FrameWriter writer(directory / "run");
    for (int i = 0; i < 6; ++i) {
      FrameBuilder b;
      b.add({"ball", "volume"}, generate::sphere(0.5, 3), {0.2 * i, 0.6, 0});
      b.add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
      b.frame.time = 0.1 * i;
      b.frame.velocity = Matrix3X::Constant(3, b.frame.mesh.point_count(), i);
      writer.write(b.frame);
    }
    options.picture = {.width = 65, .height = 48, .samples = 1, .camera = {}};
    options.rate = 10;
    options.speed = 1;
  }
  std::string probed(const fs::path& film) const {
    return run_program("/usr/bin/ffprobe",
                       {"-v", "error", "-count_frames", "-show_entries",
                        "stream=codec_name,width,height,nb_read_frames,r_frame_rate", "-of", "csv=p=0",
                        film.string()},
                       directory.path())
        .out;
  }
  TemporaryDirectory directory;
  FilmOptions options;
};

TEST_F(Film, HasAllPicturesAndAppearsWhole) {
  Index last = 0;
  options.on_picture = [&](Index done, Index all) {
    EXPECT_EQ(all, 6);
    EXPECT_GT(done, last);
    EXPECT_FALSE(fs::exists(directory / "film.mp4"));
    last = done;
    return true;
  };
  set_thread_count(2);
  EXPECT_TRUE(write_film(directory / "run", options, directory / "film.mp4"));
  set_thread_count(1);
  EXPECT_EQ(last, 6);
  EXPECT_EQ(probed(directory / "film.mp4"), "h264,66,48,10/1,6\n");  // even sizes
  EXPECT_EQ(content_of(directory.path()).size() - content_of(directory / "run").size(), 2u);
}

TEST_F(Film, LeavesNothingWhenItIsStoppedOrFails) {
  options.on_picture = [](Index, Index) { return false; };
  EXPECT_FALSE(write_film(directory / "run", options, directory / "film.mp4"));
  // Another thread gives up for us: what ffmpeg wrote is gone at once, and it writes no more.
  FilmRescue rescue;
  options.rescue = &rescue;
  options.on_picture = [&](Index, Index) {
    rescue.discard();
    for (const std::string& name : content_of(directory.path()))
      EXPECT_EQ(name.find("film"), std::string::npos) << name;
    return true;
  };
  EXPECT_THROW(write_film(directory / "run", options, directory / "film.mp4"), InputError);
  options.rescue = nullptr;
  options.on_picture = nullptr;
  fs::resize_file(list_frames(directory / "run")[3], 200);
  EXPECT_THROW(write_film(directory / "run", options, directory / "film.mp4"), InputError);
  EXPECT_THROW(write_film(directory / "nowhere", options, directory / "film.mp4"), InputError);
  for (const std::string& name : content_of(directory.path()))
    EXPECT_EQ(name.find("film"), std::string::npos) << name;
}

TEST_F(Film, SaysWhatIsWrongWithTheOutputAndWithoutFfmpeg) {
  EXPECT_THROW(write_film(directory / "run", options, directory / "no" / "film.mp4"), InputError);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", directory.path().c_str(), 1);
  try {
    write_film(directory / "run", options, directory / "film.mp4");
    ADD_FAILURE() << "found an ffmpeg";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("install it"), std::string::npos) << e.what();
  }
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Film, ColoursFollowTheQuantity) {
  std::vector<Frame> frames;
  for (const fs::path& file : list_frames(directory / "run")) frames.push_back(read_frame(file));
  RenderOptions picture = {.width = 64, .height = 48, .samples = 4, .camera = {}};
  picture.camera = automatic_camera(frames, 64.0 / 48);
  picture.colouring = spanning("speed", 1, frames);
  EXPECT_EQ(picture.colouring->low, 0);
  EXPECT_NEAR(picture.colouring->high, 5 * std::sqrt(3), 1e-12);
  // The mean colour of what is not grey: violet when slow, yellow when fast.
  const auto mean = [&](const Frame& frame) {
    const Image image = draw(frame, picture);
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
      const Eigen::Vector3d c(image.rgb[i], image.rgb[i + 1], image.rgb[i + 2]);
      if (c.maxCoeff() - c.minCoeff() > 40) sum += c;
    }
    return sum;
  };
  const Eigen::Vector3d slow = mean(frames.front()), fast = mean(frames.back());
  EXPECT_GT(slow[2], slow[1]);
  EXPECT_GT(fast[1], 1.5 * fast[2]);
  EXPECT_THROW(spanning("stress", 1, frames), InputError);
  EXPECT_THROW(spanning("taste", 1, frames), InputError);
}

TEST_F(Film, ShowsWhatColoursStandFor) {
  const Frame frame = read_frame(list_frames(directory / "run").back());
  RenderOptions picture = {.width = 320, .height = 240, .samples = 1, .camera = {}};
  picture.colouring = Colouring{"speed", 0, 12.5, 1};
  const Image with = draw(frame, picture);
  picture.legend = false;
  const Image without = draw(frame, picture);
  // Only the lower left corner changes, and there the bar has the colours in their order, dark to light.
  const auto pixel = [&](const Image& image, int x, int y) {
    const std::size_t i = 3 * (std::size_t(y) * 320 + std::size_t(x));
    return Eigen::Vector3d(image.rgb[i], image.rgb[i + 1], image.rgb[i + 2]);
  };
  int changed = 0, rows_of_bar = 0;
  for (int y = 0; y < 240; ++y) {
    int x = 0;
    for (; x < 320; ++x) {
      if (pixel(with, x, y) == pixel(without, x, y)) continue;
      ++changed;
      EXPECT_TRUE(x < 160 && y > 180) << x << " " << y;
    }
    double before = 0;
    bool rising = true;
    for (x = 8; x < 88; ++x) {
      const double light = pixel(with, x, y).dot(Eigen::Vector3d(0.2, 0.7, 0.1));
      rising = rising && light >= before - 1.5;
      before = light;
    }
    rows_of_bar += rising && pixel(with, 8, y)[2] > 1.5 * pixel(with, 8, y)[1] && pixel(with, 87, y)[0] > 200;
  }
  EXPECT_GT(changed, 2000);
  EXPECT_EQ(rows_of_bar, 8);
  // Another number is another picture.
  picture.legend = true;
  picture.colouring->high = 12.6;
  EXPECT_NE(draw(frame, picture).rgb, with.rgb);
}

TEST_F(Film, CameraSeesAllThatHappens) {
  std::vector<Frame> frames;
  for (const fs::path& file : list_frames(directory / "run")) frames.push_back(read_frame(file));
  const Camera all = automatic_camera(frames, 1), first = automatic_camera(frames.front(), 1);
  EXPECT_GT((all.eye - all.target).norm(), 1.2 * (first.eye - first.target).norm());
  EXPECT_NEAR(all.target.x(), 0.5, 0.15);
}

TEST(FilmLook, WhatFliesFarAwayMayLeaveThePicture) {
  // A ball hits a mat and bounces off; `end`: how high it is at last.
  const auto size = [](double end) {
    std::vector<Frame> frames;
    for (const double height : {1.0, 0.2, end}) {
      FrameBuilder b;
      b.add({"mat", "volume"}, generate::box({1, 0.1, 1}, {1, 1, 1}), {0, 0, 0});
      b.add({"ball", "volume"}, generate::sphere(0.1, 2), {0, height, 0});
      const Index points = b.frame.mesh.point_count();
      b.frame.contact_force = Matrix3X::Zero(3, points);
      b.frame.contact_force(1, 0) = 1;                             // the mat is held
      if (height < 0.5) b.frame.contact_force(1, points - 1) = 1;  // they touch
      b.frame.time = 0.1 * double(frames.size());
      frames.push_back(b.frame);
    }
    return automatic_camera(frames, 1).scene_size;
  };
  EXPECT_GT(size(1.5), 1.5) << "it is in the picture";
  EXPECT_LT(size(30), 2) << "else the mat would be a dot";
}

TEST(FilmLook, GlassStaysAsItIs) {
  FrameBuilder high;
  high.add({"ball", "volume"}, generate::sphere(0.3, 3), {0, 2, 0});
  high.add({"post", "obstacle"}, generate::box({0.05, 0.05, 0.05}, {1, 1, 1}), {0, 3, 0});
  RenderOptions options = {.width = 64, .height = 48, .samples = 2, .camera = {}};
  EXPECT_TRUE(surroundings(high.frame, options).glass.empty());
  options.surroundings = Surroundings{.glass = {1}};
  EXPECT_EQ(surroundings(high.frame, options).glass, std::vector<int>{1});
}

}  // namespace
}  // namespace apart::test
