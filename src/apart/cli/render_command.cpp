#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>
#include <apart/cli/number_checks.hpp>
#include <apart/cli/output_file.hpp>
#include <apart/cli/progress.hpp>
#include <apart/cli/render_command.hpp>
#include <apart/cli/run_polygons.hpp>
#include <apart/cli/surface_option.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/contact_reach.hpp>
#include <apart/viewer/film.hpp>
#include <apart/viewer/point_field.hpp>
#include <apart/viewer/run_export.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <memory>

namespace apart {
namespace {

namespace fs = std::filesystem;

struct RenderArguments {
  std::string run, output, colour;
  RenderOptions picture;
  std::optional<Index> frame;
  std::vector<double> eye, target, up, range;
  std::optional<double> field_of_view, speed;
  double rate = FilmOptions().rate, orbit = 0;
  bool force = false, no_legend = false, fit_frame = false, all = false;
};

Vector3 vector(const std::vector<double>& numbers) {
  return {numbers[0], numbers[1], numbers[2]};
}

/// The given camera, completed by the automatic one.
Camera camera_of(const RenderArguments& arguments, const std::vector<Frame>& frames) {
  Camera camera = automatic_camera(frames, double(arguments.picture.width) / arguments.picture.height);
  const Vector3 offset = camera.eye - camera.target;
  if (!arguments.target.empty()) {
    camera.target = vector(arguments.target);
    camera.eye = camera.target + offset;
  }
  if (!arguments.eye.empty()) camera.eye = vector(arguments.eye);
  if (!arguments.up.empty()) camera.up = vector(arguments.up);
  if (arguments.field_of_view) camera.field_of_view = *arguments.field_of_view;
  return camera;
}

/// As the viewer has it.
double reach_of(const fs::path& run, const Frame& frame) {
  const auto read = [&](const char* name) {
    std::ifstream file(run / name);
    return nlohmann::json::parse(file, nullptr, false, true);
  };
  return contact_reach(read("scene.json"), read("summary.json"), frame);
}

/// The name of a picture of a sequence: with the number of its frame.
fs::path numbered(const fs::path& file, std::size_t frame) {
  fs::path result = file;
  result.replace_filename(fmt::format("{}_{:06}{}", file.stem().string(), frame, file.extension().string()));
  return result;
}

/// A picture of every frame.
int render_sequence(const std::vector<fs::path>& files, const RenderOptions& picture, const fs::path& output,
                    bool force) {
  for (std::size_t f = 0; f < files.size(); ++f) ensure_may_write(numbered(output, f), force);
  CountLine line("picture");
  const Interruption interruption;
  for (std::size_t f = 0; f < files.size(); ++f) {
    render(read_frame(files[f]), picture, numbered(output, f));
    line.show(Index(f) + 1, Index(files.size()));
    if (Interruption::received() != 0) {
      line.close();
      fmt::print(stderr, "interrupted; the pictures so far are whole\n");
      return exit_signal + Interruption::received();
    }
  }
  line.close();
  fmt::print("{} to {}\n", numbered(output, 0).string(), numbered(output, files.size() - 1).string());
  return exit_done;
}

/// Refuses options that contradict each other.
void check_options(const RenderArguments& arguments, bool film) {
  if (film && arguments.fit_frame)
    throw InputError("--fit frame: a film has one camera, which shows all that happens; leave it out");
  if (arguments.all && (film || arguments.fit_frame))
    throw InputError("--frame all: draws a picture of every frame, with one camera; {}",
                     film ? "name a .png file, or leave it out" : "leave out --fit");
  if (film && arguments.frame)
    throw InputError("--frame {}: a film shows all frames; name a .png file, or leave it out",
                     *arguments.frame);
  if (!film && !arguments.output.empty() &&
      lower_case(fs::path(arguments.output).extension().string()) != ".png")
    throw InputError(
        "{}: must end in .png for a picture, or in .mp4, .mkv, .mov, .webm, .webp or .gif for a film",
        arguments.output);
}

int render_run(const RenderArguments& arguments) {
  set_thread_count(0);
  const std::vector<fs::path> files = list_frames(arguments.run);
  const bool film = !arguments.output.empty() && is_film(arguments.output);
  check_options(arguments, film);
  const Index number = arguments.frame.value_or(Index(files.size()) - 1);
  if (number < 0 || number >= Index(files.size()))
    throw InputError("--frame {}: {} has the frames 0 to {}; choose one of these", number, arguments.run,
                     files.size() - 1);
  const fs::path output =
      arguments.output.empty()
          ? fs::path(arguments.run) / (arguments.all ? "frame.png" : fmt::format("frame_{:06}.png", number))
          : fs::path(arguments.output);
  if (!arguments.all) ensure_may_write(output, arguments.force);

  // The camera, and what is drawn as glass, are the same in all pictures of a run.
  const std::vector<Frame> frames = some_frames(files);
  const Frame frame = film ? Frame() : read_frame(files[std::size_t(number)]);
  RenderOptions picture = arguments.picture;
  picture.legend = !arguments.no_legend;
  const std::vector<Frame> fitted = arguments.fit_frame ? std::vector{frame} : frames;
  picture.camera = camera_of(arguments, fitted);
  if (!film) {
    Surroundings all;
    for (const Frame& some : fitted)
      for (const int body : surroundings(some, picture).glass) all.glass.push_back(body);
    picture.surroundings = all;
  }
  if (!arguments.colour.empty()) {
    const std::span<const Frame> shown =
        film || arguments.all ? std::span<const Frame>(frames) : std::span(&frame, 1);
    picture.colouring = spanning(arguments.colour, reach_of(arguments.run, frames.front()), shown,
                                 frames.front().mesh.points);
    if (!arguments.range.empty()) {
      picture.colouring->low = arguments.range[0];
      picture.colouring->high = arguments.range[1];
    }
    fmt::print("{} from {:.4g} (dark) to {:.4g} (light) {}\n", arguments.colour, picture.colouring->low,
               picture.colouring->high, find_field(arguments.colour).unit);
  }
  if (arguments.all) return render_sequence(files, picture, output, arguments.force);
  if (!film) {
    render(frame, picture, output);
    fmt::print("{}\n", output.string());
    return exit_done;
  }
  CountLine line("picture");
  constexpr const char* given_up = "interrupted; no film was written\n";
  FilmRescue rescue;
  // In the middle of a picture that takes long.
  const Interruption interruption([&] {
    rescue.discard();
    fmt::print(stderr, "\n{}", given_up);
  });
  FilmOptions options{
      .picture = picture, .rate = arguments.rate, .speed = arguments.speed, .orbit = arguments.orbit};
  options.rescue = &rescue;
  options.on_picture = [&](Index done, Index all) {
    line.show(done, all);
    return Interruption::received() == 0;
  };
  const bool written = write_film(arguments.run, options, output);
  line.close();
  if (!written) {
    fmt::print(stderr, "{}", given_up);
    return exit_signal + Interruption::received();
  }
  fmt::print("{}\n", arguments.output);
  return exit_done;
}

struct ExportArguments {
  std::string run, format, output;
  Index every = 1, first = 0;
  std::optional<Index> last;
  bool force = false;
  ShownSurface surface = ShownSurface::shape;
};

int export_run(const ExportArguments& arguments) {
  set_thread_count(0);
  const ExportFormat& format = find_export_format(arguments.format);
  const std::vector<fs::path> files = list_frames(arguments.run);
  const Index last = arguments.last.value_or(Index(files.size()) - 1);
  if (arguments.first > last || last >= Index(files.size()))
    throw InputError("frames {} to {}: {} has the frames 0 to {}; choose among them", arguments.first, last,
                     arguments.run, files.size() - 1);
  std::vector<fs::path> chosen;
  // In 64 bits: one step beyond the last frame may be beyond what an Index holds.
  for (std::int64_t i = arguments.first; i <= last; i += arguments.every)
    chosen.push_back(files[std::size_t(i)]);
  const fs::path run = fs::absolute(arguments.run).lexically_normal();
  const std::string name =
      run.has_filename() ? run.filename().string() : run.parent_path().filename().string();
  const fs::path output = !arguments.output.empty() ? fs::path(arguments.output)
                          : !format.ending.empty()  ? fs::path(name + std::string(format.ending))
                                                    : fs::path(name + "-" + std::string(format.name));
  if (!format.ending.empty()) ensure_may_write(output, arguments.force);
  CountLine line("frame");
  const Interruption interruption;
  try {
    const auto progress = [&](Index done, Index all) {
      line.show(done, all);
      return Interruption::received() == 0;
    };
    ExportOptions options{
        .progress = progress, .replace = arguments.force, .surface = arguments.surface, .polygons = {}};
    if (arguments.format != "vtu") {
      std::vector<std::string> notes;
      options.polygons =
          run_polygons(arguments.run, shown_frame(read_frame(files.front()), arguments.surface), notes);
      for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
    }
    export_frames(chosen, arguments.format, output, options);
  } catch (const ExportStopped&) {
    line.close();
    fmt::print(stderr, "interrupted; {} was not written\n", output.string());
    return exit_signal + Interruption::received();
  }
  line.close();
  fmt::print("{}\n", output.string());
  return exit_done;
}

/// Where the camera is, and what it shows.
void add_camera_options(CLI::App* command, const std::shared_ptr<RenderArguments>& render) {
  const auto three = [&](const char* name, std::vector<double>& target, const char* text) {
    command->add_option(name, target, text)->expected(3)->delimiter(',')->type_name("X,Y,Z");
  };
  three("--eye", render->eye, "Where the camera is [m]; default: where it sees everything");
  three("--target", render->target, "What is in the middle of the picture [m]");
  three("--up", render->up, "What is up in the picture");
  command->add_option("--fov", render->field_of_view, "Field of view, of the height [degrees]; default: 30")
      ->check(CLI::Range(1.0, 150.0));
  command
      ->add_option_function<std::string>(
          "--fit",
          [render](const std::string& text) {
            if (text != "run" && text != "frame")
              throw CLI::ValidationError("--fit", fmt::format("got '{}', must be 'run' or 'frame'", text));
            render->fit_frame = text == "frame";
          },
          "What the camera shows unless placed: all that happens in the run, the same in all pictures of it, "
          "or "
          "the frame alone; default: run")
      ->type_name("run|frame");
}

void add_film_options(CLI::App* command, const std::shared_ptr<RenderArguments>& render) {
  command->add_option("--fps", render->rate, "Film: pictures per second; default: 30")
      ->check(CLI::Range(0.1, 240.0).description(""));
  command
      ->add_option("--speed", render->speed,
                   "Film: simulated seconds per second; default: 1, less if the run is short")
      ->check(positive_number());
  command->add_option("--orbit", render->orbit, "Film: degrees that the camera turns about the middle");
}

void add_export_command(CLI::App& app, int& code) {
  auto exported = std::make_shared<ExportArguments>();
  std::string formats, footer;
  for (const ExportFormat& format : export_formats()) {
    formats += (formats.empty() ? "" : ", ") + std::string(format.name);
    footer += fmt::format("  {:<6}{}\n", format.name, format.summary);
  }
  CLI::App* exporting = app.add_subcommand("export", "Export a run for other programs");
  exporting->add_option("RUN", exported->run, "Run directory")->required();
  exporting->add_option("--format", exported->format, formats)->required()->type_name("FORMAT");
  exporting->add_option("-o,--output", exported->output, "File or folder; default: named after the run");
  exporting->add_option("--every", exported->every, "Write every Nth frame only")->check(positive_number());
  exporting->add_option("--first", exported->first, "First frame; default: 0")->check(number_from_zero());
  exporting->add_option("--last", exported->last, "Last frame; default: the run's")
      ->check(number_from_zero());
  add_surface_option(*exporting, exported->surface);
  exporting->add_flag("--force", exported->force, "Replace an earlier export");
  exporting->footer("Formats:\n" + footer);
  exporting->callback([exported, &code] { code = export_run(*exported); });
}

}  // namespace

void add_render_commands(CLI::App& app, int& code) {
  auto render = std::make_shared<RenderArguments>();
  CLI::App* command = app.add_subcommand("render", "Draw a frame of a run, or film the run");
  command->add_option("RUN", render->run, "Run directory")->required();
  command
      ->add_option_function<std::string>(
          "--frame",
          [render](const std::string& text) {
            const auto number = parse_integer(text);
            if (!number && text != "all")
              throw CLI::ValidationError("--frame", fmt::format("got '{}', must be a number or 'all'", text));
            render->all = !number;
            if (number) render->frame = Index(std::clamp<std::int64_t>(*number, -1, 1 << 30));
          },
          "Picture: number of the frame, from 0, or all: -o a.png writes a_000000.png and so on; default: "
          "the last")
      ->type_name("N|all");
  command->add_option(
      "-o,--output", render->output,
      "PNG file, or a film: .mp4, .mkv, .mov, .webm, .webp, .gif; default: RUN/frame_NUMBER.png");
  command
      ->add_option_function<std::string>(
          "--size",
          [render](const std::string& text) {
            const std::size_t x = text.find('x');
            const auto width = parse_integer(text.substr(0, x)),
                       height = x == text.npos ? std::nullopt : parse_integer(text.substr(x + 1));
            if (!width || !height || std::min(*width, *height) < 16 || std::max(*width, *height) > 8192)
              throw CLI::ValidationError("--size",
                                         fmt::format("got {}, must be like 1280x960, each 16 to 8192", text));
            render->picture.width = int(*width);
            render->picture.height = int(*height);
          },
          "Width and height in pixels; default: 1280x960")
      ->type_name("WxH");
  command
      ->add_option("--samples", render->picture.samples,
                   "Rays per pixel; more are smoother and slower; default: 16")
      ->check(CLI::Range(1, 4096).description(""));
  add_camera_options(command, render);
  std::string fields;
  for (const FieldKind& kind : field_kinds()) fields += (fields.empty() ? "" : ", ") + std::string(kind.name);
  command->add_option("--colour,--color", render->colour, "Colour by " + fields + "; default: by body")
      ->type_name("FIELD");
  command
      ->add_option("--range", render->range,
                   "Values at the ends of the colour scale; default: the smallest and the largest")
      ->expected(2)
      ->delimiter(',')
      ->type_name("LOW,HIGH");
  add_surface_option(*command, render->picture.surface);
  command->add_flag("--no-legend", render->no_legend, "Draw no legend for the colours");
  add_film_options(command, render);
  command->add_flag("--force", render->force, "Replace the picture or film if it exists");
  command->callback([render, &code] { code = render_run(*render); });
  add_export_command(app, code);
}

}  // namespace apart
