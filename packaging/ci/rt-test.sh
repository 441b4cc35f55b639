#!/bin/sh
# Runs a program in a PREEMPT_RT kernel in QEMU, explains its late activations, and writes the reports that CI servers show.
#
#   rt-test.sh PROGRAM [ARGUMENTS]
#
# The environment has the options:
#   WHYLATE           the program [whylate]
#   WHYLATE_KERNEL    a kernel of `whylate lab kernels` [6.12-rt]
#   WHYLATE_EXEC      more options of `whylate lab exec`, such as "--cpus 2 --dir build"
#   WHYLATE_TASKS     threads to judge, separated by blanks [all real-time threads]
#   WHYLATE_DEADLINE  the longest response, such as 500us [none: only findings count]
#   WHYLATE_FAIL_ON   info, warning or error [error]
#   WHYLATE_SOURCE    the file of the repository at which code reviews show a result without a line of its own
#   WHYLATE_OUTPUT    the directory of the reports [whylate-report]
#   WHYLATE_LAB_MIRROR  the address of a Debian mirror; needed where apt has none of Debian's
#
# Writes trace.dat, report.md, report.html, report.xml (JUnit) and report.sarif; adds report.md to the job's summary on GitHub.
# Needs jq. Exit codes: 0 nothing found; 1 findings; 2 could not do it, or the program failed; 3 cannot tell.
set -u

if [ $# = 0 ]; then
    echo "rt-test.sh: which program? rt-test.sh PROGRAM [ARGUMENTS]" >&2
    exit 2
fi
whylate=${WHYLATE:-whylate}
kernel=${WHYLATE_KERNEL:-6.12-rt}
output=${WHYLATE_OUTPUT:-whylate-report}

judged="--fail-on ${WHYLATE_FAIL_ON:-error}"
[ -z "${WHYLATE_DEADLINE:-}" ] || judged="$judged --deadline $WHYLATE_DEADLINE"
for task in ${WHYLATE_TASKS:-}; do
    judged="$judged --task $task"
done

rm -f "$output/trace.dat"
# Options are split at blanks.
# shellcheck disable=SC2086
"$whylate" lab exec --kernel "$kernel" --output "$output" $judged ${WHYLATE_EXEC:-} -- "$@"
code=$?

if [ ! -f "$output/trace.dat" ]; then
    echo "rt-test.sh: there is no recording in $output: nothing to explain" >&2
    [ "$code" != 0 ] || code=2
    exit "$code"
fi
for report in report.md report.html report.xml report.sarif; do
    # shellcheck disable=SC2086
    "$whylate" explain "$output/trace.dat" $judged -o "$output/$report" >/dev/null
    if [ ! -f "$output/$report" ]; then
        echo "rt-test.sh: $output/$report could not be written" >&2
        code=2
    fi
done

# A program that fails by itself fails the job, however punctual it was.
if ! jq -e '[.steps[] | select(.code != 0)] == []' "$output/result.json" >/dev/null; then
    echo "rt-test.sh: the program failed: $(jq -c '.steps' "$output/result.json")" >&2
    case $code in 0 | 3) code=2 ;; esac
fi

# Code reviews refuse a result without a place: SARIF of a recording has lines only where it has call stacks.
if [ -n "${WHYLATE_SOURCE:-}" ]; then
    if jq --arg uri "$WHYLATE_SOURCE" '
        .runs[].results[] |= if (.locations | length) > 0 then . else
            .locations = [{physicalLocation: {artifactLocation: {uri: $uri}, region: {startLine: 1}}}]
        end' "$output/report.sarif" >"$output/report.sarif.new"; then
        mv "$output/report.sarif.new" "$output/report.sarif"
    else
        rm -f "$output/report.sarif.new"
        echo "rt-test.sh: jq could not add $WHYLATE_SOURCE to $output/report.sarif" >&2
        code=2
    fi
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$output/report.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
