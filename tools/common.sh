# SPDX-License-Identifier: BSD-3-Clause
# Shell functions of tools/*: packages, build, hugepages. Sourced, not run.
# shellcheck shell=bash

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${PAGEWHEEL_BUILD:-$TOP/build}

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

need_root() {
	[ "$EUID" = 0 ] || die "needs root, for hugepages and network namespaces: sudo $0"
}

# install_packages PURPOSE...: what tools/packages lists for these purposes and is not there yet.
install_packages() {
	local missing=() name purpose

	command -v dpkg-query >/dev/null ||
		die "no dpkg: the packages in tools/packages are Debian's; install their like by hand"
	while read -r name purpose; do
		[[ $name == "#"* || " $* " != *" $purpose "* ]] && continue
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
			missing+=("$name")
	done <"$TOP/tools/packages"
	[ ${#missing[@]} = 0 ] && return
	echo "Installing ${missing[*]}" >&2
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
		>"$BUILD.packages.log" 2>&1 ||
		die "cannot install ${missing[*]}: see $BUILD.packages.log"
	rm -f "$BUILD.packages.log"
}

# build DIR "TARGET..." [MESON OPTIONS]: quiet unless it fails; on a terminal with ninja's progress.
build() {
	local dir=$1 targets
	local log=$dir.log
	read -rd "" -a targets <<<"$2"
	shift 2

	echo "Building in ${dir#"$TOP"/}" >&2
	if [ ! -f "$dir/build.ninja" ] && ! meson setup "$dir" "$TOP" "$@" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		die "meson failed; all of its output: $log"
	fi
	if [ -t 2 ]; then
		ninja -C "$dir" "${targets[@]}" >&2 || die "the build failed"
	elif ! ninja -C "$dir" "${targets[@]}" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		die "the build failed; all of its output: $log"
	fi
	rm -f "$log"
}

# only_one: tools/run and tools/test would take hugepages from under each other.
only_one() {
	[ -z "${PAGEWHEEL_LOCKED:-}" ] || return 0
	exec 9>/run/lock/pagewheel.lock
	flock -n 9 || die "another tools/run or tools/test is at work: wait for it to end"
	export PAGEWHEEL_LOCKED=1
}

hugepages_file=/sys/kernel/mm/hugepages/hugepages-2048kB

# reserve_hugepages N: have N free pages of 2 MiB; remembers how many there were.
reserve_hugepages() {
	local free total

	[ -d $hugepages_file ] || die "this kernel has no hugepages of 2 MiB"
	free=$(<$hugepages_file/free_hugepages)
	total=$(<$hugepages_file/nr_hugepages)
	[ "$free" -ge "$1" ] && return
	hugepages_before=$total
	overcommit_before=$(<$hugepages_file/nr_overcommit_hugepages)
	hugeadm --pool-pages-min "2MB:$((total + $1 - free))" >/dev/null 2>&1
	free=$(<$hugepages_file/free_hugepages)
	[ "$free" -ge "$1" ] ||
		die "$1 free hugepages of 2 MiB are needed, there are $free: free memory, or reserve them at boot (hugepages=$1 on the kernel's command line)"
}

# restore_hugepages: put back what reserve_hugepages changed.
restore_hugepages() {
	[ -n "${hugepages_before:-}" ] || return 0
	hugeadm --pool-pages-min "2MB:$hugepages_before" >/dev/null 2>&1
	# Lowering the minimum leaves the maximum, which lets the kernel overcommit the difference.
	hugeadm --pool-pages-max "2MB:$((hugepages_before + overcommit_before))" >/dev/null 2>&1
	hugepages_before=
}
