#!/bin/sh
# fuzz.sh PROGRAM SECONDS FOLDER [libFuzzer's options]
# Gives every target of PROGRAM (apart_fuzz) the inputs of its corpus, then an equal share of SECONDS of new ones.
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

# fuzz TARGET [options]: its share of the time.
fuzz() {
  target=$1
  shift
  [ ! -f "$here/words/$target.txt" ] || set -- "$@" "-dict=$here/words/$target.txt"
  mkdir -p "$folder/found/$target"
  set -- "$@" "$folder/found/$target" "$here/corpus/$target"
  # A short share would go by with the examples alone.
  case $target in scene | json) [ "$share" -lt 60 ] || set -- "$@" "$here/../../examples" ;; esac
  # A limit of 5 s and 2 GB for one input; the outer limit is for what libFuzzer cannot stop itself.
  timeout -k 10 $((share + 120)) "$program" --target="$target" -max_total_time="$share" -timeout=5 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/$target-" "$@" >"$folder/$target.log" 2>&1
}

failed=""
total=0
for target in $targets; do
  if fuzz "$target" "$@"; then
    state=""
  else
    state="  FAILED"
    failed="$failed $target"
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
  total=$((total + ${executions:-0}))
  # libFuzzer begins with all it was given, however short the time; what it makes itself is what finds things.
  given=$(sed -n 's/^#\([0-9]*\)[[:space:]]*INITED.*/\1/p' "$folder/$target.log")
  if [ -z "$state" ] && [ "${executions:-0}" -le "${given:-0}" ]; then
    state="  FAILED: nothing but what was there already"
    failed="$failed $target"
  fi
  printf '%-12s %9s executions%s\n' "$target" "${executions:-?}" "$state"
done
printf '%-12s %9s executions in %s s each\n' "all" "$total" "$share"
for target in $failed; do
  printf '\n%s:\n' "$target"
  grep -v -E '^#[0-9]+|^INFO' "$folder/$target.log" | head -n 40
done
[ -z "$failed" ]
