#!/usr/bin/env bash
# Sets everything up on Debian 12 and opens the window on a model; without a display does the same job and leaves
# pictures and values in a folder.
#   ./installer/start.sh           the built-in ResNet-18 with a sample photograph
#   ./installer/start.sh MODEL     a model file, or zoo:NAME
set -euo pipefail
start_dir=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1-}" in
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
if [ $# -gt 1 ]; then
    echo "usage: ./installer/start.sh [MODEL]" >&2
    exit 2
fi

model=${1:-zoo:resnet18}
case "$model" in
    zoo:* | /*) ;;
    *) model=$start_dir/$model ;;  # as the caller sees it
esac

./installer/build.sh sonde sonde-layout-worker >&2
sonde=build/release/bin/sonde

# A sample to run on: real input for the models that come with Sonde, numbers for others.
input=()
case "$model" in
    zoo:resnet*) input=(--input-data resources/samples/chelsea.png --image imagenet) ;;
    */ch_ppocr_mobile_v2.0_cls_infer.onnx) input=(--input-data resources/samples/text-line.png --image signed) ;;
esac

if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
    exec "$sonde" "$model"
fi

out=build/first-run
rm -rf "$out"
mkdir -p "$out"
echo "There is no display here, so the window cannot open. Doing its job without: trace, run with watch points, picture." >&2

"$sonde" trace "$model" | tee "$out/nodes.txt"

watch=(--watch-all)
if [ "$model" = zoo:resnet18 ]; then
    watch=(--watch conv1 --watch layer1: --watch layer2: --watch layer3: --watch layer4: --watch fc)
fi
"$sonde" run "$model" "${input[@]}" "${watch[@]}" --out "$out/values.npz"

cat >"$out/window.txt" <<'SCRIPT'
run
wait
SCRIPT
QT_QPA_PLATFORM=offscreen "$sonde" window "$model" --screenshot "$out/window.png" --size 1600x1000 --script "$out/window.txt"

echo
echo "In $PWD/$out:"
echo "  nodes.txt    every node of the graph and the module it comes from"
echo "  values.npz   the values at the watch points, the inputs and the outputs"
echo "  window.png   the window after the run"
