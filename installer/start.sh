#!/usr/bin/env bash
# Sets everything up on Debian 12 and opens the window on a model; without a display it runs the model and saves
# screenshots and values in a folder.
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

./installer/build.sh sonde sonde-layout-worker sonde-ort >&2
sonde=build/release/bin/sonde

# Real input for the models that come with Sonde, random numbers for others.
picture=
preset=bgr
watch=(--watch-all)
case "$model" in
    zoo:resnet18)
        picture=$PWD/resources/samples/chelsea.png
        preset=imagenet
        watch=(--watch conv1 --watch layer1: --watch layer2: --watch layer3: --watch layer4: --watch fc)
        ;;
    */ch_ppocr_mobile_v2.0_cls_infer.onnx)
        picture=$PWD/resources/samples/text-line-upside-down.png
        preset=signed
        ;;
esac

if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
    exec "$sonde" "$model"
fi

echo "There is no display, so no window can open. Instead, Sonde traces the model, runs it with watch points, and saves" >&2
echo "screenshots of the window." >&2
out=build/first-run
rm -rf "$out"
mkdir -p "$out"

"$sonde" trace "$model" | tee "$out/nodes.txt"
echo

status=0
"$sonde" run "$model" ${picture:+--input-data "$picture" --image "$preset"} "${watch[@]}" --out "$out/values.npz" |
    tee "$out/values.txt" || status=$?

{
    [ -z "$picture" ] || echo "input x $picture $preset"
    for argument in "${watch[@]}"; do
        case "$argument" in --*) ;; *) echo "watch $argument" ;; esac
    done
    echo run
    [ "$model" != zoo:resnet18 ] || printf '%s\n' "select conv1" "view channels"
    printf '%s\n' "zoom fit" wait "screenshot $out/window-light.png" "theme dark" wait
} >"$out/window.txt"
QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES='*.warning=false' "$sonde" window "$model" --size 1600x1000 --script "$out/window.txt" --screenshot "$out/window-dark.png"

echo
echo "In $PWD/$out:"
for line in "nodes.txt          every node of the graph and its module" \
    "values.txt         shapes and statistics of the watched values" \
    "values.npz         watched values, inputs and outputs" \
    "window-light.png   the window after the run" \
    "window-dark.png    the same in the dark theme" \
    "window.txt         the script of the screenshots"; do
    [ ! -e "$out/${line%% *}" ] || echo "  $line"
done
exit "$status"
