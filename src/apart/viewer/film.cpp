#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/film.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numbers>

extern char** environ;

namespace apart {

namespace {

namespace fs = std::filesystem;

/// The options of ffmpeg for a kind of film.
std::vector<std::string> encoding(const std::string& ending) {
  // Moving images for pages, which repeat. Those of GIF have 256 colours, chosen for the film.
  if (ending == ".webp")
    return {"-c:v", "libwebp_anim", "-loop", "0", "-quality", "70", "-compression_level", "6"};
  if (ending == ".gif")
    return {"-vf", "split[a][b];[a]palettegen=stats_mode=diff[c];[b][c]paletteuse=dither=bayer:bayer_scale=4",
            "-loop", "0"};
  // Players want even sizes and halved colours.
  std::vector<std::string> words = {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"};
  const std::vector<std::string> codec =
      ending == ".webm" ? std::vector<std::string>{"-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0"}
                        : std::vector<std::string>{"-c:v", "libx264", "-crf", "18", "-preset", "medium"};
  words.insert(words.end(), codec.begin(), codec.end());
  if (ending == ".mp4" || ending == ".mov") words.insert(words.end(), {"-movflags", "+faststart"});
  return words;
}

/// ffmpeg, reading raw pictures from us. A socket and not a pipe, because writing to one whose reader has
/// ended is an error there, and not a signal.
class Encoder {
 public:
  Encoder(const fs::path& film, int width, int height, double rate) : messages_(std::tmpfile()) {
    if (!messages_)
      throw InputError("{}: no temporary file can be made: {}", film.string(), std::strerror(errno));
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      std::fclose(messages_);
      throw InputError("{}: ffmpeg cannot be started: {}", film.string(), std::strerror(errno));
    }
    std::vector<std::string> words = {"ffmpeg",
                                      "-hide_banner",
                                      "-loglevel",
                                      "error",
                                      "-y",
                                      "-f",
                                      "rawvideo",
                                      "-pix_fmt",
                                      "rgb24",
                                      "-s",
                                      fmt::format("{}x{}", width, height),
                                      "-r",
                                      fmt::format("{}", rate),
                                      "-i",
                                      "-",
                                      "-an"};
    const std::vector<std::string> codec = encoding(lower_case(film.extension().string()));
    words.insert(words.end(), codec.begin(), codec.end());
    // A path that begins with '-' or holds ':' is no option and no protocol.
    words.push_back("file:" + film.string());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ::fileno(messages_), STDERR_FILENO);
    // Ctrl-C is for us, not for all that a terminal has started with us: ffmpeg ends when we do.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int error = ::posix_spawnp(&process_, "ffmpeg", &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
      ::close(ends[0]);
      std::fclose(messages_);
      throw InputError("ffmpeg, which makes films, cannot be started: {}; install it (Debian: ffmpeg)",
                       std::strerror(error));
    }
    socket_ = ends[0];
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    if (process_ > 0) {  // what it has written is thrown away: no need to wait for the rest
      ::kill(process_, SIGKILL);
      finish_quietly();
    }
    std::fclose(messages_);
  }

  void add(const Image& image) {
    const auto* bytes = image.rgb.data();
    std::size_t left = image.rgb.size();
    while (left > 0) {
      const ssize_t n = ::send(socket_, bytes, left, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail();
      bytes += n;
      left -= std::size_t(n);
    }
  }

  int process() const { return process_; }

  void finish() {
    if (finish_quietly() != 0) fail();
  }

 private:
  /// The exit code; −1 if it ended otherwise.
  int finish_quietly() {
    if (process_ <= 0) return code_;
    ::close(socket_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[noreturn]] void fail() {
    finish_quietly();
    std::string said(2000, '\0');
    std::rewind(messages_);
    said.resize(std::fread(said.data(), 1, said.size(), messages_));
    while (!said.empty() && said.back() == '\n') said.pop_back();
    if (said.empty()) said = fmt::format("it ended with code {}", code_);
    throw InputError("ffmpeg could not write the film: {}; check the path and the space on the disk", said);
  }

  std::FILE* messages_;
  pid_t process_ = 0;
  int socket_ = -1, code_ = -1;
};

/// Removed unless the film is finished.
struct Unfinished {
  fs::path file;
  ~Unfinished() {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
};

}  // namespace

std::vector<Frame> some_frames(const std::vector<fs::path>& files) {
  std::vector<Frame> frames;
  const std::size_t n = std::min<std::size_t>(8, files.size());
  for (std::size_t i = 0; i < n; ++i)
    frames.push_back(read_frame(files[n == 1 ? 0 : i * (files.size() - 1) / (n - 1)]));
  return frames;
}

bool is_film(const fs::path& file) {
  const std::string ending = lower_case(file.extension().string());
  return ending == ".mp4" || ending == ".mkv" || ending == ".mov" || ending == ".webm" || ending == ".webp" ||
         ending == ".gif";
}

double natural_speed(const std::vector<double>& times, double rate) {
  const double duration = times.back() - times.front();
  const double shortest = std::min(3.0, double(times.size() - 1) / rate);  // [s] of the film
  return duration > 0 && duration < shortest ? duration / shortest : 1;
}

std::vector<Index> film_frames(const std::vector<double>& times, double rate, double speed) {
  std::vector<Index> shown;
  const double step = speed / rate;  // [s] of the run from picture to picture
  const double slack = 1e-6 * step;
  const double pictures = (times.back() - times.front()) / step;
  if (!(pictures < 1e6))
    throw InputError("the film would have {:.3g} pictures; choose a higher speed or a lower rate", pictures);
  Index frame = 0;
  for (Index k = 0; times.front() + k * step < times.back() - slack; ++k) {
    while (frame + 1 < Index(times.size()) &&
           times[std::size_t(frame) + 1] <= times.front() + k * step + slack)
      ++frame;
    shown.push_back(frame);
  }
  shown.push_back(Index(times.size()) - 1);
  return shown;
}

void FilmRescue::discard() {
  const std::lock_guard lock(mutex_);
  if (encoder_ > 0) {
    ::kill(encoder_, SIGKILL);
    ::waitpid(encoder_, nullptr, 0);
  }
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

void FilmRescue::set(int encoder, fs::path file) {
  const std::lock_guard lock(mutex_);
  encoder_ = encoder;
  file_ = std::move(file);
}

bool write_film(const fs::path& run, const FilmOptions& options, const fs::path& film) {
  if (!(options.rate > 0 && options.rate <= 240))
    throw InputError("rate of the film: got {}, must lie in (0, 240] pictures per second", options.rate);
  if (options.speed && !(*options.speed > 0 && std::isfinite(*options.speed)))
    throw InputError("speed of the film: got {}, must be positive", *options.speed);
  const std::vector<fs::path> files = list_frames(run);
  std::vector<double> times;
  for (const FrameEntry& entry : read_frame_index(run)) times.push_back(entry.time);
  // The run may be writing: both lists as long as the shorter.
  times.resize(std::min(times.size(), files.size()));
  const std::vector<Index> shown =
      film_frames(times, options.rate, options.speed ? *options.speed : natural_speed(times, options.rate));

  RenderOptions picture = options.picture;
  const std::vector<Frame> some = some_frames(files);
  if (!picture.camera) picture.camera = automatic_camera(some, double(picture.width) / picture.height);
  const Camera camera = *picture.camera;
  /// The options of a picture, `part` of the way through the film.
  const auto options_at = [&](double part) {
    RenderOptions own = picture;
    const Eigen::AngleAxisd turn(part * options.orbit * std::numbers::pi / 180, camera.up.normalized());
    own.camera->eye = camera.target + turn * (camera.eye - camera.target);
    return own;
  };
  if (!picture.surroundings) {
    Surroundings all;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Surroundings found =
          surroundings(some[i], options_at(some.size() > 1 ? double(i) / double(some.size() - 1) : 0));
      all.glass.insert(all.glass.end(), found.glass.begin(), found.glass.end());
    }
    picture.surroundings = all;
  }

  fs::path temporary = film;
  temporary.replace_filename("." + film.stem().string() + ".unfinished" + film.extension().string());
  const Unfinished unfinished{temporary};
  Encoder encoder(temporary, picture.width, picture.height, options.rate);
  FilmRescue own_rescue, &rescue = options.rescue ? *options.rescue : own_rescue;
  const struct Registered {
    FilmRescue& rescue;
    ~Registered() { rescue.set(0, {}); }
  } registered{rescue};
  rescue.set(encoder.process(), temporary);
  const Index all = Index(shown.size());
  // As many pictures at once as there are threads: reading a frame and building its tree leaves the others
  // idle.
  const Index together = std::max(1, thread_count());
  Image last;
  Index last_frame = -1;
  for (Index begin = 0; begin < all; begin += together) {
    const Index end = std::min(all, begin + together);
    std::vector<Image> images(std::size_t(end - begin));
    parallel_for(
        end - begin,
        [&](Index i) {
          const Index k = begin + i;
          // A frame that is shown again is drawn again only if the camera has moved.
          if (options.orbit == 0 && k > begin && shown[std::size_t(k)] == shown[std::size_t(k) - 1]) return;
          if (options.orbit == 0 && k == begin && shown[std::size_t(k)] == last_frame) return;
          images[std::size_t(i)] = draw(read_frame(files[std::size_t(shown[std::size_t(k)])]),
                                        options_at(all > 1 ? double(k) / (all - 1) : 0));
        },
        1);
    for (Index k = begin; k < end; ++k) {
      Image& image = images[std::size_t(k - begin)];
      if (!image.rgb.empty()) last = std::move(image);
      last_frame = shown[std::size_t(k)];
      encoder.add(last);
    }
    if (options.on_picture && !options.on_picture(end, all)) return false;
  }
  encoder.finish();
  std::error_code error;
  fs::rename(temporary, film, error);
  if (error) throw InputError("{}: cannot be written: {}", film.string(), error.message());
  return true;
}

}  // namespace apart
