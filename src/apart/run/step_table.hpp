#pragma once
// steps.csv: one line for each step of a run.
#include <apart/core/function_ref.hpp>
#include <apart/simulation/simulation.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// Calls `visit` with name and value of each column.
void for_each_column(const StepReport& report, FunctionRef<void(std::string_view, double)> visit);

/// Calls `visit` with name and unit of each column that has one.
void for_each_unit(FunctionRef<void(std::string_view, std::string_view)> visit);

std::string step_header();
std::string step_line(const StepReport& report);

/// The steps up to `last` of a steps.csv. Throws InputError if one is missing.
std::vector<StepReport> read_steps(const std::filesystem::path& file, Index last);

}  // namespace apart
