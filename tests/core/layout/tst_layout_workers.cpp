#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <signal.h>
#include <sys/wait.h>
#include <thread>

#include "core/layout/engine/layered.h"
#include "core/layout/workers.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_layout_workers {

using namespace sonde::layout;
namespace base = sonde::base;
using namespace layout_test;
using namespace std::chrono_literals;

namespace {

const std::string kWorker = SONDE_BINARY_DIR "/sonde-layout-worker";

/// A program of one shell line that is in for the helper.
std::string script(const QTemporaryDir& folder, const char* line) {
    const QString path = folder.filePath("helper");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write the script");
    file.write(QByteArray("#!/bin/sh\n") + line + "\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path.toStdString();
}

/// Dense enough that `dot` works on it for minutes, and small enough that Sonde lets it try for one.
BoxGraph slow() { return random(150, 1500, 1); }

/// No child of this process is left that has ended without being waited for.
bool noZombies() { return ::waitpid(-1, nullptr, WNOHANG) <= 0; }

}  // namespace

class TestLayoutWorkers : public QObject {
    Q_OBJECT

    base::Result<BoxLayout> withHelper(const std::string& program, std::chrono::milliseconds budget = 1000ms) {
        LayoutWorkers workers({program, 1});
        return workers.layout(residual(3), {}, budget);
    }

  private slots:
    void initTestCase() {
        QVERIFY2(QFile::exists(QString::fromStdString(kWorker)), "sonde-layout-worker is not built");
    }
    void cleanup() { QVERIFY(noZombies()); }

    void graphvizLaysOutRandomGraphs_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 25; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void graphvizLaysOutRandomGraphs() {
        QFETCH(int, seed);
        LayoutWorkers workers({kWorker, 1});
        BoxGraph graph = random(2 + seed, 1 + seed * 3 / 2, seed);
        graph.direction = seed % 2 ? Direction::LeftRight : Direction::TopDown;
        if (seed % 3 == 0) graph.boxes[0].pin = Pin::First;
        const auto layout = workers.layout(graph, {}, 60s);
        QVERIFY(layout);
        QCOMPARE(layout->note, std::string());
        QCOMPARE(brokenRule(graph, *layout, false), std::string());
        QCOMPARE(*workers.layout(graph, {}, 60s), *layout);
    }

    void graphvizKeepsPortsExactly() {
        BoxGraph graph = boxes(4, 333, 51);
        graph.edges = {{0, 1, -101.5, 17.25}, {0, 2, 99.0, -160.0}, {1, 3, 0.0, 3.0}, {2, 3, 166.5, -3.0}};
        LayoutWorkers workers({kWorker, 1});
        const auto layout = workers.layout(graph, {}, 60s);
        QVERIFY(layout);
        QVERIFY(layout->engine == Engine::Graphviz);
        QCOMPARE(brokenRule(graph, *layout, true), std::string());
        for (std::size_t i = 0; i < graph.edges.size(); ++i) {
            const BoxEdge& edge = graph.edges[i];
            QCOMPARE(layout->edges[i].start(), startPoint(layout->boxes[edge.from], edge.fromPort));
            QCOMPARE(layout->edges[i].end(), endPoint(layout->boxes[edge.to], edge.toPort));
        }
    }

    void pinsAreFirstAndLast() {
        BoxGraph graph = residual(2);
        graph.boxes.push_back({0, 0, Pin::First});
        graph.boxes.push_back({0, 0, Pin::Last});
        graph.edges.push_back({7, 5});
        graph.edges.push_back({1, 8});
        LayoutWorkers workers({kWorker, 1});
        const auto layout = workers.layout(graph, {}, 60s);
        QVERIFY(layout && layout->engine == Engine::Graphviz);
        for (std::size_t i = 0; i < 7; ++i) {
            QVERIFY(layout->boxes[7].bottom() < layout->boxes[i].y);
            QVERIFY(layout->boxes[8].y > layout->boxes[i].bottom());
        }
    }

    void processIsKeptBetweenRequestsAndEndsWithTheObject() {
        int pid = 0;
        {
            LayoutWorkers workers({kWorker, 1});
            QVERIFY(workers.processIds().empty());
            workers.start();
            QCOMPARE(workers.processIds().size(), std::size_t{1});
            QVERIFY(workers.layout(residual(2), {}, 60s));
            pid = workers.processIds().at(0);
            QVERIFY(workers.layout(residual(3), {}, 60s));
            QCOMPARE(workers.processIds(), std::vector<int>{pid});
        }
        QVERIFY(::kill(pid, 0) != 0);
    }

    void stuckHelperIsEndedAndTheLayeredEngineTakesOver() {
        QTemporaryDir folder;
        LayoutWorkers workers({script(folder, "exec sleep 60"), 1});
        QElapsedTimer timer;
        timer.start();
        const auto layout = workers.layout(residual(3), {}, 300ms);
        QVERIFY(layout);
        QVERIFY(layout->engine == Engine::Layered);
        QCOMPARE(layout->note, std::string("Graphviz did not end within 300 ms"));
        QVERIFY(timer.elapsed() < 20'000);
        QVERIFY(workers.processIds().empty());
    }

    void hopelessGraphsAreNotTried() {
        LayoutWorkers workers({kWorker, 1});
        const auto layout = workers.layout(residual(3000), {}, 500ms);
        QVERIFY(layout && layout->engine == Engine::Layered);
        QCOMPARE(layout->note, std::string("too large to be sure that Graphviz ends within 500 ms"));
        QVERIFY(workers.processIds().empty());
    }

    void stopRequestEndsTheHelperAtOnce() {
        LayoutWorkers workers({kWorker, 1});
        std::stop_source source;
        base::WorkContext work;
        work.stop = source.get_token();
        std::jthread stopper([&] {
            while (workers.processIds().empty()) std::this_thread::sleep_for(1ms);  // until the helper is there
            std::this_thread::sleep_for(50ms);  // some moment of its work: nothing tells from outside how far it is
            source.request_stop();
        });
        QElapsedTimer timer;
        timer.start();
        const auto layout = workers.layout(slow(), work, 600s);
        QVERIFY(!layout);
        QCOMPARE(layout.error().kind, base::ErrorKind::Cancelled);
        QVERIFY2(timer.elapsed() < 20'000, "long before the budget");
        QVERIFY(workers.processIds().empty());
    }

    void killedHelperIsReplaced() {
        LayoutWorkers workers({kWorker, 1});
        QVERIFY(workers.layout(residual(2), {}, 60s));
        const int pid = workers.processIds().at(0);
        ::kill(pid, SIGKILL);  // between two requests: the next starts another one and succeeds
        const auto layout = workers.layout(residual(2), {}, 60s);
        QVERIFY(layout && layout->engine == Engine::Graphviz);
        QVERIFY(workers.processIds().at(0) != pid);
        std::jthread killer([&](std::stop_token done) {  // in the middle of a request, and of its repetition
            while (!done.stop_requested()) {
                std::this_thread::sleep_for(100ms);  // again and again, at any moment of their work
                for (const int id : workers.processIds()) ::kill(id, SIGKILL);
            }
        });
        const auto other = workers.layout(slow(), {}, 600s);
        QVERIFY(other);
        QCOMPARE(other->note, std::string("the layout helper crashed"));
    }

    void garbageIsNotBelieved_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QByteArray>("note");
        QTest::addRow("ends at once") << QByteArray("exit 0") << QByteArray("the layout helper crashed");
        QTest::addRow("reads and ends") << QByteArray("head -c 32 >/dev/null")
                                        << QByteArray("the layout helper crashed");
        QTest::addRow("text") << QByteArray("head -c 32 >/dev/null; yes nonsense")
                              << QByteArray("the layout helper crashed");
        QTest::addRow("echo") << QByteArray("exec cat") << QByteArray("the layout helper crashed");
        QTest::addRow("silence") << QByteArray("exec sleep 60") << QByteArray("Graphviz did not end within 400 ms");
        // A sane header of a reply to request 1 with eight bytes that are no layout.
        QTest::addRow("false reply") << QByteArray(
                                            "head -c 32 >/dev/null; printf "
                                            "'SLYF\\002\\0\\0\\0\\001\\0\\0\\0\\0\\0\\0\\0\\010\\0\\0\\0\\0\\0\\0\\0"
                                            "\\0\\0\\0\\0\\0\\0\\0\\0nonsense'; exec sleep 60")
                                     << QByteArray("the layout helper returned an invalid answer");
    }
    void garbageIsNotBelieved() {
        QFETCH(QByteArray, line);
        QFETCH(QByteArray, note);
        QTemporaryDir folder;
        const bool silent = note.endsWith("400 ms");
        const auto layout = withHelper(script(folder, line), silent ? 400ms : 60s);
        QVERIFY(layout);
        QVERIFY(layout->engine == Engine::Layered);
        QCOMPARE(QByteArray::fromStdString(layout->note), note);
        QCOMPARE(brokenRule(residual(3), *layout, true), std::string());
    }

    void missingHelperIsSaid() {
        const auto layout = withHelper("/nowhere/sonde-layout-worker");
        QVERIFY(layout && layout->engine == Engine::Layered);
        QVERIFY(layout->note.find("cannot be started") != std::string::npos);
    }

    void programIsFoundByTheEnvironment() {
        qputenv("SONDE_LAYOUT_WORKER", "/some/where");
        QCOMPARE(LayoutWorkers::findProgram(), std::filesystem::path("/some/where"));
        qunsetenv("SONDE_LAYOUT_WORKER");
    }

    void manyThreadsShareTheProcesses() {
        LayoutWorkers workers({kWorker, 2});
        std::atomic<int> good = 0;
        {
            std::vector<std::jthread> threads;
            for (unsigned t = 0; t < 6; ++t) {
                threads.emplace_back([&, t] {
                    for (unsigned i = 0; i < 20; ++i) {
                        const BoxGraph graph = random(8, 10, 100 * t + i);
                        const auto layout = workers.layout(graph, {}, 60s);
                        good +=
                            layout && layout->engine == Engine::Graphviz && brokenRule(graph, *layout, false).empty();
                    }
                });
            }
        }
        QCOMPARE(good.load(), 120);
        QVERIFY(workers.processIds().size() <= 2);
    }
};

QTEST_GUILESS_MAIN(TestLayoutWorkers)

}  // namespace tst_layout_workers

#include "tst_layout_workers.moc"
