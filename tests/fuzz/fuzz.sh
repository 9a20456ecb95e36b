#!/bin/sh
# fuzz.sh PROGRAM SECONDS FOLDER [libFuzzer's options]
# Gives every target of PROGRAM (apart_fuzz) the inputs of its corpus, then an equal share of SECONDS of new ones, or as
# many as the option -runs says.
# Prints the number of executions of each. FOLDER takes the new inputs that reached new code, which the next time
# begins with, and what went wrong: FOLDER/TARGET-crash-… is an input, FOLDER/TARGET.log what was said about it.
set -eu
program=$1 seconds=$2 folder=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
targets=$("$program" --targets 2>/dev/null)
share=$((seconds / $(echo "$targets" | wc -l)))
[ "$share" -gt 0 ] || share=1
mkdir -p "$folder"

# Inputs reach the readers as files; in memory, where there is such a place.
memory=/dev/shm
[ -d $memory ] && [ -w $memory ] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$memory/apart_fuzz_XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

# fuzz TARGET TIME [options]: TIME [s].
fuzz() {
  target=$1 time=$2
  shift 2
  [ ! -f "$here/words/$target.txt" ] || set -- "$@" "-dict=$here/words/$target.txt"
  mkdir -p "$folder/found/$target"
  set -- "$@" "$folder/found/$target" "$here/corpus/$target"
  # A short share would go by with the examples alone.
  case $target in scene | json) [ "$share" -lt 60 ] || set -- "$@" "$here/../../examples" ;; esac
  # A limit of 5 s and 2 GB for one input; the outer limit is for what libFuzzer cannot stop itself.
  timeout -k 10 $((time + 120)) "$program" --target="$target" -max_total_time="$time" -timeout=5 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/$target-" "$@" >"$folder/$target.log" 2>&1
}

failed=""
total=0
for target in $targets; do
  # libFuzzer begins with all it was given, however short the time; what it makes itself is what finds things. On
  # a busy machine that may take more than the share.
  for time in "$share" $((4 * share)) $((16 * share)); do
    state=""
    fuzz "$target" "$time" "$@" || state="  FAILED"
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
    given=$(sed -n 's/^#\([0-9]*\)[[:space:]]*INITED.*/\1/p' "$folder/$target.log")
    [ -z "$state" ] || break
    [ "${executions:-0}" -le "${given:-0}" ] || break
    state="  FAILED: nothing but what was there already"
  done
  total=$((total + ${executions:-0}))
  [ -z "$state" ] || failed="$failed $target"
  printf '%-12s %9s executions%s\n' "$target" "${executions:-?}" "$state"
done
printf '%-12s %9s executions, at most %s s each\n' "all" "$total" "$share"
for target in $failed; do
  printf '\n%s:\n' "$target"
  grep -v -E '^#[0-9]+|^INFO' "$folder/$target.log" | head -n 40
done
[ -z "$failed" ]
