// The real window, driven by clicks, wheel and drags, against its limits, as one table:
//   bench_ui_window [--times N] [WORD…]     only rows with one of the words in them
// Each row is measured in a process of its own with nothing cached on disk, N times (3): median and worst of the
// readings. QT_QPA_PLATFORM chooses the platform (offscreen if not set; xcb under Xvfb).
//
// A frame is what one wheel or mouse event costs together with the painting that follows it, up to where the window's
// picture is handed to the platform. "Busy" is the longest time in which the window answered nothing. "Work max" is the
// most that the window's thread worked for a frame: where "frame max" is far above, the machine had given the processor
// to others.

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QProcess>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <unistd.h>

#include "tests/bench/model_files.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"
#include "ui/widgets/progress_strip.h"
#include "ui/window/main_window.h"
#include "ui/window/window_canvases.h"

namespace {

using namespace sonde;
using layout::ItemId;
using layout::ItemKind;

double quantile(std::vector<double> times, double q) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
}

/// Peak of resident memory of a process in MB; 0 if it is gone.
double peakMb(long process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    std::string word;
    double kb = 0;
    while (status >> word)
        if (word == "VmHWM:") status >> kb;
    return kb / 1024;
}

/// This process with its helpers.
double peakMbWithHelpers() {
    double sum = peakMb(getpid());
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    for (long child = 0; children >> child;) sum += peakMb(child);
    return sum;
}

/// Milliseconds that this thread has had a processor: what it worked, however busy the machine was with others.
double workedMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Takes the time of everything that the event loop delivers.
class Application : public QApplication {
  public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        if (m_depth > 0) return QApplication::notify(receiver, event);
        const QEvent::Type type = event->type();
        QElapsedTimer timer;
        timer.start();
        const double before = workedMs();
        ++m_depth;
        const bool result = QApplication::notify(receiver, event);
        --m_depth;
        const double worked = workedMs() - before;
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        longest = std::max(longest, ms);
        if (type == QEvent::UpdateRequest) {
            frames.push_back(m_input + ms);
            work.push_back(m_inputWork + worked);
            m_input = m_inputWork = 0;
        } else if (type == QEvent::Wheel || type == QEvent::MouseMove) {
            m_input += ms;
            m_inputWork += worked;
        }
        return result;
    }

    void forget() {
        frames.clear();
        work.clear();
        longest = m_input = m_inputWork = 0;
    }

    std::vector<double> frames;
    std::vector<double> work;  ///< of each frame, what this thread worked
    double longest = 0;

  private:
    int m_depth = 0;
    double m_input = 0, m_inputWork = 0;
};

/// One measurement: the window and what it is told to do.
class Bench {
  public:
    explicit Bench(Application& application) : m_application(application) {
        m_tick.setInterval(1);  // so that waiting looks whether the window is idle
        m_tick.start();
        m_window.resize(1600, 1000);
        m_window.show();
        settle();
    }

    window::MainWindow& window() { return m_window; }
    context::InspectorContext& context() { return m_window.context(); }
    canvas::GraphCanvas* canvas() { return m_window.canvases().active(); }
    void report(const char* what, double value) { std::printf("%s\t%.3f\n", what, value), std::fflush(stdout); }

    /// Something is being loaded, laid out or painted. Panels that wait for the end of a double click before they come
    /// hold up no picture, so MainWindow::isIdle() would say too much.
    bool isBusy() {
        if (context().isBusy()) return true;
        return context().model().isOpen() && (!m_window.canvases().isIdle() || !canvas()->view().scene());
    }

    void settle() {
        QElapsedTimer timer;
        timer.start();
        while (isBusy()) {
            QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
            if (timer.elapsed() > 120'000) std::exit(3);
        }
        QApplication::processEvents();
    }

    double timed(const std::function<void()>& action) {
        QApplication::processEvents();
        m_application.forget();
        QElapsedTimer timer;
        timer.start();
        action();
        settle();
        return static_cast<double>(timer.nsecsElapsed()) / 1e6;
    }

    /// Milliseconds from the file's name to the complete picture.
    double open(const QString& file) {
        return timed([&] {
            m_window.open(file);
            while (context().loader().state() == context::LoadState::Loading || context().isBusy())
                QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
            if (!context().model().isOpen()) std::exit(3);
        });
    }

    void doubleClick(QPointF place) {
        mouse(QEvent::MouseButtonPress, place, Qt::LeftButton);
        mouse(QEvent::MouseButtonRelease, place, Qt::NoButton);
        mouse(QEvent::MouseButtonDblClick, place, Qt::LeftButton);
        mouse(QEvent::MouseButtonRelease, place, Qt::NoButton);
    }

    void mouse(QEvent::Type type, QPointF place, Qt::MouseButtons buttons) {
        const Qt::MouseButton button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
        QMouseEvent event(type, place, canvas()->mapToGlobal(place), button, buttons, Qt::NoModifier);
        QApplication::sendEvent(canvas(), &event);
    }

    void wheel(QPointF place, int delta) {
        QWheelEvent event(place, canvas()->mapToGlobal(place), {}, {0, delta}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas(), &event);
    }

    /// The rest of a sixtieth of a second after an event of the script.
    void frame(const std::function<void()>& event) {
        QElapsedTimer timer;
        timer.start();
        event();
        do QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        while (timer.nsecsElapsed() < 16'600'000);
    }

    std::vector<ItemId> closedModules() {
        std::vector<ItemId> found;
        for (std::size_t i = 0; i < canvas()->view().scene()->items.size(); ++i) {
            const layout::ItemDescription& what = canvas()->view().scene()->items[i].what;
            if (what.kind == ItemKind::Module && !what.open && what.expandable) found.push_back(ItemId(i));
        }
        return found;
    }

    std::size_t seen() {
        std::size_t count = 0;
        const QRectF view = canvas()->view().camera().visible(canvas()->size());
        for (const layout::SceneItem& item : canvas()->view().scene()->items) {
            const QRectF rect(item.rect.x, item.rect.y, item.rect.width, item.rect.height);
            count += !item.what.open && rect.intersects(view);
        }
        return count;
    }

  private:
    Application& m_application;
    QTimer m_tick;
    window::MainWindow m_window;
};

void measureOpening(Bench& bench, Application& application, const QString& file) {
    const double ms = bench.open(file);
    bench.report("time", ms);
    bench.report("busy", application.longest);
    bench.report("memory", peakMbWithHelpers());
}

/// Opens modules by double clicks: some of the top level's, and in each of them one more.
void measureLevels(Bench& bench, Application& application, const QString& file, bool folds) {
    bench.open(file);
    bench.context().canvases().active().setFolds(folds);
    bench.context().canvases().active().expandToDepth(0);
    bench.settle();
    const auto scope = [&](ItemId item) { return bench.canvas()->view().scene()->item(item).what.scope; };
    std::vector<graph::ScopeId> tops;
    for (const ItemId item : bench.closedModules()) tops.push_back(scope(item));
    std::mt19937 engine(7);
    std::shuffle(tops.begin(), tops.end(), engine);
    tops.resize(std::min<std::size_t>(tops.size(), 8));
    double slowest = 0, busy = 0;
    const auto openByClick = [&](graph::ScopeId module) {
        bench.context().navigation().reveal(bench.context().navigation().selectionOf(module));
        bench.settle();
        const QRectF rect = bench.canvas()->view().rectOf(module);
        const double ms = bench.timed([&] { bench.doubleClick({rect.center().x(), rect.center().y()}); });
        if (!bench.context().canvases().active().isExpanded(module)) return;
        slowest = std::max(slowest, ms);
        busy = std::max(busy, application.longest);
    };
    for (const graph::ScopeId top : tops) {
        openByClick(top);
        std::vector<graph::ScopeId> inner;
        for (const ItemId item : bench.closedModules())
            if (bench.context().model().graph().encloses(top, scope(item))) inner.push_back(scope(item));
        if (!inner.empty()) openByClick(inner[inner.size() / 2]);
        bench.context().canvases().active().expandToDepth(0);
        bench.settle();
    }
    bench.report("time", slowest);
    bench.report("busy", busy);
}

void measureAll(Bench& bench, Application& application, const QString& file) {
    bench.open(file);
    bench.context().canvases().active().setFolds(false);
    bench.settle();
    bench.report("time", bench.timed([&] { bench.context().canvases().active().expandToDepth(1000); }));
    bench.report("busy", application.longest);
    bench.report("memory", peakMbWithHelpers());
}

/// Drags right and back, zooms in and out by the wheel, drags down: 300 events at 60 a second.
void measureFrames(Bench& bench, Application& application, const QString& file, bool thousand, bool all) {
    bench.open(file);
    if (all) {
        bench.context().canvases().active().setFolds(false);
        bench.context().canvases().active().expandToDepth(1000);
        bench.settle();
    }
    bench.canvas()->navigation().fit();
    bench.settle();
    const QPointF middle(bench.canvas()->width() / 2.0, bench.canvas()->height() / 2.0);
    if (thousand)
        for (int i = 0; i < 400 && bench.seen() > 1000; ++i) bench.wheel(middle, 60);
    bench.settle();
    application.forget();
    const std::size_t seen = bench.seen();
    const auto drag = [&](int frames, QPointF step) {
        QPointF place = middle - step * frames / 2;
        bench.mouse(QEvent::MouseButtonPress, place, Qt::LeftButton);
        for (int i = 0; i < frames; ++i)
            bench.frame([&] { bench.mouse(QEvent::MouseMove, place += step, Qt::LeftButton); });
        bench.mouse(QEvent::MouseButtonRelease, place, Qt::NoButton);
    };
    drag(60, {-8, 0});
    drag(60, {8, 3});
    for (int i = 0; i < 60; ++i) bench.frame([&] { bench.wheel(middle, 16); });
    for (int i = 0; i < 60; ++i) bench.frame([&] { bench.wheel(middle, -16); });
    drag(60, {0, -10});
    bench.report("seen", static_cast<double>(seen));
    bench.report("p95", quantile(application.frames, 0.95));
    bench.report("max", quantile(application.frames, 1));
    bench.report("work", quantile(application.work, 1));
    bench.report("busy", application.longest);
}

/// Cancels the opening of a file at nine moments, by the button in the status bar, then closes while it is laid out.
void measureCancelling(Bench& bench, Application&, const QString& file) {
    const double whole = bench.open(file);
    bench.context().loader().close();
    bench.settle();
    double slowest = 0, ended = 0;
    auto* strip = bench.window().findChild<widgets::ProgressStrip*>();
    for (int i = 1; i < 10; ++i) {
        bench.window().open(file);
        QElapsedTimer timer;
        timer.start();
        while (static_cast<double>(timer.elapsed()) < whole * i / 10)
            QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        timer.restart();
        if (bench.context().loader().state() == context::LoadState::Loading) strip->findChild<QToolButton*>()->click();
        else bench.context().loader().close();
        while (bench.context().isBusy())
            QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        QApplication::processEvents();
        slowest = std::max(slowest, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        context::Job::waitForAll();
        ended = std::max(ended, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        bench.context().loader().close();
        bench.settle();
    }
    bench.report("time", slowest);
    bench.report("ended", ended);
}

// --- the table ------------------------------------------------------------------------------------------------------

struct Limit {
    const char* what;  ///< as the measurement calls it
    const char* title;
    const char* unit;
    double value;
};

struct Row {
    std::string name;
    const char* model;
    const char* measure;
    std::vector<Limit> limits;
};

std::vector<Row> rows() {
    const Limit busy{"busy", "busy", "ms", 50};
    std::vector<Row> rows{{"ResNet-50, file to picture", "resnet50", "open", {{"time", "time", "ms", 100}, busy}},
                          {"ResNet-50, from process start", "resnet50", "start", {{"time", "time", "ms", 400}}}};
    const std::vector<std::tuple<const char*, double, double>> sizes{
        {"1000", 250, 0}, {"20000", 500, 300}, {"100000", 2000, 0}};
    for (const auto& [size, ms, mb] : sizes) {
        for (const char* kind : {"transformer", "experts", "dense", "chain", "random"}) {
            Row row{std::string(kind) + " of " + size + ", file to picture",
                    nullptr,
                    "open",
                    {{"time", "time", "ms", ms}, busy}};
            if (mb > 0) row.limits.push_back({"memory", "memory", "MB", mb});
            row.model = (new std::string(std::string(kind) + "." + size))->c_str();  // kept for the program's life
            rows.push_back(row);
            rows.push_back({std::string(kind) + " of " + size + ", any level",
                            row.model,
                            "levels",
                            {{"time", "time", "ms", 300}, busy}});
            if (std::string(kind) != "chain")
                rows.push_back({std::string(kind) + " of " + size + ", any level, not folded",
                                row.model,
                                "unfolded",
                                {{"time", "time", "ms", 300}, busy}});
        }
    }
    for (const char* model : {"transformer.10000", "experts.10000", "dense.10000", "chain.10000", "random.10000"})
        rows.push_back({std::string(model) + ", all laid out", model, "all", {{"time", "time", "ms", 500}, busy}});
    rows.push_back({"transformer of 100000, cancel",
                    "transformer.100000",
                    "cancel",
                    {{"time", "time", "ms", 100}, {"ended", "work ended", "ms", 0}}});
    rows.push_back({"random of 100000, cancel",
                    "random.100000",
                    "cancel",
                    {{"time", "time", "ms", 100}, {"ended", "work ended", "ms", 0}}});
    const std::vector<Limit> frames{{"seen", "seen", "nodes", 0},
                                    {"p95", "frame p95", "ms", 16.7},
                                    {"max", "frame max", "ms", 33},
                                    {"work", "work max", "ms", 0}};
    for (const char* model : {"transformer.1000", "random.1000", "dense.1000"})
        rows.push_back({std::string(model) + ", pan and zoom, all open", model, "frames all", frames});
    for (const char* model : {"transformer.100000", "random.100000", "chain.100000"}) {
        rows.push_back({std::string(model) + ", pan and zoom, as opened", model, "frames", frames});
        rows.push_back({std::string(model) + ", pan and zoom, all open, whole", model, "frames all", frames});
        rows.push_back({std::string(model) + ", pan and zoom, all open, 1000 seen", model, "frames all 1000", frames});
    }
    return rows;
}

/// The file of a model: made when first asked for.
QString fileOf(const std::string& model, const QString& folder) {
    const std::string path = (folder + QLatin1Char('/')).toStdString() + model + ".onnx";
    if (std::filesystem::exists(path)) return QString::fromStdString(path);
    const std::string kind = model.substr(0, model.find('.'));
    const std::size_t count = model == kind ? 0 : std::stoul(model.substr(kind.size() + 1));
    base::Result<void> written;
    if (kind == "resnet50") written = model_files::writeBuiltIn(path, "zoo:resnet50", {1, 3, 224, 224});
    else if (kind == "transformer")
        written = model_files::write(path, *layout_graphs::transformer(std::max<std::size_t>(1, count / 32)));
    else if (kind == "experts")
        written = model_files::write(path, *layout_graphs::mixtureOfExperts(std::max<std::size_t>(1, count / 325), 64));
    else if (kind == "dense")
        written = model_files::write(path, *layout_graphs::dense(std::max<std::size_t>(1, count / 100), 24));
    else if (kind == "chain") written = model_files::write(path, *layout_graphs::flatChain(count));
    else written = model_files::write(path, *layout_graphs::randomModules(count, 1));
    if (!written) std::fprintf(stderr, "%s\n", written.error().text().c_str()), std::exit(1);
    return QString::fromStdString(path);
}

int measure(int argc, char** argv) {
    const std::string what = argv[2];
    const QString file = QString::fromLocal8Bit(argv[3]);
    Application application(argc, argv);
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    theme::Theme::instance().install(application);
    theme::Theme::instance().setReducedMotion(true);  // motion takes its time by design
    Bench bench(application);
    bench.open(QString::fromLocal8Bit(argv[4]));  // Sonde is running, and something was open before
    if (what == "open") measureOpening(bench, application, file);
    else if (what == "levels" || what == "unfolded") measureLevels(bench, application, file, what == "levels");
    else if (what == "all") measureAll(bench, application, file);
    else if (what == "cancel") measureCancelling(bench, application, file);
    else measureFrames(bench, application, file, what.ends_with("1000"), what.starts_with("frames all"));
    bench.window().close();
    return 0;
}

/// Values by name of one measurement in a process of its own; empty if it failed.
std::map<std::string, double> runRow(const Row& row, const QString& folder) {
    const QString file = fileOf(row.model, folder);
    const QTemporaryDir scratch;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_CACHE_HOME"), scratch.path());
    if (!environment.contains(QStringLiteral("QT_QPA_PLATFORM")))
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    QElapsedTimer timer;
    timer.start();
    if (row.measure == std::string("start"))
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                      {"window", file, "--screenshot", scratch.filePath("picture.png")});
    else
        process.start(QCoreApplication::applicationFilePath(),
                      {"--measure", row.measure, file, fileOf("chain.30", folder)});
    if (!process.waitForFinished(600'000) || process.exitCode() != 0) return {};
    if (row.measure == std::string("start")) return {{"time", static_cast<double>(timer.nsecsElapsed()) / 1e6}};
    std::map<std::string, double> values;
    for (const QByteArray& line : process.readAllStandardOutput().split('\n'))
        if (const auto tab = line.indexOf('\t'); tab > 0)
            values[line.left(tab).toStdString()] = line.mid(tab + 1).toDouble();
    return values;
}

void print(const Row& row, const std::map<std::string, std::vector<double>>& values) {
    std::string name = row.name;
    for (const Limit& limit : row.limits) {
        const auto found = values.find(limit.what);
        if (found == values.end()) {
            std::printf("%-50s %-10s failed\n", name.c_str(), limit.title);
            continue;
        }
        const double value = quantile(found->second, 0.5), worst = quantile(found->second, 1);
        if (limit.value > 0)
            std::printf("%-50s %-10s %8.1f %8.1f %8.1f %-5s %s\n", name.c_str(), limit.title, value, worst, limit.value,
                        limit.unit,
                        worst <= limit.value   ? "met"
                        : value <= limit.value ? "met, but not in every reading"
                                               : "NOT MET");
        else std::printf("%-50s %-10s %8.1f %8.1f %8s %-5s\n", name.c_str(), limit.title, value, worst, "", limit.unit);
        name.clear();
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 5 && std::string(argv[1]) == "--measure") return measure(argc, argv);
    const QCoreApplication application(argc, argv);
    int times = 3;
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--times" && i + 1 < argc) times = std::max(1, std::atoi(argv[++i]));
        else words.emplace_back(argv[i]);
    }
    const QTemporaryDir made;
    const QString keep = qEnvironmentVariable("SONDE_BENCH_MODELS");  // a folder that keeps the files for the next time
    const QString folder = keep.isEmpty() ? made.path() : keep;
    std::printf("%-50s %-10s %8s %8s %8s\n", "row", "", "median", "worst", "limit");
    for (const Row& row : rows()) {
        const auto wanted = [&](const std::string& word) { return row.name.find(word) != std::string::npos; };
        if (!words.empty() && std::none_of(words.begin(), words.end(), wanted)) continue;
        std::map<std::string, std::vector<double>> values;
        for (int i = 0; i < times; ++i)
            for (const auto& [what, value] : runRow(row, folder)) values[what].push_back(value);
        print(row, values);
    }
    return 0;
}
