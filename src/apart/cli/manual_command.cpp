#include <apart/cli/exit_codes.hpp>
#include <apart/cli/manual_command.hpp>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/scene/examples.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace apart {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

/// Those that are shown.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

/// Options as typed: "-o", "--output".
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_snames()) words.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// Whether the command's first argument is a scene or an example.
bool takes_scene(const CLI::App& command) {
  return command.get_name() == "run" || command.get_name() == "check" || command.get_name() == "examples";
}

std::string example_names() {
  std::string names;
  for (const Example& example : examples()) names += (names.empty() ? "" : " ") + std::string(example.name);
  return names;
}

std::string bash_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(app)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    std::string options;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& word : words_of(*option)) options += (options.empty() ? "" : " ") + word;
    std::string arguments;
    if (takes_scene(*command)) arguments = "$examples";
    if (command->get_name() == "completion") arguments = "bash zsh fish";
    cases +=
        fmt::format("    {}) options=\"{}\" arguments=\"{}\" ;;\n", command->get_name(), options, arguments);
  }
  return fmt::format(
      R"(# Completion of apart for bash. To use it in this shell:  source <(apart completion bash)
_apart() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" options="" arguments=""
  local examples="{}"
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$arguments" -- "$word") $(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _apart apart
)",
      example_names(), names, cases);
}

/// For a word between single quotes of an argument of _arguments, where [ ] : have a meaning.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    if (c == '\'')
      result += "'\\''";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(app)) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
    std::string words;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& word : words_of(*option))
        words += fmt::format(" \\\n        '{}[{}]{}'", word, zsh_text(option->get_description()),
                             takes_value(*option) ? ":value:_files" : "");
    const std::string rest = takes_scene(*command)                 ? "*:scene:_apart_scenes"
                             : command->get_name() == "completion" ? "1:shell:(bash zsh fish)"
                                                                   : "*:file:_files";
    cases += fmt::format("      {}) _arguments{} \\\n        '{}' ;;\n", command->get_name(), words, rest);
  }
  return fmt::format(R"(#compdef apart
# Completion of apart for zsh. Write it to a file _apart in a folder of $fpath:  apart completion zsh >FOLDER/_apart
_apart_scenes() {{
  local -a examples=({})
  _alternative 'examples:example:compadd -a examples' 'files:file:_files'
}}
_apart() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe 'command' commands
    return
  fi
  local command="$words[2]"
  shift words
  ((CURRENT--))
  case "$command" in
{}  esac
}}
if [[ "$funcstack[1]" == _apart ]]; then
  _apart "$@"
else
  compdef _apart apart
fi
)",
                     example_names(), names, cases);
}

/// For a word between single quotes.
std::string fish_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string fish_completion(const CLI::App& app) {
  std::string text =
      "# Completion of apart for fish. Write it to:  ~/.config/fish/completions/apart.fish\n"
      "complete -c apart -n __fish_use_subcommand -f\n"
      "complete -c apart -n __fish_use_subcommand -l help -d 'Print the help message'\n"
      "complete -c apart -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    text += fmt::format("complete -c apart -n __fish_use_subcommand -a {} -d '{}'\n", name,
                        fish_text(command->get_description()));
    const std::string within = fmt::format("complete -c apart -n '__fish_seen_subcommand_from {}'", name);
    for (const CLI::Option* option : options_of(*command)) {
      if (option->get_positional()) continue;
      std::string words;
      for (const std::string& letter : option->get_snames()) words += " -s " + letter;
      for (const std::string& word : option->get_lnames()) words += " -l " + word;
      text += fmt::format("{}{}{} -d '{}'\n", within, words, takes_value(*option) ? " -r" : "",
                          fish_text(option->get_description()));
    }
    if (takes_scene(*command)) text += fmt::format("{} -a '{}'\n", within, example_names());
    if (name == "completion") text += within + " -f -a 'bash zsh fish'\n";
  }
  return text;
}

/// As roff shows it: minus signs that can be copied, no line that begins a request.
std::string roff(std::string_view text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    begins = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string manual_of(const CLI::App& command) {
  std::string usage = fmt::format("apart {}", command.get_name()), options;
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_positional()) {
      usage += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
      options += fmt::format(".TP\n.I {}\n{}\n", roff(option->get_name()), roff(option->get_description()));
      continue;
    }
    std::string heading;
    for (const std::string& word : words_of(*option))
      heading += fmt::format("{}\\fB{}\\fR", heading.empty() ? "" : ", ", roff(word));
    const std::string type = option->get_type_name();
    if (takes_value(*option)) heading += fmt::format(" \\fI{}\\fR", roff(type.empty() ? "VALUE" : type));
    options += fmt::format(".TP\n{}\n{}\n", heading, roff(option->get_description()));
  }
  std::string text = fmt::format(".SS {}\n.B {}\n[\\fIOPTION\\fR]...\n.PP\n{}.\n{}", roff(command.get_name()),
                                 roff(usage), roff(command.get_description()), options);
  // The exit codes, which all commands inherit, stand at the end.
  if (const std::string footer = command.get_footer();
      !footer.empty() && footer != command.get_parent()->get_footer())
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  return text;
}

std::string manual(const CLI::App& app) {
  std::string commands;
  for (const CLI::App* command : commands_of(app)) commands += manual_of(*command);
  return fmt::format(
      R"(.TH APART 1 "" "Apart {}" "User Commands"
.SH NAME
apart \- simulate bodies in contact without intersections, and prove that there were none
.SH SYNOPSIS
.B apart
.I COMMAND
[\fIOPTION\fR]...
.SH DESCRIPTION
Apart simulates soft and rigid solids, cloth, rods and grains in frictional contact by Incremental Potential
Contact: no body passes through another or through itself. A scene is a JSON file or the name of a built\-in
example; a run is a directory with frames, tables and a summary.
.SH COMMANDS
{}.SH EXIT STATUS
.TP
0
done, and certified
.TP
2
bad input
.TP
3
the solver could not go on, or not within the memory; the last good state is kept
.TP
4
verification failed
.TP
64
wrong usage
.TP
70
an error in Apart itself
.TP
130
interrupted (143 by SIGTERM)
.SH FILES
A run directory holds
.I summary.json
(the run in numbers),
.I steps.csv
(the same for each step),
.I probes.csv
(what the scene measures),
.I frames/
and
.I frames.pvd
(for ParaView),
.I scene.json
(the scene with every default filled in),
.I checkpoint
and
.IR log.txt .
.SH EXAMPLES
.EX
apart new scene.json \-\-body cloth
apart run scene.json \-o drape
apart render drape \-o drape.mp4
apart verify drape
.EE
)",
      version(), commands);
}

}  // namespace

void add_manual_commands(CLI::App& app, int& code) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print what a shell needs to complete commands and options");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->callback([shell, &app, &code] {
    if (*shell != "bash" && *shell != "zsh" && *shell != "fish")
      throw InputError("completion for '{}': must be bash, zsh or fish", *shell);
    fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                     : *shell == "zsh" ? zsh_completion(app)
                                       : fish_completion(app));
    code = exit_done;
  });
  CLI::App* page = app.add_subcommand("manual", "Print the manual page; to read it: apart manual | man -l -");
  page->callback([&app, &code] {
    fmt::print("{}", manual(app));
    code = exit_done;
  });
}

}  // namespace apart
