#pragma once
// The methods behind time_of_impact, for queries it has made safe: finite, in a unit of length in which
// squares neither overflow nor underflow.
#include <apart/collision/ccd.hpp>

namespace apart {

/// Additive CCD [C-IPC, algorithm 1] with a sharper bound on each step. Pairs that take too many steps are
/// passed to Tight Inclusion.
std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options);

/// Tight Inclusion [thesis §3.5, §3.6].
std::optional<double> tight_inclusion_ccd(const CcdQuery& query, const CcdOptions& options);
/// The same without vector instructions: the same answers, slower. For tests and measurements.
std::optional<double> tight_inclusion_ccd_scalar(const CcdQuery& query, const CcdOptions& options);

}  // namespace apart
