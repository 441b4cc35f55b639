# Functions for the scripts of cases: how programs report their own figures.

# The largest latency (us) in the output of cyclictest -q and the like: `T: 0 (  9) ... Max:    5210`, `Max 5210`.
max_latency() { sed -n 's/.*Max:\{0,1\}[[:space:]]*\([0-9]*\).*/\1/p' "$@" | sort -n | tail -1; }

# The value of a key in a file of lines `key value`, such as cpu.stat.
value_of() { awk -v key="$1" '$1 == key { print $2 }' "$2"; }

# The largest value of a column in the log of a thread of rt-app, whose first line has the names of the columns.
rt_app_worst() {
	awk -v name="$1" '/^#/ { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$column > worst { worst = $column } END { print worst }' rt-app-"$2"-*.log
}

# at_least WHAT VALUE LIMIT, at_most WHAT VALUE LIMIT: prints the figure; ends with 1 where it is missing or beyond the limit.
at_least() { echo "$1: $2 (at least $3)"; awk -v v="$2" -v l="$3" 'BEGIN { exit !(v != "" && v + 0 >= l + 0) }' || exit 1; }
at_most() { echo "$1: $2 (at most $3)"; awk -v v="$2" -v l="$3" 'BEGIN { exit !(v != "" && v + 0 <= l + 0) }' || exit 1; }

# repeat COUNT PAUSE COMMAND...: runs a command so often, with a pause after each.
repeat() { local n=$1 pause=$2; shift 2; while [ "$n" -gt 0 ]; do "$@"; sleep "$pause"; n=$((n - 1)); done; }

# blob SIZE: a file for programs that compute a checksum.
blob() { truncate -s "$1" blob; }

# A pair of virtual network devices, v0 and v1.
veth_up() { ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up; }

# c_file NAME: a C program NAME.c of what is read, after functions for periods. `tcc -run NAME.c` runs it.
c_file() {
	cat - > "$1.c.body"
	cat - "$1.c.body" > "$1.c" <<'END'
struct ts { long s, n; };
void *mmap(void *, long, int, int, int, long);
int printf(const char *, ...);
long now(void) { struct ts t; clock_gettime(1, &t); return t.s * 1000000000 + t.n; }
void until(long at) { struct ts t = { at / 1000000000, at % 1000000000 }; clock_nanosleep(1, 1, &t, 0); }
void burn(long ns) { long end = now() + ns; while (now() < end); }
void fifo(int priority) { sched_setscheduler(0, 1, &priority); }
void name(const char *text) { prctl(15, text); }
END
}
