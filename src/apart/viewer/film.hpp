#pragma once
// Films of runs: pictures, drawn several at a time and passed to ffmpeg in order.
#include <apart/viewer/render.hpp>

#include <filesystem>
#include <functional>
#include <mutex>
#include <vector>

namespace apart {

/// Lets another thread clear away a film that is being written, before it ends the process.
class FilmRescue {
 public:
  void discard();                                     ///< ends ffmpeg and removes what it has written so far
  void set(int encoder, std::filesystem::path file);  ///< write_film says what there is; 0: nothing runs

 private:
  std::mutex mutex_;
  int encoder_ = 0;  ///< id of the process
  std::filesystem::path file_;
};

struct FilmOptions {
  RenderOptions picture;        ///< of every picture; without a camera, one that shows all that happens
  double rate = 30;             ///< pictures per second of the film, (0, 240]
  std::optional<double> speed;  ///< simulated seconds per second of the film; none: natural_speed
  double orbit = 0;             ///< [degrees] that the camera turns about the vertical, from begin to end
  /// Called with the number of pictures done and of all; false stops, and leaves no film.
  std::function<bool(Index done, Index all)> on_picture = nullptr;
  FilmRescue* rescue = nullptr;  ///< must outlive the film
};

/// Real time; slower if the film would then be shorter than three seconds, but never so slow that a frame of
/// the run is shown twice.
double natural_speed(const std::vector<double>& times, double rate);

/// Which frame each picture of the film shows: the last one at or before its time. Ends with the last frame.
std::vector<Index> film_frames(const std::vector<double>& times, double rate, double speed);

/// Writes .mp4, .mkv, .mov (H.264), .webm (VP9), or an image that moves, .webp or .gif; appears under its
/// name when it is complete. Returns whether it was written, false if it was stopped. Throws InputError if a
/// frame cannot be read, ffmpeg is missing or fails, or an option is out of range.
bool write_film(const std::filesystem::path& run, const FilmOptions& options,
                const std::filesystem::path& film);

/// Eight frames of a run, or all if there are fewer, evenly spread, first and last among them: what decides
/// about the camera of all its pictures.
std::vector<Frame> some_frames(const std::vector<std::filesystem::path>& files);

/// Whether the name is that of a film, by its ending.
bool is_film(const std::filesystem::path& file);

}  // namespace apart
