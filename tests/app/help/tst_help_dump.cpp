// The C++ of the help pages "Coming from MegEngine" and "Record and dump": each line of the pages stands here and is
// run (tst_help_snippets). Expected values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <sstream>

#include "core/document/document.h"
#include "core/document/repeated_trace.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"
#include "core/export/dump.h"
#include "core/io/npz/npy.h"
#include "core/trace/paused_tracing.h"
#include "tests/core/trace/traced_text.h"

namespace tst_help_dump {

using namespace sonde;
using test::floats;
using test::numbers;

namespace {
using Numbers = std::vector<double>;
}

class TestHelpDump : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void recording() {
        bool changed = false;
        const tensor::Value x = floats({2}, {1, 2});
        document::RepeatedTrace traced(
            [&](std::span<const trace::Var> in) {
                {
                    const trace::PausedTracing paused;
                    if (changed) (void)(trace::Var(x) * 2);
                }
                return changed ? in[0] - 1 : in[0] + 1;
            },
            {{"x", std::nullopt, false, true}});
        const auto first = traced.call(std::vector<tensor::Value>{x});
        QCOMPARE(numbers(first->front()), (Numbers{2, 3}));
        QCOMPARE(test::names(*traced.recorded()), std::string("x add output"));
        changed = true;
        const auto second = traced.call(std::vector<tensor::Value>{x});
        QCOMPARE(second.error().what, std::string("trace error because operator mismatch"));
    }

    void recordingOptions() {
        const tensor::Value x = floats({2}, {1, 2});
        document::TraceOptions how;
        how.withoutHost = true;
        how.optLevel = 3;
        document::RepeatedTrace fast([](std::span<const trace::Var> in) { return in[0] * 2 + 1; },
                                     {{"x", std::nullopt, false, true}}, how);
        for (int i = 0; i < 2; ++i)
            QCOMPARE(numbers(fast.call(std::vector<tensor::Value>{x})->front()), (Numbers{3, 5}));
        how = {};
        how.symbolic = true;
        how.captureAsConst = true;
        how.symbolicShape = false;
        how.profiling = true;
        how.graphOptConfig.jitFuseReduce = document::OptSwitch::On;
        document::RepeatedTrace timed([](std::span<const trace::Var> in) { return in[0] * 2; },
                                      {{"x", std::nullopt, false, true}}, how);
        for (int i = 0; i < 3; ++i) QVERIFY(timed.call(std::vector<tensor::Value>{x}));
        QVERIFY(timed.getProfile()->find("\"profiler\"") != std::string::npos);
        for (const bool sublinear : {true, false}) {
            how = {};
            if (sublinear) how.sublinearMemoryConfig.emplace();
            else how.dtrConfig = exec::DtrOptions{20 << 20};
            document::RepeatedTrace small([](std::span<const trace::Var> in) { return in[0] * 2; },
                                          {{"x", std::nullopt, false, true}}, how);
            for (int i = 0; i < 2; ++i)
                QCOMPARE(numbers(small.call(std::vector<tensor::Value>{x})->front()), (Numbers{2, 4}));
        }
        how = {};
        how.recordOnly = true;
        how.imperative = true;
        document::RepeatedTrace function([](std::span<const trace::Var> in) { return in[0] * 2; },
                                         {{"x", std::nullopt, false, true}}, how);
        QVERIFY(function.call(std::vector<tensor::Value>{floats({1, 2}, {1, 2})})->empty());
        exporting::DumpOptions options;
        const auto dump = *exporting::makeDump(**function.document(), {"[[1,2]]"}, options);
        QCOMPARE(dump.outputNames, std::vector<std::string>{"MUL"});
        QCOMPARE(dump.cases.size(), 1U);
    }

    void writing() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("net.dump").toStdString();
        const auto document = *document::open("zoo:seed");
        exporting::DumpOptions options;
        options.argNames = {"data"};
        options.outputNames = {"sum"};
        options.userInfo = "release 3";
        options.maxError = 1e-3;
        const auto dump = *exporting::makeDump(*document, {"#rand(0,1)"}, options);
        const auto info = *io::dump::writeDump(path, dump);
        const auto again = *io::dump::readDump(path);
        QVERIFY(info.totalBytes >= info.tensorBytes && info.contentHash != 0);
        QCOMPARE(again.outputNames, std::vector<std::string>{"sum"});
        QCOMPARE(again.metadata->userInfo, std::string("release 3"));
        QCOMPARE(*again.metadata->optimizeOptions, std::uint64_t{64});
        QCOMPARE(again.cases.size(), 1U);
        const auto plan = *exec::Plan::make(again.graph, {});
        exec::Runner runner;
        const auto inputs = *exporting::inputsOfCase(*again.graph, again.cases.front());
        const exec::Recording recording = runner.run(*plan, inputs);
        // The output of a dump with test cases is the error of AssertEqual.
        QVERIFY(!recording.error && numbers(recording.outputs.front()).front() < 1e-6);
    }

    void everyOption() {
        const auto document = *document::open("zoo:seed");
        exporting::DumpOptions options;
        options.keepVarName = 0;
        options.names.operations = true;
        options.names.parameters = true;
        options.optimize = false;
        options.optLevel = 0;
        options.metadata = false;
        options.noAssert = true;
        options.input.repeat = 2;
        options.resizeInput = false;
        options.inputTransform = "data / 2";
        options.modelVersion = 2;
        const QTemporaryDir folder;
        const std::string file = folder.filePath("x.npy").toStdString();
        QVERIFY(io::writeNpyFile(file, floats({1}, {4}).tensor()));
        const auto dump = *exporting::makeDump(*document, {file}, options);
        QCOMPARE(dump.outputNames, std::vector<std::string>{"unnamed0"});
        QVERIFY(!dump.metadata);
        QCOMPARE(numbers(tensor::Value(dump.cases.front().front().second)), (Numbers{2, 2}));
        io::dump::WriteOptions how;
        how.append = true;
        const std::filesystem::path path = folder.filePath("two.dump").toStdString();
        const auto once = *io::dump::writeDump(path, dump, how);
        QVERIFY(io::dump::writeDump(path, dump, how));
        QVERIFY(io::dump::readDump(path, once.totalBytes));

        std::set<std::string> operators, dtypes, modes;
        exporting::collectStripInfo(*dump.graph, operators, dtypes, modes);
        QVERIFY(dtypes.contains("float32") && !operators.empty());
    }

    void streamsAndFormats() {
        const auto document = *document::open("zoo:seed");
        exporting::DumpOptions options;
        options.names.priorities = true;
        exporting::DumpOptions old = options;
        old.format = "FBS";
        old.noChangeGraph = false;
        old.compatOlderVersion = "8.14";
        for (const exporting::DumpOptions& how : {options, old}) {
            const auto dump = *exporting::makeDump(*document, {}, how);
            std::stringstream stream;
            QVERIFY(io::dump::writeDump(stream, dump));
            const auto again = io::dump::readDump(stream);
            QVERIFY(again && again->format == dump.format);
            QCOMPARE(again->outputNames, dump.outputNames);
        }
    }

    void inferenceOptions() {
        exporting::DumpOptions options;
        QVERIFY(options.inference.set("enable_io16xc32", true));
        QVERIFY(options.inference.set("enable_nchw88", true));
        QVERIFY(!options.inference.set("enable_nchw4", true));
        QVERIFY(options.inference.set("enable_fuse_preprocess", true));
        QVERIFY(options.inference.set("enable_fuse_preprocess", false));
        QVERIFY(!options.inference.set("enable_magic", true));
        QCOMPARE(options.inference.bits(), std::uint64_t{12884901953});
        const auto names = *io::dump::InferenceOptions::names(12884901953);
        QVERIFY(std::ranges::find(names, std::string("enable_io16xc32")) != names.end());
        QVERIFY(std::ranges::find(names, std::string("enable_nchw88")) != names.end());
    }
};

QTEST_GUILESS_MAIN(TestHelpDump)

}  // namespace tst_help_dump

#include "tst_help_dump.moc"
