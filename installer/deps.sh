#!/usr/bin/env bash
# Installs the Debian 12 packages that Sonde is built from and run with; asks nothing, says nothing when all are there.
# README.md says why each library is used.
#   ./installer/deps.sh            what building, running and testing take
#   ./installer/deps.sh --ci       and what .ci/run takes besides
#   ./installer/deps.sh --long     and what .ci/long takes besides
#   ./installer/deps.sh --capture  and what .ci/capture takes besides
set -euo pipefail

packages=(
    # tools
    g++ cmake ninja-build pkg-config ccache mold
    # core: arithmetic, text, JSON, protobuf, zip files, hashes, pictures, layout, sound
    libeigen3-dev libfmt-dev nlohmann-json3-dev libprotozero-dev libminizip-dev zlib1g-dev libstb-dev libgraphviz-dev
    libjpeg62-turbo-dev libwebp-dev libtiff-dev libopenjp2-7-dev libmimalloc-dev libssl-dev libre2-dev libutf8proc-dev
    libsndfile1-dev libsamplerate0-dev
    # command line
    libcli11-dev
    # window and tests
    qt6-base-dev qt6-svg-dev fonts-dejavu-core xvfb xauth graphviz
)

ci=(git clang-format-14 clang-tidy-14 poppler-utils)
long=(clang-14 libclang-rt-14-dev python3)
capture=(python3-torch python3-torchvision python3-numpy)
case "${1-}" in
    "") ;;
    --ci) packages+=("${ci[@]}") ;;
    --long) packages+=("${ci[@]}" "${long[@]}") ;;
    --capture) packages+=("${capture[@]}") ;;
    *) echo "usage: ./installer/deps.sh [--ci | --long | --capture]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "sonde: this is not Debian or a relative of it; install what these packages hold, then build with CMake:" >&2
    echo "  ${packages[*]}" >&2
    exit 1
fi

missing=()
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^ii //p' || true)
for package in "${packages[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "sonde: these packages are missing: ${missing[*]}" >&2
        echo "hint: run this as root, or install sudo" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing: ${missing[*]}" >&2
apt=(apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt[@]}" update >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2
