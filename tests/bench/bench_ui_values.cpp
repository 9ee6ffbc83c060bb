// How long the tensor panel's viewer takes with large values:
//   bench_ui_values
// A value of 4,096 × 4,096 float32 is panned in each view that can be, at 60 frames a second or more. One of 1 GiB is
// opened, seen for the first time in its usual view within 200 ms; then its other views are, which count in the
// background. Times are those of the processor on the window's thread, so that what else the machine does does not
// count; elapsed times are printed beside them.

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/theme/theme.h"
#include "ui/widgets/heat_map_view.h"

namespace {

using namespace sonde;

constexpr double kFramesPerSecond = 60;
constexpr double kOpenMs = 200;

struct Time {
    double busyMs = 0, elapsedMs = 0;
};

double processorMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Time timeOf(const std::function<void()>& work) {
    QElapsedTimer timer;
    timer.start();
    const double before = processorMs();
    work();
    return {processorMs() - before, static_cast<double>(timer.nsecsElapsed()) / 1e6};
}

/// No two neighbours are alike, and rows add up to nothing in particular.
tensor::Tensor numbers(std::int64_t rows, std::int64_t columns) {
    tensor::Tensor made = tensor::Tensor::allocate(tensor::DType::Float32, tensor::Shape{rows, columns}).value();
    float* const data = made.mutableData<float>();
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < made.numel(); ++i) {
        state = state * 1664525U + 1013904223U;
        data[i] = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
    }
    return made;
}

void settle(const panels::TensorViewer& viewer) {
    QElapsedTimer timer;
    timer.start();
    while (viewer.isBusy() && timer.elapsed() < 60'000) QApplication::processEvents();
    QApplication::processEvents();
}

/// Pans across the value and back, a frame for each step of 7 pixels.
bool pan(panels::TensorViewer& viewer, const char* view, double zoom) {
    viewer.setCurrentView(QLatin1String(view));
    widgets::HeatMapView* map = nullptr;
    for (auto* each : viewer.findChildren<widgets::HeatMapView*>())
        if (each->isVisible()) map = each;
    if (!map) return false;
    map->setZoom(zoom, {0, 0});
    std::vector<double> frames;
    double elapsed = 0;
    for (int step = 0; step < 200; ++step) {
        const Time frame = timeOf([&] {
            map->horizontalScrollBar()->setValue(step * 7);
            map->verticalScrollBar()->setValue(step * 5);
            map->viewport()->repaint();
        });
        frames.push_back(frame.busyMs);
        elapsed += frame.elapsedMs;
    }
    std::ranges::sort(frames);
    const double usual = frames[frames.size() / 2], slow = frames[frames.size() * 99 / 100];
    const bool isQuick = slow <= 1000 / kFramesPerSecond;
    std::printf(
        "pan 4096x4096, %s at %g pixels a cell: median %.2f ms, 99 %% within %.2f ms a frame (elapsed: "
        "%.2f ms)  %s\n",
        view, zoom, usual, slow, elapsed / 200, isQuick ? "ok" : "SLOW");
    return isQuick;
}

bool open(panels::TensorViewer& viewer, const tensor::Tensor& large) {
    const Time time = timeOf([&] {
        viewer.setValue(QStringLiteral("large"), large);
        viewer.repaint();
        QApplication::processEvents();
    });
    const bool isQuick = time.busyMs <= kOpenMs;
    std::printf("open 1 GiB: %.1f ms until it is seen (elapsed: %.1f ms)  %s\n", time.busyMs, time.elapsedMs,
                isQuick ? "ok" : "SLOW");
    return isQuick;
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    theme::Theme::instance().install(application);
    panels::TensorViewer viewer;
    viewer.resize(1200, 900);
    viewer.show();
    viewer.setValue(QStringLiteral("square"), numbers(4096, 4096));
    settle(viewer);
    bool isOk = true;
    for (const double zoom : {0.25, 1.0, 3.0})
        for (const char* view : {"heat_map", "image"}) isOk = pan(viewer, view, zoom) && isOk;
    const tensor::Tensor large = numbers(16384, 16384);
    isOk = open(viewer, large) && isOk;
    for (const panels::TensorViewInfo& view : panels::tensorViews()) {
        if (!view.accepts(large)) continue;
        const Time time = timeOf([&] {
            viewer.setCurrentView(view.id);
            viewer.repaint();
            QApplication::processEvents();
        });
        isOk = isOk && time.busyMs <= kOpenMs;
        std::printf("  then %s: %.1f ms (elapsed: %.1f ms)  %s\n", qPrintable(view.id), time.busyMs, time.elapsedMs,
                    time.busyMs <= kOpenMs ? "ok" : "SLOW");
    }
    viewer.clear();
    context::Job::waitForAll();
    return isOk ? 0 : 1;
}
