#pragma once
// What this machine could do, measured: the denominators of the distance to the limit.

namespace apart::bench {

/// Of one core.
struct MachineRates {
  double gemm = 0;       ///< G: dense matrix product [flop/s]
  double bandwidth = 0;  ///< B: memory, a = b + s c of arrays larger than the caches [byte/s]
};

/// Best of several tries, a second or two in all.
MachineRates measure_machine();

}  // namespace apart::bench
